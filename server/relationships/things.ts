/** The verbs on things, the actors and resources: their attributes, which only a tenant's back end writes. */
import type { AuditedAuthor } from '../core/author.ts';
import { readThingType, type ThingKind, type ThingTypeSpec, typeProblem } from '../types/index.ts';
import { type RecordWritten, write } from '../writes/index.ts';
import { type EndInvitations, type RelationshipServices, removeAll } from './actions.ts';
import { relationshipProblem } from './problems.ts';
import { attributesOf, checkThing } from './rules.ts';
import type { Attributes, Thing } from './schema.ts';
import { readThing, removeThing, upsertThing } from './store.ts';

/** The attributes of a thing, those that its type declares; undefined when it is not registered. */
export function attributesOfThing(
  services: Pick<RelationshipServices, 'database'>,
  tenant: string,
  kind: ThingKind,
  thing: Thing,
): Promise<Attributes | undefined> {
  return services.database.tenantSnapshot(tenant, async (tx) => {
    const type = await readThingType(tx, tenant, thing.type);
    if (type?.kind !== kind) return undefined;
    const stored = await readThing(tx, tenant, thing);
    return stored && declaredOf(stored, type.spec);
  });
}

function declaredOf(attributes: Attributes, { attributes: declared = {} }: ThingTypeSpec): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => Object.hasOwn(declared, name)));
}

/**
 * Registers a thing, or replaces its attributes.
 * @throws Problem type_unknown, attributes_invalid, invalid_request
 */
export function putThing(
  services: RelationshipServices,
  author: AuditedAuthor,
  kind: ThingKind,
  thing: Thing,
  body: Readonly<Record<string, unknown>>,
): Promise<RecordWritten<Attributes>> {
  checkThing(thing, '/params');
  return write(services, author, { locks: 'records' }, async (unit) => {
    const { tx, tenant } = unit;
    const type = await readThingType(tx, tenant, thing.type, 'use');
    if (type?.kind !== kind) {
      const detail = `There is no ${kind} type ${thing.type}.`;
      throw typeProblem('type_unknown', { detail, errors: [{ pointer: '/params/type', detail }] });
    }
    const attributes = attributesOf(thing, type.spec, body);
    await unit.comeBack([thing]);
    await upsertThing(tx, tenant, thing, attributes);
    // Values may be personal; the audit says which were written.
    const detail = { attributes: Object.keys(attributes) };
    unit.audit({ action: 'put', kind, name: `${thing.type}/${thing.id}`, detail });
    return attributes;
  });
}

/**
 * Forgets a thing, with its relationships both ways and its pending invitations.
 * @throws Problem thing_not_found when it is not registered and has none of these
 */
export function deleteThing(
  services: RelationshipServices & { endInvitations: EndInvitations },
  author: AuditedAuthor,
  kind: ThingKind,
  thing: Thing,
): Promise<RecordWritten<void>> {
  return write(services, author, { locks: 'records' }, async (unit) => {
    const { tx, tenant } = unit;
    const type = await readThingType(tx, tenant, thing.type, 'use');
    if (type?.kind !== kind) throw relationshipProblem('thing_not_found');
    // First: an acceptance holds its invitation, and makes its relationship after that.
    const invitations = await services.endInvitations(unit, thing);
    const known = await removeThing(tx, tenant, thing);
    const from = await removeAll(unit, { fromType: thing.type, fromId: thing.id });
    const to = await removeAll(unit, { toType: thing.type, toId: thing.id });
    if (known + from + to + invitations === 0) throw relationshipProblem('thing_not_found');
    const detail = { relationships: from + to, invitations };
    unit.audit({ action: 'delete', kind, name: `${thing.type}/${thing.id}`, detail });
  });
}
