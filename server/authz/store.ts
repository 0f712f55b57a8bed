/** All SQL of the authorization room. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Instant, Json, Nullable } from '../core/db/rows.ts';
import { sql } from '../core/db/sql.ts';
import type { Answer } from '../policies/index.ts';
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

/** U+0000 and half a surrogate pair as JSON writes them, or any other escape, which is kept. */
const ESCAPES = /\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/g;

/** jsonb holds neither of the two, and one caller's odd request must not cost a batch of others their records. */
function storable(json: string): string {
  return json.replace(ESCAPES, (found) => (found.length === 6 ? '\\ufffd' : found));
}

/** Writes a batch; a system transaction, because it holds many tenants' records. */
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
    from jsonb_to_recordset(${storable(JSON.stringify(rows))}::jsonb) as r (tenant text, at timestamptz, caller text, action text,
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
