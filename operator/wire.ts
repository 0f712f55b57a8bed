/** Owns the operator's view of the rooms: each call is one action of a room, taken through its door. */
import { Problem } from '../server/core/problems.ts';
import {
  applyDefinition,
  archiveManifestDefinition,
  type DefinitionServices,
  findDefinition,
  transferDefinition,
} from '../server/definitions/index.ts';
import { deleteIssuer, type IssuerServices, loadIssuers, putIssuer, transferIssuer } from '../server/issuers/index.ts';
import {
  findEntrance,
  type InvitationServices,
  inviteForManifest,
  makeInvitationLink,
  recordInvitationReported,
} from '../server/members/index.ts';
import {
  deletePolicy,
  type PolicyServices,
  putPolicy,
  requirePolicy,
  transferPolicy,
} from '../server/policies/index.ts';
import {
  disableTenant,
  eraseTenant,
  putTenant,
  readTenant,
  type TenantServices,
  transferTenant,
} from '../server/tenants/index.ts';
import {
  deleteRelationshipType,
  deleteThingType,
  loadRelationshipTypes,
  loadThingTypes,
  parseTypeKey,
  putRelationshipType,
  putThingType,
  relationshipTypeOfManifest,
  type TypeServices,
  thingTypeOfManifest,
  transferRelationshipType,
  transferThingType,
  typeKeyOf,
} from '../server/types/index.ts';
import type { Rooms } from './rooms.ts';

export type RoomServices = {
  tenants: TenantServices;
  policies: PolicyServices;
  issuers: IssuerServices;
  members: InvitationServices;
  types: TypeServices;
  definitions: DefinitionServices;
};

export function wireRooms({ tenants, policies, issuers, members, types, definitions }: RoomServices): Rooms {
  const { database } = tenants;
  return {
    ...wireTypes(types),
    ...wireDefinitions(definitions),
    findTenant: (tenant) => database.read(tenant, (tx) => readTenant(tx, tenant)),
    putTenant: (writer, tenant, spec, secrets) => putTenant(tenants, writer, tenant, spec, secrets),
    disableTenant: (writer, tenant) => disableTenant(tenants, writer, tenant),
    eraseTenant: (writer, tenant) => eraseTenant(tenants, writer, tenant),
    transferTenant: (writer, tenant, to) => transferTenant(tenants, writer, tenant, to),
    inviteForManifest: (tenant, wanted, actor) => inviteForManifest(members, tenant, wanted, actor),
    makeInvitationLink: (tenant, id) => makeInvitationLink(members, tenant, id),
    recordInvitationReported: (tenant, id, by) => recordInvitationReported(members, tenant, id, by),
    findEntrance: (tenant) => findEntrance(members, tenant),
    findPolicy: (tenant, name) =>
      database.read(tenant, (tx) => requirePolicy(tx, tenant, name)).catch(undefinedFor('policy_not_found')),
    putPolicy: (writer, tenant, spec, options) => {
      const { name, rego, graph, tests } = spec;
      const body = { ...(rego === undefined ? {} : { rego }), ...(graph === undefined ? {} : { graph }) };
      return putPolicy(policies, writer, tenant, name, body, options.tests && tests ? { tests } : {});
    },
    deletePolicy: (writer, tenant, name) => deletePolicy(policies, writer, tenant, name),
    transferPolicy: (writer, tenant, name, to) => transferPolicy(policies, writer, tenant, name, to),
    findIssuer: async (tenant, name) => {
      const rows = await database.read(tenant, (tx) => loadIssuers(tx, tenant));
      return rows.find((row) => row.name === name);
    },
    putIssuer: (writer, tenant, name, spec) => putIssuer(issuers, writer, tenant, name, spec),
    deleteIssuer: (writer, tenant, name) => deleteIssuer(issuers, writer, tenant, name),
    transferIssuer: (writer, tenant, name, to) => transferIssuer(issuers, writer, tenant, name, to),
  };
}

type TypeVerbs = Extract<keyof Rooms, `${string}ThingType` | `${string}RelationshipType`>;

function wireTypes(types: TypeServices): Pick<Rooms, TypeVerbs> {
  const { database } = types;
  return {
    findThingType: async (tenant, kind, name) => {
      const rows = await database.read(tenant, (tx) => loadThingTypes(tx, tenant, kind));
      return rows.find((row) => row.name === name);
    },
    putThingType: (writer, tenant, kind, spec) =>
      putThingType(types, writer, tenant, { kind, name: spec.name, spec: thingTypeOfManifest(spec) }),
    deleteThingType: (writer, tenant, kind, name) => deleteThingType(types, writer, tenant, { kind, name }),
    transferThingType: (writer, tenant, kind, name, to) => transferThingType(types, writer, tenant, { kind, name }, to),
    findRelationshipType: async (tenant, name) => {
      const rows = await database.read(tenant, (tx) => loadRelationshipTypes(tx, tenant));
      return rows.find(
        (row) => !row.retired && typeKeyOf({ from: row.from_type, name: row.name, to: row.to_type }) === name,
      );
    },
    putRelationshipType: (writer, tenant, spec, peers) =>
      putRelationshipType(types, writer, tenant, spec, relationshipTypeOfManifest(spec), peers ? { peers } : {}),
    deleteRelationshipType: (writer, tenant, name) => deleteRelationshipType(types, writer, tenant, parseTypeKey(name)),
    transferRelationshipType: (writer, tenant, name, to) =>
      transferRelationshipType(types, writer, tenant, parseTypeKey(name), to),
  };
}

type DefinitionVerbs = Extract<keyof Rooms, `${string}Definition`>;

function wireDefinitions(definitions: DefinitionServices): Pick<Rooms, DefinitionVerbs> {
  return {
    findDefinition: (tenant, name) => findDefinition(definitions, tenant, name),
    putDefinition: (writer, tenant, spec) => applyDefinition(definitions, writer, tenant, spec),
    archiveDefinition: (writer, tenant, name) => archiveManifestDefinition(definitions, writer, tenant, name),
    transferDefinition: (writer, tenant, name, to) => transferDefinition(definitions, writer, tenant, name, to),
  };
}

function undefinedFor(code: string) {
  return (error: unknown) => {
    if (error instanceof Problem && error.code === code) return undefined;
    throw error;
  };
}
