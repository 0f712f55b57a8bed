/** The verbs on entities, the actors and resources: their attributes, which only a tenant's back end writes. */
import type { AuditedAuthor } from '../core/author.ts';
import { type EntityKind, type EntityTypeSpec, readEntityType, typeProblem } from '../types/index.ts';
import { type RecordWritten, write } from '../writes/index.ts';
import { type EndInvitations, type RelationshipServices, removeAll } from './actions.ts';
import { readEntity, removeEntity, upsertEntity } from './entity-store.ts';
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
    if (type?.kind !== kind) {
      const detail = `There is no ${kind} type ${entity.type}.`;
      throw typeProblem('type_unknown', { detail, errors: [{ pointer: '/params/type', detail }] });
    }
    const attributes = attributesOf(entity, type.spec, body);
    await unit.comeBack([entity]);
    await upsertEntity(tx, tenant, entity, attributes);
    // Values may be personal; the audit says which were written.
    const detail = { attributes: Object.keys(attributes) };
    unit.audit({ action: 'put', kind, name: `${entity.type}/${entity.id}`, detail });
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
    // First: an acceptance holds its invitation, and makes its relationship after that.
    const invitations = await services.endInvitations(unit, entity);
    const known = await removeEntity(tx, tenant, entity);
    const from = await removeAll(unit, { fromType: entity.type, fromId: entity.id });
    const to = await removeAll(unit, { toType: entity.type, toId: entity.id });
    if (known + from + to + invitations === 0) throw relationshipProblem('entity_not_found');
    const detail = { relationships: from + to, invitations };
    unit.audit({ action: 'delete', kind, name: `${entity.type}/${entity.id}`, detail });
  });
}
