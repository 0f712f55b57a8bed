/** All SQL of the authorization room. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Instant, Json, Nullable } from '../core/db/rows.ts';
import { column, sql } from '../core/db/sql.ts';
import { storableJson } from '../core/text.ts';
import type { Answer } from '../policies/index.ts';
import type { Place } from '../room/erasing.ts';
import { bytesAtMost, isLastLooked, portion } from '../room/scan.ts';
import type { AuthorizationRequest } from './schema.ts';

export type DecisionRecord = {
  tenant: string;
  /** ms */
  at: number;
  caller: string;
  request: AuthorizationRequest;
  answer: Answer;
  policyNumber: number | undefined;
  revision: number;
  durationUs: number;
  requestId: string;
};

/** Writes a batch; a system transaction, because it holds many tenants' records: one's odd request must not cost the others theirs. */
export async function insertDecisions(tx: Transaction, records: readonly DecisionRecord[]): Promise<void> {
  const rows = records.map((record) => ({
    tenant: record.tenant,
    at: new Date(record.at).toISOString(),
    caller: record.caller,
    action: record.request.action ?? null,
    request: record.request,
    answer: record.answer,
    policy_number: record.policyNumber ?? null,
    revision: record.revision,
    duration_us: record.durationUs,
    request_id: record.requestId,
  }));
  await tx.run(sql`
    insert into accord.decision (tenant, at, caller, action, request, answer, policy_number, revision, duration_us, request_id)
    select tenant, at, caller, action, request, answer, policy_number, revision, duration_us, request_id
    from jsonb_to_recordset(${storableJson(JSON.stringify(rows))}::jsonb) as r (tenant text, at timestamptz, caller text, action text,
      request jsonb, answer jsonb, policy_number bigint, revision bigint, duration_us integer, request_id text)`);
}

export const DecisionRow = Type.Object({
  id: Type.String(),
  at: Instant,
  caller: Type.String(),
  action: Nullable(Type.String()),
  request: Json<AuthorizationRequest>(),
  answer: Json<Answer>(),
  policy_number: Nullable(Type.Integer()),
  revision: Type.Integer(),
  duration_us: Type.Integer(),
  request_id: Nullable(Type.String()),
});
export type DecisionRow = Static<typeof DecisionRow>;

const none = sql``;

/** Newest first, within [start, end), before the cursor's (at, id). */
export function listDecisions(
  tx: Transaction,
  tenant: string,
  filter: {
    start?: string;
    end?: string;
    action?: string;
    outcome?: string;
    before?: { at: string; id: string };
    limit: number;
  },
): Promise<DecisionRow[]> {
  return tx.many(
    DecisionRow,
    sql`select id, at, caller, action, request, answer, policy_number, revision, duration_us, request_id from accord.decision
      where tenant = ${tenant}
      ${filter.start === undefined ? none : sql`and at >= ${filter.start}`}
      ${filter.end === undefined ? none : sql`and at < ${filter.end}`}
      ${filter.action === undefined ? none : sql`and action = ${filter.action}`}
      ${filter.outcome === undefined ? none : sql`and answer ->> 'outcome' = ${filter.outcome}`}
      ${filter.before === undefined ? none : sql`and (at, id) < (${filter.before.at}, ${filter.before.id})`}
      order by at desc, id desc limit ${filter.limit}`,
  );
}

const ScannedRow = Type.Object({
  id: Type.String(),
  at: Instant,
  own: Type.Boolean(),
  request: Nullable(Json<AuthorizationRequest>()),
  answer: Nullable(Json<Answer>()),
});
type ScannedRow = Static<typeof ScannedRow>;
export type NamingRow = Place & { request: AuthorizationRequest; answer: Answer };
/** Who was it that asked, or about whom. */
type Whose = { caller: string; subject: { type: string; id: string; isDefault: boolean } };

/**
 * Looks through some records after a position, by time: as many as a statement has the time for, and no more of those that hold
 * one of the texts than may be read at once.
 * @param texts JSON of the texts that are looked for
 * @returns the person's own, those of others that hold one of the texts, with what they hold, and the last one looked at
 */
export function scanDecisions(
  tx: Transaction,
  tenant: string,
  { texts, whose, after }: { texts: readonly string[]; whose: Whose; after: Place | undefined },
): Promise<ScannedRow[]> {
  const { type, id, isDefault } = whose.subject;
  const scan = portion({
    ...{ table: sql`accord.decision`, columns: sql`caller, request, answer`, tenant, after },
    bytes: sql`${bytesAtMost(sql`request`)} + ${bytesAtMost(sql`answer`)}`,
    marks: sql`own`,
    naming: sql`lateral (select request::text as asked, answer::text as answered offset 0) as said,
      lateral (select octet_length(asked) + octet_length(answered) as named_bytes) as sized,
      lateral (select caller = ${whose.caller} or coalesce(request -> 'subject' -> 'id' = to_jsonb(${id}::text)
        and case when request -> 'subject' ? 'type' then request -> 'subject' -> 'type' = to_jsonb(${type}::text)
          else ${isDefault}::boolean end, false) as own offset 0) as whose,
      lateral (select not own and exists (select from unnest(${texts}::text[]) as t (text)
        where position(text in asked) > 0 or position(text in answered) > 0) as named offset 0) as naming`,
  });
  return tx.many(
    ScannedRow,
    sql`with ${scan}
      select at, id, own, case when named then request end as request, case when named then answer end as answer
      from looked join page using (at, id) where own or named or ${isLastLooked} order by at, id`,
  );
}

export function deleteDecisions(tx: Transaction, tenant: string, rows: readonly Place[]): Promise<number> {
  return tx.run(sql`delete from accord.decision d
    using unnest(${column.instants(rows, (row) => row.at)}, ${column.uuids(rows, (row) => row.id)}) as r (at, id)
    where d.tenant = ${tenant} and d.at = r.at and d.id = r.id`);
}

/** Writes requests and answers anew. */
export function rewriteDecisions(tx: Transaction, tenant: string, rows: readonly NamingRow[]): Promise<number> {
  const [requests, answers] = [rows.map((row) => row.request), rows.map((row) => row.answer)];
  return tx.run(sql`update accord.decision d set request = r.request::jsonb, answer = r.answer::jsonb
    from unnest(${column.instants(rows, (row) => row.at)}, ${column.uuids(rows, (row) => row.id)},
      ${column.texts(requests, (one) => JSON.stringify(one))}, ${column.texts(answers, (one) => JSON.stringify(one))})
      as r (at, id, request, answer)
    where d.tenant = ${tenant} and d.at = r.at and d.id = r.id`);
}
