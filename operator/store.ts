/** All SQL of the operator: its own bookkeeping (accord.resource), and what it asks about servers. */
import type pg from 'pg';
import { type Static, Type } from 'typebox';
import type { Transaction } from '../server/core/db/database.ts';
import { Json } from '../server/core/db/rows.ts';
import { sql } from '../server/core/db/sql.ts';
import type { ResourceStatus } from './source.ts';

export const RecordRow = Type.Object({
  kind: Type.String(),
  namespace: Type.String(),
  name: Type.String(),
  uid: Type.String(),
  tenant: Type.String(),
  /** Name of the tenant's object that the manifest owns; empty while it owns none. */
  object: Type.String(),
  generation: Type.Integer(),
  spec_digest: Type.String(),
  status: Json<ResourceStatus>(),
});
export type RecordRow = Static<typeof RecordRow>;

export function readRecords(tx: Transaction, source: string): Promise<RecordRow[]> {
  return tx.many(
    RecordRow,
    sql`select kind, namespace, name, uid, tenant, object, generation, spec_digest, status
      from accord.resource where source = ${source}`,
  );
}

/**
 * Bookkeeping does not wait for the disk. Commits reach it in their order, so a record is never lost without the row that
 * was written after it; a status that is lost is made again. Part of the statement: another round trip is what it costs.
 */
const quick = sql`with quick as materialized (select set_config('synchronous_commit', 'off', true))`;

export async function upsertRecord(tx: Transaction, source: string, record: RecordRow): Promise<void> {
  const { kind, namespace, name, uid, tenant, object, generation, spec_digest, status } = record;
  await tx.run(sql`
    ${quick}
    insert into accord.resource (source, kind, namespace, name, uid, tenant, object, generation, spec_digest, status)
    select ${source}, ${kind}, ${namespace}, ${name}, ${uid}, ${tenant}, ${object}, ${generation}::bigint, ${spec_digest},
      ${JSON.stringify(status)}::jsonb from quick
    on conflict (source, kind, namespace, name) do update set uid = excluded.uid, tenant = excluded.tenant,
      object = excluded.object, generation = excluded.generation, spec_digest = excluded.spec_digest,
      status = excluded.status, updated_at = now()`);
}

export async function deleteRecord(
  tx: Transaction,
  source: string,
  record: Pick<RecordRow, 'kind' | 'namespace' | 'name'>,
): Promise<void> {
  await tx.run(sql`
    ${quick}
    delete from accord.resource using quick where source = ${source} and kind = ${record.kind}
      and namespace = ${record.namespace} and name = ${record.name}`);
}

const Served = Type.Object({ tenant: Type.String(), live: Type.Integer(), revisions: Json<number[]>() });
type Served = Static<typeof Served>;

/** Of each tenant: how many servers live, and the revision that each of them serves (0: none yet). */
export function readServed(tx: Transaction, tenants: readonly string[], maxStalenessMs: number): Promise<Served[]> {
  return tx.many(
    Served,
    sql`select t.tenant, count(s.id)::int as live,
        coalesce(jsonb_agg(coalesce(r.revision, 0)) filter (where s.id is not null), '[]') as revisions
      from unnest(${tenants}::text[]) as t (tenant)
      left join accord.server s on s.seen_at > now() - make_interval(secs => ${maxStalenessMs / 1000})
      left join accord.server_revision r on r.server = s.id and r.tenant = t.tenant
      group by t.tenant`,
  );
}

/** Makes a session the only operator of a source until it ends. @returns false when another session is */
export async function tryLock(client: pg.Client, source: string): Promise<boolean> {
  const text = 'select pg_try_advisory_lock(hashtextextended($1, 0)) as locked';
  const { rows } = await client.query(text, [`accord.operator.${source}`]);
  return rows[0].locked === true;
}

/** Resolves when the connection of a session still answers. */
export async function askAlive(client: pg.Client): Promise<void> {
  await client.query('select 1');
}
