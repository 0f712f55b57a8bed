/** Erasing a person from the audit: entries stay, and a stand-in names whom they were about or who acted. */
import { erasedName } from '../core/auth/claims.ts';
import { type RoomErasing, scanning } from '../room/erasing.ts';
import { withoutPerson } from './rules.ts';
import { rewriteEntries, scanEntries } from './store.ts';

export const erasingAudit: RoomErasing = {
  eraseSome: scanning(
    (tx, { tenant, id }, after) => scanEntries(tx, tenant, { text: id, hash: erasedName(id), after }),
    async (tx, person, rows) => {
      const changed = rows
        .filter((row) => row.named)
        .map((row) => [row, withoutPerson(row, person)] as const)
        .flatMap(([before, now]) => (before === now ? [] : [now]));
      return { auditEntries: changed.length === 0 ? 0 : await rewriteEntries(tx, person.tenant, changed) };
    },
  ),
  isLog: true,
  keeps: [
    {
      what: 'audit entries, with a keyed digest in place of the id',
      why: 'They record what was done in the tenant and when.',
      until: 'the partitions of their months are dropped (docs/operations.md)',
    },
  ],
};
