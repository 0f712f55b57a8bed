/** The verbs on things, the actors and resources: their attributes, which only a tenant's back end writes. */
import { comeBack } from '../pseudonyms/index.ts';
import { readThingType, type ThingKind, type ThingTypeSpec, typeProblem } from '../types/index.ts';
import {
  auditRecord,
  type EndInvitations,
  type RecordWriter,
  type RecordWritten,
  type RelationshipServices,
  removeAll,
  writeRecords,
} from './actions.ts';
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
  return services.database.tenant(tenant, async (tx) => {
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
  writer: RecordWriter,
  kind: ThingKind,
  thing: Thing,
  body: Readonly<Record<string, unknown>>,
): Promise<RecordWritten<Attributes>> {
  checkThing(thing, '/params');
  return writeRecords(services, writer, async (tx) => {
    const type = await readThingType(tx, writer.tenant, thing.type, 'use');
    if (type?.kind !== kind) {
      const detail = `There is no ${kind} type ${thing.type}.`;
      throw typeProblem('type_unknown', { detail, errors: [{ pointer: '/params/type', detail }] });
    }
    const attributes = attributesOf(thing, type.spec, body);
    await comeBack(services.tagger, tx, writer.tenant, [thing]);
    await upsertThing(tx, writer.tenant, thing, attributes);
    // Values may be personal; the audit says which were written.
    const detail = { attributes: Object.keys(attributes) };
    await auditRecord(tx, writer, { action: 'put', kind, name: `${thing.type}/${thing.id}`, detail });
    return attributes;
  });
}

/**
 * Forgets a thing, with its relationships both ways and its pending invitations.
 * @throws Problem thing_not_found when it is not registered and has none of these
 */
export function deleteThing(
  services: RelationshipServices & { endInvitations: EndInvitations },
  writer: RecordWriter,
  kind: ThingKind,
  thing: Thing,
): Promise<RecordWritten<void>> {
  return writeRecords(services, writer, async (tx, now) => {
    const type = await readThingType(tx, writer.tenant, thing.type, 'use');
    if (type?.kind !== kind) throw relationshipProblem('thing_not_found');
    // First: an acceptance holds its invitation, and makes its relationship after that.
    const invitations = await services.endInvitations(tx, writer, thing, now);
    const known = await removeThing(tx, writer.tenant, thing);
    const from = await removeAll(tx, writer.tenant, { fromType: thing.type, fromId: thing.id });
    const to = await removeAll(tx, writer.tenant, { toType: thing.type, toId: thing.id });
    if (known + from + to + invitations === 0) throw relationshipProblem('thing_not_found');
    const detail = { relationships: from + to, invitations };
    await auditRecord(tx, writer, { action: 'delete', kind, name: `${thing.type}/${thing.id}`, detail });
  });
}
