import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Instant, Json, Nullable } from '../core/db/rows.ts';
import { column, none, type Sql, sql } from '../core/db/sql.ts';
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
  /** Revisions of the data documents that the policy read, by path. */
  documents?: Readonly<Record<string, number>> | undefined;
  /** Revisions of the libraries that it was compiled with, by package. */
  libraries?: Readonly<Record<string, number>> | undefined;
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
    documents: record.documents ?? null,
    libraries: record.libraries ?? null,
    revision: record.revision,
    duration_us: record.durationUs,
    request_id: record.requestId,
  }));
  await tx.run(sql`
    insert into accord.decision (tenant, at, caller, action, request, answer, policy_number, documents, libraries, revision, duration_us, request_id)
    select tenant, at, caller, action, request, answer, policy_number, documents, libraries, revision, duration_us, request_id
    from jsonb_to_recordset(${storableJson(JSON.stringify(rows))}::jsonb) as r (tenant text, at timestamptz, caller text, action text,
      request jsonb, answer jsonb, policy_number bigint, documents jsonb, libraries jsonb, revision bigint, duration_us integer, request_id text)`);
}

export const DecisionRow = Type.Object({
  id: Type.String(),
  at: Instant,
  caller: Type.String(),
  action: Nullable(Type.String()),
  request: Json<AuthorizationRequest>(),
  answer: Json<Answer>(),
  policy_number: Nullable(Type.Integer()),
  documents: Nullable(Json<Record<string, number>>()),
  libraries: Nullable(Json<Record<string, number>>()),
  revision: Type.Integer(),
  duration_us: Type.Integer(),
  request_id: Nullable(Type.String()),
});
export type DecisionRow = Static<typeof DecisionRow>;

const columns = sql`id, at, caller, action, request, answer, policy_number, documents, libraries, revision, duration_us, request_id`;

export type EntityFilter = { id: string; type?: string };
export type DecisionFilter = {
  start?: string;
  end?: string;
  action?: string;
  /** Of the action's policy. */
  policyRevision?: number;
  /** Only decisions that a policy made. */
  ofPolicy?: boolean;
  outcome?: string;
  reason?: string;
  subject?: EntityFilter;
  resource?: EntityFilter;
  /** Types of actors that were erased with the id that is looked for: theirs are not found. */
  erased?: { subject: readonly string[]; resource: readonly string[] };
};
type Page = { before?: Place; limit: number };

/** Newest first, within [start, end), before the cursor's (at, id). What is filtered by has an index, but for the outcome and types. */
export function listDecisions(tx: Transaction, tenant: string, filter: DecisionFilter & Page): Promise<DecisionRow[]> {
  return tx.many(
    DecisionRow,
    sql`select ${columns} from accord.decision
      where tenant = ${tenant} ${narrowed(filter)} ${compared(filter)} ${before(filter)}
      order by at desc, id desc limit ${filter.limit}`,
  );
}

const FoundRow = Type.Object({
  id: Type.String(),
  at: Instant,
  matches: Type.Boolean(),
});

/**
 * As listDecisions, but it looks at so many records at most.
 * @returns the page, and where to go on when there may be more
 */
export async function searchDecisions(
  tx: Transaction,
  tenant: string,
  filter: DecisionFilter & Page,
  looked: number,
): Promise<{ rows: DecisionRow[]; next?: Place }> {
  // With the places alone: a record may have 320 KiB.
  const found = await tx.many(
    FoundRow,
    sql`with looked as materialized (
        select at, id, (true ${compared(filter)}) is true as matches from accord.decision
        where tenant = ${tenant} ${narrowed(filter)} ${before(filter)} order by at desc, id desc limit ${looked}),
      page as (select * from looked where matches order by at desc, id desc limit ${filter.limit + 1})
      select at, id, matches from page
      union all (select at, id, false from looked where (select count(*) from looked) = ${looked}::int order by at, id limit 1)`,
  );
  const matching = found.filter(({ matches }) => matches);
  const places = matching.slice(0, filter.limit);
  const end = matching.length > filter.limit ? places.at(-1) : found.find(({ matches }) => !matches);
  const rows = await readPlaces(tx, tenant, places);
  return { rows, ...(end === undefined ? {} : { next: { at: end.at, id: end.id } }) };
}

async function readPlaces(tx: Transaction, tenant: string, places: readonly Place[]): Promise<DecisionRow[]> {
  if (places.length === 0) return [];
  return tx.many(
    DecisionRow,
    sql`select ${columns} from accord.decision join
      unnest(${column.instants(places, (row) => row.at)}, ${column.uuids(places, (row) => row.id)}) as p (at, id) using (at, id)
      where tenant = ${tenant} order by at desc, id desc`,
  );
}

/** One record by its id. */
export function readDecision(tx: Transaction, tenant: string, id: string): Promise<DecisionRow | undefined> {
  return tx.maybe(
    DecisionRow,
    sql`select ${columns} from accord.decision where tenant = ${tenant} and id = ${id}::uuid`,
  );
}

function before({ before: place }: Page): Sql {
  return place === undefined ? none : sql`and (at, id) < (${place.at}, ${place.id})`;
}

const subjectId = sql`request #>> '{subject,id}'`;
const resourceId = sql`request #>> '{resource,id}'`;
const reason = sql`answer ->> 'reason'`;
const hashed = (hash: Sql, value: Sql, text: string) =>
  sql`and ${hash} = hashtextextended(${text}, 0) and ${value} = ${text}`;

/** What an index finds: the time, and one of the others, that which is likely to be the rarest. */
function narrowed(filter: DecisionFilter): Sql {
  const { start, end } = filter;
  return sql`${start === undefined ? none : sql`and at >= ${start}`} ${end === undefined ? none : sql`and at < ${end}`}
    ${narrowedBy(filter)}`;
}

function narrowedBy({ subject, resource, reason: why, action, policyRevision }: DecisionFilter): Sql {
  if (resource !== undefined) return hashed(sql`resource_hash`, resourceId, resource.id);
  if (subject !== undefined) return hashed(sql`subject_hash`, subjectId, subject.id);
  if (why !== undefined) return hashed(sql`reason_hash`, reason, why);
  if (action === undefined) return none;
  const ofAction = hashed(sql`action_hash`, sql`action`, action);
  return policyRevision === undefined ? ofAction : sql`${ofAction} and policy_number = ${policyRevision}`;
}

/** All that is asked of a record besides its time. */
function compared({
  subject,
  resource,
  reason: why,
  action,
  policyRevision,
  ofPolicy,
  outcome,
  erased,
}: DecisionFilter): Sql {
  const is = (value: Sql, text: string | number | undefined) =>
    text === undefined ? none : sql`and ${value} = ${text}`;
  const isNone = (value: Sql, types: readonly string[] = []) =>
    types.length === 0 ? none : sql`and coalesce(${value}, '') <> all(${types}::text[])`;
  const [subjectType, resourceType] = [sql`request #>> '{subject,type}'`, sql`request #>> '{resource,type}'`];
  return sql`${ofPolicy ? sql`and policy_number is not null` : none} ${is(sql`action`, action)} ${is(sql`policy_number`, policyRevision)} ${is(sql`answer ->> 'outcome'`, outcome)}
    ${is(reason, why)} ${is(subjectId, subject?.id)} ${is(subjectType, subject?.type)}
    ${is(resourceId, resource?.id)} ${is(resourceType, resource?.type)}
    ${isNone(subjectType, erased?.subject)} ${isNone(resourceType, erased?.resource)}`;
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
