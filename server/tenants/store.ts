import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Bytes, Instant } from '../core/db/rows.ts';
import { column, sql } from '../core/db/sql.ts';
import type { Writer } from '../core/ownership.ts';
import { TenantRow, type TenantSpec } from './schema.ts';

const columns = sql`tenant, state, spec, revision, owner, created_at`;

export function readTenant(tx: Transaction, tenant: string): Promise<TenantRow | undefined> {
  return tx.maybe(TenantRow, sql`select ${columns} from accord.tenant where tenant = ${tenant}`);
}

/** The tenant, which cannot be erased until the end of the transaction. To be locked before any of its types. */
export function lockForShare(tx: Transaction, tenant: string): Promise<TenantRow | undefined> {
  return tx.maybe(TenantRow, sql`select ${columns} from accord.tenant where tenant = ${tenant} for key share`);
}

/** The row lock that orders a tenant's configuration writes: commit order is revision order. */
export function lockForUpdate(tx: Transaction, tenant: string): Promise<TenantRow | undefined> {
  return tx.maybe(TenantRow, sql`select ${columns} from accord.tenant where tenant = ${tenant} for no key update`);
}

/** All tenants, for a system transaction. */
export function readTenants(tx: Transaction): Promise<TenantRow[]> {
  return tx.many(TenantRow, sql`select ${columns} from accord.tenant order by tenant`);
}

const Revision = Type.Object({ tenant: Type.String(), revision: Type.Integer(), created_at: Instant });
type TenantRevision = Static<typeof Revision>;

/** Every tenant's current revision, for a system transaction: what the snapshot compares itself with. */
export function readTenantRevisions(tx: Transaction): Promise<TenantRevision[]> {
  return tx.many(Revision, sql`select tenant, revision, created_at from accord.tenant`);
}

export async function insertTenant(tx: Transaction, tenant: string, spec: TenantSpec, writer: Writer): Promise<void> {
  await tx.run(sql`
    insert into accord.tenant (tenant, spec, owner, updated_by)
    values (${tenant}, ${JSON.stringify(spec)}, ${JSON.stringify(writer.owner)}, ${writer.actor})
    on conflict do nothing`);
}

export async function updateTenant(
  tx: Transaction,
  tenant: string,
  row: { spec: TenantSpec; state: 'active' | 'disabled' },
  writer: Writer,
): Promise<void> {
  await tx.run(sql`
    update accord.tenant set spec = ${JSON.stringify(row.spec)}, state = ${row.state},
      owner = ${JSON.stringify(writer.owner)}, updated_at = now(), updated_by = ${writer.actor}
    where tenant = ${tenant}`);
}

const SecretDigest = Type.Object({ name: Type.String(), digest: Type.String() });

export function readSecretDigests(tx: Transaction, tenant: string): Promise<Static<typeof SecretDigest>[]> {
  return tx.many(SecretDigest, sql`select name, digest from accord.tenant_secret where tenant = ${tenant}`);
}

const Encrypted = Type.Object({ encrypted: Bytes });

export async function readEncryptedSecret(tx: Transaction, tenant: string, name: string): Promise<Buffer | undefined> {
  const row = await tx.maybe(
    Encrypted,
    sql`select encrypted from accord.tenant_secret where tenant = ${tenant} and name = ${name}`,
  );
  return row?.encrypted;
}

export async function upsertSecret(
  tx: Transaction,
  tenant: string,
  { name, digest, encrypted }: { name: string; digest: string; encrypted: Buffer },
  writer: Writer,
): Promise<void> {
  await tx.run(sql`
    insert into accord.tenant_secret (tenant, name, digest, encrypted, updated_by)
    values (${tenant}, ${name}, ${digest}, ${encrypted}, ${writer.actor})
    on conflict (tenant, name) do update set digest = excluded.digest, encrypted = excluded.encrypted, updated_at = now(),
      updated_by = excluded.updated_by`);
}

export async function deleteSecret(tx: Transaction, tenant: string, name: string): Promise<void> {
  await tx.run(sql`delete from accord.tenant_secret where tenant = ${tenant} and name = ${name}`);
}

/** With it go the rows that have a foreign key to it. */
export async function deleteTenant(tx: Transaction, tenant: string): Promise<void> {
  await tx.run(sql`delete from accord.tenant where tenant = ${tenant}`);
}

/** Sets the revision, records what it changed, and tells the servers when the transaction commits. */
export async function advanceRevision(
  tx: Transaction,
  tenant: string,
  revision: number,
  changes: readonly { kind: string; name: string }[],
): Promise<void> {
  await Promise.all([
    tx.run(sql`
      with bumped as (update accord.tenant set revision = ${revision} where tenant = ${tenant})
      insert into accord.config_change (tenant, revision, kind, name)
      select distinct ${tenant}, ${revision}::bigint, kind, name
      from unnest(${column.texts(changes, ({ kind }) => kind)}, ${column.texts(changes, ({ name }) => name)}) as c (kind, name)`),
    tx.run(sql`select pg_notify('accord_config', ${`${tenant}:${revision}`})`),
  ]);
}

/** Servers do not read them: accounts are no part of what they serve. @param name of the account */
export async function removeAccountChanges(tx: Transaction, tenant: string, name: string): Promise<void> {
  await tx.run(sql`delete from accord.config_change where tenant = ${tenant} and kind = 'account' and name = ${name}`);
}

/** @param hash of the subject (erasedName) */
export async function renameDenials(tx: Transaction, tenant: string, hash: string, replacement: string): Promise<void> {
  await tx.run(sql`update accord.config_change set name = replace(name, ${hash}, ${replacement})
    where tenant = ${tenant} and kind = 'denied_token' and strpos(name, ${`:${hash}`}) > 0`);
}

const TenantOf = Type.Object({ tenant: Type.String() });

/** Tenants of which a type of actors or resources was written or removed within this time, in a system transaction. */
export async function tenantsOfChangedTypes(tx: Transaction, withinMs: number): Promise<string[]> {
  const rows = await tx.many(
    TenantOf,
    sql`select distinct tenant from accord.config_change
      where kind in ('actor_type', 'resource_type') and at > now() - make_interval(secs => ${withinMs / 1000})`,
  );
  return rows.map(({ tenant }) => tenant);
}

const Change = Type.Object({ kind: Type.String(), name: Type.String() });

/** What changed after a revision, each object once. */
export function configChangesSince(
  tx: Transaction,
  tenant: string,
  revision: number,
): Promise<{ kind: string; name: string }[]> {
  return tx.many(
    Change,
    sql`select distinct kind, name from accord.config_change where tenant = ${tenant} and revision > ${revision}`,
  );
}
