/** The verbs on relationships. Every write is one transaction with its audit entry, and reads the types as they are now. */
import { recordAudit } from '../audit/index.ts';
import type { Clock } from '../core/clock.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import { type RecordWritten, writeRecord } from '../core/db/records.ts';
import { limits } from '../core/limits.ts';
import type { Once } from '../core/once.ts';
import { problem } from '../core/problems.ts';
import { comeBack, holdWrites, type Tagger } from '../pseudonyms/index.ts';
import { holdRelationshipTypes, type RelationshipTypeRow, typeProblem } from '../types/index.ts';
import { relationshipProblem } from './problems.ts';
import { checkRoom } from './quota.ts';
import { checkThing, expiryOf } from './rules.ts';
import type { Relationship, RelationshipBody, RelationshipRow, Thing } from './schema.ts';
import {
  countOthers,
  type Filter,
  holdTarget,
  listRelationships,
  removeMatching,
  removeRelationship,
  upsertRelationship,
} from './store.ts';

export type RelationshipServices = { database: Database; clock: Clock; tagger: Tagger };
/** Ends what waits for a thing that is forgotten, in the transaction that forgets it. @returns how many */
export type EndInvitations = (tx: Transaction, writer: RecordWriter, thing: Thing, now: string) => Promise<number>;
/** Who writes records of which tenant: for the audit. `user`: where it is an end user, that actor. */
export type RecordWriter = { tenant: string; actor: string; requestId: string; user?: Thing; once?: Once };
export type { RecordWritten };

/**
 * One transaction of a record write; the revision is that of its records. A user that was erased and writes is back.
 * @throws Problem actor_being_erased
 */
export function writeRecords<T>(
  services: RelationshipServices,
  writer: RecordWriter,
  work: (tx: Transaction, now: string) => Promise<T>,
): Promise<RecordWritten<T>> {
  const now = new Date(services.clock.now()).toISOString();
  const { tenant, once } = writer;
  return writeRecord(services.database, { tenant }, async (tx) => {
    const holding = holdWrites(tx, tenant);
    if (once !== undefined) await Promise.all([holding, once.claim(tx)]);
    const [, , result] = await Promise.all([
      holding,
      writer.user && comeBack(services.tagger, tx, tenant, [writer.user]),
      work(tx, now),
    ]);
    return result;
  });
}

/** Audits a record write in its transaction. */
export function auditRecord(
  tx: Transaction,
  writer: RecordWriter,
  entry: { action: string; kind: string; name: string; detail?: unknown },
): Promise<void> {
  return recordAudit(tx, writer.tenant, { ...entry, actor: writer.actor, requestId: writer.requestId });
}

/** The relationship that a body of POST asks for. @throws Problem invalid_request */
export function relationshipOf(from: Thing, body: RelationshipBody, now: number): Relationship {
  checkThing(from, '/params');
  checkThing(body.to, '/to');
  const { relationshipType, to } = body;
  if (body.expiresAt === undefined) return { from, relationshipType, to };
  const expiry = expiryOf(body.expiresAt, now);
  if (expiry.ok) return { from, relationshipType, to, expiresAt: expiry.at };
  throw problem('invalid_request', {
    detail: `expiresAt: ${expiry.detail}`,
    errors: [{ pointer: '/expiresAt', detail: expiry.detail }],
  });
}

/**
 * Makes a relationship; one that is there gets the expiry that is sent (none: until it is deleted).
 * @throws Problem type_unknown, and what makeRelationship throws; nothing is changed then
 */
export function createRelationship(
  services: RelationshipServices,
  writer: RecordWriter,
  relationship: Relationship,
): Promise<RecordWritten<'created' | 'updated'>> {
  return writeRecords(services, writer, async (tx, now) => {
    const { from, relationshipType: name, to } = relationship;
    const [[type]] = await Promise.all([
      holdRelationshipTypes(tx, writer.tenant, [{ from: from.type, name, to: to.type }], 'all'),
      comeBack(services.tagger, tx, writer.tenant, [from, to]),
    ]);
    if (type === undefined) {
      const detail = `There is no relationship type ${typeKeyText(relationship)}.`;
      throw typeProblem('type_unknown', { detail, errors: [{ pointer: '/relationshipType', detail }] });
    }
    return makeRelationship(tx, writer, type, relationship, { now, expiry: 'replace' });
  });
}

/**
 * Makes a relationship of a type that the transaction holds, with its audit entry.
 * @param how `later`: one that is there keeps its expiry where that is later
 * @throws Problem relationship_type_retired, relationship_limit_reached, relationship_quota_reached
 */
export async function makeRelationship(
  tx: Transaction,
  writer: RecordWriter,
  type: Pick<RelationshipTypeRow, 'retired' | 'spec'>,
  relationship: Relationship,
  { now, expiry }: { now: string; expiry: 'replace' | 'later' },
): Promise<'created' | 'updated'> {
  if (type.retired) throw relationshipProblem('relationship_type_retired');
  const most = type.spec.maxPerTarget;
  if (most !== undefined) {
    await holdTarget(tx, writer.tenant, relationship);
    if ((await countOthers(tx, writer.tenant, relationship, { most, now })) >= most) {
      const key = typeKeyText(relationship);
      const detail = `${most} relationships of the type ${key} may lead to one ${relationship.to.type}, and do.`;
      throw relationshipProblem('relationship_limit_reached', { detail });
    }
  }
  await checkRoom(tx, writer.tenant, relationship);
  const result = await upsertRelationship(tx, writer.tenant, relationship, now, expiry);
  const detail = relationship.expiresAt === undefined ? undefined : { expiresAt: relationship.expiresAt };
  const action = result === 'created' ? 'create' : 'put';
  await auditRecord(tx, writer, { action, kind: 'relationship', name: describe(relationship), detail });
  return result;
}

/** @throws Problem relationship_not_found also for one that has expired */
export function deleteRelationship(
  services: RelationshipServices,
  writer: RecordWriter,
  relationship: Relationship,
): Promise<RecordWritten<void>> {
  return writeRecords(services, writer, async (tx, now) => {
    if (!(await removeRelationship(tx, writer.tenant, relationship, now)))
      throw relationshipProblem('relationship_not_found');
    await auditRecord(tx, writer, { action: 'delete', kind: 'relationship', name: describe(relationship) });
  });
}

/** Removes all relationships that the filter names, those that have expired too. @returns how many */
export function deleteMatching(
  services: RelationshipServices,
  writer: RecordWriter,
  filter: Filter,
): Promise<RecordWritten<number>> {
  return writeRecords(services, writer, async (tx) => {
    const deleted = await removeAll(tx, writer.tenant, filter);
    const detail = { ...filter, deleted };
    if (deleted > 0) await auditRecord(tx, writer, { action: 'delete', kind: 'relationships', name: '', detail });
    return deleted;
  });
}

/** In portions, because a statement has its time; all in the caller's transaction. */
export async function removeAll(tx: Transaction, tenant: string, filter: Filter): Promise<number> {
  let deleted = 0;
  for (;;) {
    const some = await removeMatching(tx, tenant, filter, limits.deletePageItemsMax);
    deleted += some;
    if (some < limits.deletePageItemsMax) return deleted;
  }
}

/** The relationships of one side of a thing that hold now: a page, and where the next one begins. */
export async function pageOf(
  services: RelationshipServices,
  tenant: string,
  side: 'from' | 'to',
  thing: Thing,
  page: { after?: RelationshipRow; limit: number; now?: string },
): Promise<{ rows: RelationshipRow[]; more: boolean }> {
  const now = page.now ?? new Date(services.clock.now()).toISOString();
  const rows = await services.database.tenant(tenant, (tx) =>
    listRelationships(tx, tenant, side, thing, { ...page, now, limit: page.limit + 1 }),
  );
  return { rows: rows.slice(0, page.limit), more: rows.length > page.limit };
}

/** From:rel:To */
export function typeKeyText({ from, relationshipType, to }: Relationship): string {
  return `${from.type}:${relationshipType}:${to.type}`;
}

/** For the audit: `user/alice is_owner_of car/1`. */
function describe({ from, relationshipType, to }: Relationship): string {
  return `${from.type}/${from.id} ${relationshipType} ${to.type}/${to.id}`;
}
