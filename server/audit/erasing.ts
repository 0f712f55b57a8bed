/** Owns erasing a person from the audit: entries stay, and a stand-in names whom they were about or who acted. */
import type { RoomErasing } from '../core/erasing.ts';
import { withoutPerson } from './rules.ts';
import { rewriteEntries, scanEntries } from './store.ts';

export const erasingAudit: RoomErasing = {
  async eraseSome(tx, person, position) {
    const { tenant, id } = person;
    const separator = position?.lastIndexOf(' ') ?? 0;
    const after =
      position === undefined ? undefined : { at: position.slice(0, separator), id: position.slice(separator + 1) };
    const rows = await scanEntries(tx, tenant, { text: id, after });
    const changed = rows
      .filter((row) => row.named)
      .map((row) => [row, withoutPerson(row, person)] as const)
      .flatMap(([before, now]) => (before === now ? [] : [now]));
    const auditEntries = changed.length === 0 ? 0 : await rewriteEntries(tx, tenant, changed);
    const end = rows.at(-1);
    return { removed: { auditEntries }, ...(end ? { next: `${end.at} ${end.id}` } : {}) };
  },
  keeps: [
    {
      what: 'audit entries, with a keyed digest in the place of the id',
      why: 'They say what was done in the tenant and when.',
      until: 'the partitions of their months are dropped (docs/operations.md)',
    },
  ],
};
