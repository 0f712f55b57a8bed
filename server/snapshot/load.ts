/** Reading a tenant's configuration into a snapshot: whole the first time, afterwards only what a revision changed. */
import type { Database } from '../core/db/database.ts';
import type {
  AnySnapshotPart,
  SnapshotContext,
  SnapshotFields,
  TenantHead,
  TenantSnapshot,
} from '../room/tenant-snapshot.ts';
import { configChangesSince, readTenant, readTenants, type TenantRow } from '../tenants/index.ts';

type Loaded = { snapshot: TenantSnapshot | undefined; full: boolean };
type LoadOptions = SnapshotContext & { database: Database; parts: readonly AnySnapshotPart[] };

/** Past this many changed objects, reading everything is cheaper than picking. */
const CHANGES_MAX = 2000;

/** Every tenant, in one consistent read. */
export async function loadAll({ database, parts, ...context }: LoadOptions): Promise<TenantSnapshot[]> {
  return database.systemSnapshot(async (tx) => {
    const rows = await readTenants(tx);
    const makers: [string, (head: TenantHead) => unknown][] = [];
    // One after another: the rows of one part are gone before the next one's come.
    for (const part of parts) makers.push([part.key, await part.loadAll(tx, context)]);
    return rows
      .filter((row) => row.revision > 0)
      .map((row) => {
        const head = headOf(row);
        return freeze(
          head,
          makers.map(([key, make]) => [key, make(head)]),
        );
      });
  });
}

/** One tenant as it is now, starting from what was served before; undefined when it is gone. */
export async function loadTenant(
  { database, parts, ...context }: LoadOptions,
  tenant: string,
  previous: TenantSnapshot | undefined,
): Promise<Loaded> {
  return database.systemSnapshot(async (tx) => {
    const row = await readTenant(tx, tenant);
    if (row === undefined || row.revision === 0) return { snapshot: undefined, full: true };
    const head = headOf(row);
    const known =
      previous?.tenantCreatedAt === row.created_at && previous.revision <= row.revision ? previous : undefined;
    const changes = known && (await configChangesSince(tx, tenant, known.revision));
    if (!known || !changes || changes.length > CHANGES_MAX) {
      const fields = parts.map(async (part) => [part.key, await part.load(tx, head, context)] as const);
      return { snapshot: freeze(head, await Promise.all(fields)), full: true };
    }
    const fields = parts.map(async (part) => {
      const names = changes.filter(({ kind }) => part.kinds.includes(kind)).map(({ name }) => name);
      const before = known[part.key as keyof SnapshotFields];
      if (names.length === 0) return [part.key, before] as const;
      if (part.reload !== undefined) return [part.key, await part.reload(tx, head, before, names, context)] as const;
      return [part.key, await part.load(tx, head, context)] as const;
    });
    return { snapshot: freeze(head, await Promise.all(fields)), full: false };
  });
}

function headOf({ tenant, state, revision, created_at: tenantCreatedAt, spec }: TenantRow): TenantHead {
  return { tenant, active: state === 'active', revision, tenantCreatedAt, spec };
}

function freeze(head: TenantHead, fields: readonly (readonly [string, unknown])[]): TenantSnapshot {
  return Object.freeze({ ...head, ...(Object.fromEntries(fields) as unknown as SnapshotFields) });
}
