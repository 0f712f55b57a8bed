/** The verbs on relationships. Every write has its audit entry, and reads the types as they are now. */
import type { AuditedAuthor } from '../core/author.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { counted } from '../core/text.ts';
import { lockRelationshipTypes, type RelationshipTypeRow, typeProblem } from '../types/index.ts';
import { type AuditedUnit, type RecordWritten, type WriteServices, write } from '../writes/index.ts';
import { relationshipCreated, relationshipsDeleted } from './events.ts';
import { relationshipProblem } from './problems.ts';
import { checkRoom } from './quota.ts';
import { checkEntity, expiryOf } from './rules.ts';
import type { Entity, Relationship, RelationshipBody, RelationshipRow } from './schema.ts';
import {
  countOthers,
  type Filter,
  listRelationships,
  lockTarget,
  removeMatching,
  removeRelationship,
  upsertRelationship,
} from './store.ts';

export type RelationshipServices = WriteServices;
/** Ends what waits for an entity that is forgotten, in the write that forgets it. @returns how many */
export type EndInvitations = (unit: AuditedUnit, entity: Entity) => Promise<number>;

/** The relationship that a body of POST asks for. @throws Problem invalid_request */
export function relationshipOf(from: Entity, body: RelationshipBody, now: number): Relationship {
  checkEntity(from, '/params');
  checkEntity(body.to, '/to');
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
  author: AuditedAuthor,
  relationship: Relationship,
): Promise<RecordWritten<'created' | 'updated'>> {
  return write(services, author, { locks: 'records' }, async (unit) => {
    const { from, relationshipType: name, to } = relationship;
    const [[type]] = await Promise.all([
      lockRelationshipTypes(unit.tx, unit.tenant, [{ from: from.type, name, to: to.type }], 'all'),
      unit.unmarkErased([from, to]),
    ]);
    if (type === undefined) {
      const detail = `There is no relationship type ${typeKeyText(relationship)}.`;
      throw typeProblem('type_unknown', { detail, errors: [{ pointer: '/relationshipType', detail }] });
    }
    return makeRelationship(unit, type, relationship, 'replace');
  });
}

/**
 * Makes a relationship of a type that the transaction has locked, with its audit entry.
 * @param expiry `later`: one that is there keeps its expiry where that is later
 * @throws Problem relationship_type_retired, relationship_limit_reached, relationship_quota_reached
 */
export async function makeRelationship(
  unit: AuditedUnit,
  type: Pick<RelationshipTypeRow, 'retired' | 'spec'>,
  relationship: Relationship,
  expiry: 'replace' | 'later',
): Promise<'created' | 'updated'> {
  const { tx, tenant, nowText: now } = unit;
  if (type.retired) throw relationshipProblem('relationship_type_retired');
  const most = type.spec.maxPerTarget;
  if (most !== undefined) {
    await lockTarget(tx, tenant, relationship);
    if ((await countOthers(tx, tenant, relationship, { most, now })) >= most) {
      const { to, relationshipType } = relationship;
      const detail = `${to.type} ${to.id} already has the maximum of ${counted(most, `${relationshipType} relationship`)}.`;
      throw relationshipProblem('relationship_limit_reached', { detail });
    }
  }
  await checkRoom(tx, tenant, relationship);
  const result = await upsertRelationship(tx, tenant, relationship, now, expiry);
  const detail = relationship.expiresAt === undefined ? undefined : { expiresAt: relationship.expiresAt };
  const action = result === 'created' ? 'create' : 'put';
  unit.audit({ action, kind: 'relationship', name: describe(relationship), detail });
  if (result === 'created') unit.emit(relationshipCreated, { requestor: unit.by.actor, ...relationship });
  return result;
}

/** @throws Problem relationship_not_found also for one that has expired */
export function deleteRelationship(
  services: RelationshipServices,
  author: AuditedAuthor,
  relationship: Relationship,
): Promise<RecordWritten<void>> {
  return write(services, author, { locks: 'records' }, async (unit) => {
    const { tx, tenant, nowText: now } = unit;
    if (!(await removeRelationship(tx, tenant, relationship, now))) throw relationshipProblem('relationship_not_found');
    unit.audit({ action: 'delete', kind: 'relationship', name: describe(relationship) });
    const { from, relationshipType, to } = relationship;
    const one = { fromType: from.type, fromId: from.id, relationshipType, toType: to.type, toId: to.id };
    unit.emit(relationshipsDeleted, { requestor: unit.by.actor, ...one, deleted: 1 });
  });
}

/** Removes all relationships that the filter names, those that have expired too. @returns how many */
export function deleteMatching(
  services: RelationshipServices,
  author: AuditedAuthor,
  filter: Filter,
): Promise<RecordWritten<number>> {
  return write(services, author, { locks: 'records' }, async (unit) => {
    const deleted = await removeAll(unit, filter);
    const detail = { ...filter, deleted };
    if (deleted > 0) unit.audit({ action: 'delete', kind: 'relationships', name: '', detail });
    return deleted;
  });
}

/** A member takes all relationships with it: that is audited before the first of them is sent. */
export async function recordExport(services: RelationshipServices, author: AuditedAuthor): Promise<void> {
  await write(services, author, { locks: 'records' }, async (unit) => {
    unit.audit({ action: 'export', kind: 'relationships', name: '' });
  });
}

/** In portions, because a statement has its time; all in the unit's transaction. @returns how many */
export async function removeAll(unit: AuditedUnit, filter: Filter): Promise<number> {
  const { tx, tenant } = unit;
  const most: number = limits.deletePageItemsMax;
  let deleted = 0;
  for (let some = most; some === most; deleted += some) some = await removeMatching(tx, tenant, filter, most);
  if (deleted > 0) unit.emit(relationshipsDeleted, { requestor: unit.by.actor, ...filter, deleted });
  return deleted;
}

/** The relationships of one side of an entity that hold now: a page, and where the next one begins. */
export async function pageOf(
  services: RelationshipServices,
  tenant: string,
  side: 'from' | 'to',
  entity: Entity,
  page: { after?: RelationshipRow; limit: number; now?: string },
): Promise<{ rows: RelationshipRow[]; more: boolean }> {
  const now = page.now ?? new Date(services.clock.now()).toISOString();
  const rows = await services.database.tenantSnapshot(tenant, (tx) =>
    listRelationships(tx, tenant, side, entity, { ...page, now, limit: page.limit + 1 }),
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
