/** The verbs on entities, the actors and resources: their attributes, which only a tenant's back end writes. */
import { nearest } from '../../crds/similar.ts';
import type { AuditedAuthor } from '../core/author.ts';
import type { Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { type EntityKind, type EntityTypeSpec, loadEntityTypes, readEntityType, typeProblem } from '../types/index.ts';
import { type RecordWritten, write } from '../writes/index.ts';
import { type EndInvitations, type RelationshipServices, removeAll } from './actions.ts';
import { attributeFilters, rangeOf } from './entity-filter.ts';
import { readEntity, removeEntity, scanEntities, upsertEntity } from './entity-store.ts';
import { entityDeleted, entityUpdated } from './events.ts';
import { relationshipProblem } from './problems.ts';
import { attributesOf, checkEntity } from './rules.ts';
import type { Attributes, Entity } from './schema.ts';

/** The attributes of an entity, those that its type declares; undefined when it is not registered. */
export function attributesOfEntity(
  services: Pick<RelationshipServices, 'database'>,
  tenant: string,
  kind: EntityKind,
  entity: Entity,
): Promise<Attributes | undefined> {
  return services.database.tenantSnapshot(tenant, async (tx) => {
    const type = await readEntityType(tx, tenant, entity.type);
    if (type?.kind !== kind) return undefined;
    const stored = await readEntity(tx, tenant, entity);
    return stored && declaredOf(stored, type.spec);
  });
}

type Wanted = { type: string; prefix: string; filters: readonly string[]; after: string; limit: number };
type Listed = { rows: { id: string; attributes: Attributes }[]; next?: string };

/**
 * A page of the registered entities of a type that have the attributes, by id in byte order; `next`: the id to go on after.
 * @throws Problem type_unknown, invalid_request
 */
export function listEntities(
  services: Pick<RelationshipServices, 'database'>,
  tenant: string,
  kind: EntityKind,
  { type: name, prefix, filters, after, limit }: Wanted,
): Promise<Listed> {
  return services.database.tenantSnapshot(tenant, async (tx) => {
    const type = await readEntityType(tx, tenant, name);
    if (type?.kind !== kind) throw await unknownType(tx, tenant, kind, name);
    const attributes = attributeFilters(filters, name, type.spec);
    const scanned = filters.length === 0 ? limit + 1 : limits.entitiesScannedMax;
    const list = { type: name, after, range: rangeOf(prefix), attributes, count: limit + 1 };
    const found = await scanEntities(tx, tenant, list, scanned);
    const rows = found.filter(({ matches }) => matches).slice(0, limit);
    const page = rows.map((row) => ({ id: row.id, attributes: declaredOf(row.attributes, type.spec) }));
    const last = found.length > limit ? rows.at(-1) : found.find(({ is_last: isLast }) => isLast);
    return last === undefined ? { rows: page } : { rows: page, next: last.id };
  });
}

async function unknownType(tx: Transaction, tenant: string, kind: EntityKind, name: string) {
  const types = await loadEntityTypes(tx, tenant);
  const other = types.find((one) => one.name === name);
  const alike = nearest(
    name,
    types.filter((one) => one.kind === kind).map((one) => one.name),
  );
  const kinds = { actor: 'an actor type', resource: 'a resource type' };
  const hint = alike === undefined ? '' : ` Did you mean ${alike}?`;
  const detail = `There is no ${kind} type ${name}.${other === undefined ? hint : ` ${name} is ${kinds[other.kind]}.`}`;
  return typeProblem('type_unknown', { detail, errors: [{ pointer: '/params/type', detail }] });
}

function declaredOf(attributes: Attributes, { attributes: declared = {} }: EntityTypeSpec): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => Object.hasOwn(declared, name)));
}

/**
 * Registers an entity, or replaces its attributes.
 * @throws Problem type_unknown, attributes_invalid, invalid_request
 */
export function putEntity(
  services: RelationshipServices,
  author: AuditedAuthor,
  kind: EntityKind,
  entity: Entity,
  body: Readonly<Record<string, unknown>>,
): Promise<RecordWritten<Attributes>> {
  checkEntity(entity, '/params');
  return write(services, author, { locks: 'records' }, async (unit) => {
    const { tx, tenant } = unit;
    const type = await readEntityType(tx, tenant, entity.type, 'use');
    if (type?.kind !== kind) throw await unknownType(tx, tenant, kind, entity.type);
    const attributes = attributesOf(entity, type.spec, body);
    await unit.unmarkErased([entity]);
    await upsertEntity(tx, tenant, entity, attributes);
    // Values may be personal; the audit says which were written.
    const detail = { attributes: Object.keys(attributes) };
    unit.audit({ action: 'put', kind, name: `${entity.type}/${entity.id}`, detail });
    unit.emit(entityUpdated, { requestor: unit.by.actor, entity, attributes });
    return attributes;
  });
}

/**
 * Forgets an entity, with its relationships both ways and its pending invitations.
 * @throws Problem entity_not_found when it is not registered and has none of these
 */
export function deleteEntity(
  services: RelationshipServices & { endInvitations: EndInvitations },
  author: AuditedAuthor,
  kind: EntityKind,
  entity: Entity,
): Promise<RecordWritten<void>> {
  return write(services, author, { locks: 'records' }, async (unit) => {
    const { tx, tenant } = unit;
    const type = await readEntityType(tx, tenant, entity.type, 'use');
    if (type?.kind !== kind) throw relationshipProblem('entity_not_found');
    // First: an acceptance locks its invitation and then makes its relationship.
    const invitations = await services.endInvitations(unit, entity);
    const known = await removeEntity(tx, tenant, entity);
    const from = await removeAll(unit, { fromType: entity.type, fromId: entity.id });
    const to = await removeAll(unit, { toType: entity.type, toId: entity.id });
    if (known + from + to + invitations === 0) throw relationshipProblem('entity_not_found');
    const detail = { relationships: from + to, invitations };
    unit.audit({ action: 'delete', kind, name: `${entity.type}/${entity.id}`, detail });
    if (known > 0) unit.emit(entityDeleted, { requestor: unit.by.actor, entity });
  });
}
