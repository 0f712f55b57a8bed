import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Instant, Nullable } from '../core/db/rows.ts';
import { column, sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';

const Heartbeat = Type.Object({ added: Type.Boolean() });

/**
 * Says that this server lives. A server that was silent for an hour is forgotten by the others.
 * @returns true when it was not known (any more), so that all it serves must be recorded again
 */
export async function heartbeat(tx: Transaction, server: string): Promise<boolean> {
  const row = await tx.one(
    Heartbeat,
    sql`insert into accord.server (id) values (${server})
      on conflict (id) do update set seen_at = now() returning (xmax = 0) as added`,
  );
  await tx.run(sql`delete from accord.server where seen_at < now() - interval '1 hour'`);
  return row.added;
}

export async function forgetServer(tx: Transaction, server: string): Promise<void> {
  await tx.run(sql`delete from accord.server where id = ${server}`);
}

/** Records the revisions that this server serves from now on, and notifies those who wait for them. */
export async function acknowledge(
  tx: Transaction,
  server: string,
  revisions: ReadonlyMap<string, number>,
): Promise<void> {
  const all = [...revisions];
  const list = sql`unnest(${column.texts(all, ([tenant]) => tenant)}, ${column.bigints(all, ([, revision]) => revision)})
    as s (tenant, revision)`;
  // Losing an acknowledgement in a crash costs nothing: the next start records it again.
  await tx.run(sql`set local synchronous_commit = off`);
  await tx.run(sql`
    insert into accord.server_revision (server, tenant, revision)
    select ${server}::uuid, tenant, revision from ${list}
    on conflict (server, tenant) do update set revision = excluded.revision`);
  await tx.run(sql`
    select pg_notify('accord_ack', tenant || ':' || revision)
    from ${list}`);
}

const ServingRow = Type.Object({
  id: Type.String(),
  started_at: Instant,
  seen_at: Instant,
  revision: Nullable(Type.Integer()),
});
export type ServingRow = Static<typeof ServingRow>;

/** The servers that live, and what each of them serves of the tenant, in a system transaction. */
export function readServing(tx: Transaction, tenant: string): Promise<ServingRow[]> {
  return tx.many(
    ServingRow,
    sql`select s.id::text as id, s.started_at, s.seen_at, r.revision from accord.server s
      left join accord.server_revision r on r.server = s.id and r.tenant = ${tenant}
      where s.seen_at > now() - interval '1 minute' order by s.started_at, s.id limit ${limits.serversShownMax}`,
  );
}

/** No server serves a deleted tenant. */
export async function withdraw(tx: Transaction, server: string, tenants: readonly string[]): Promise<void> {
  await tx.run(sql`delete from accord.server_revision where server = ${server} and tenant = any(${tenants}::text[])`);
}

/** What servers said that they serve of a tenant that is gone, in a system transaction: a successor has revisions of its own. */
export function forgetServed(tx: Transaction, tenant: string): Promise<number> {
  return tx.run(sql`delete from accord.server_revision where tenant = ${tenant}
    and not exists (select from accord.tenant where tenant = ${tenant})`);
}
