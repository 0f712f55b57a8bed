/** Owns the operator's view of the rooms: each call is one action of a room, taken through its door. */
import { Problem } from '../server/core/problems.ts';
import { deleteIssuer, type IssuerServices, loadIssuers, putIssuer } from '../server/issuers/index.ts';
import { deletePolicy, type PolicyServices, putPolicy, requirePolicy } from '../server/policies/index.ts';
import { disableTenant, eraseTenant, putTenant, readTenant, type TenantServices } from '../server/tenants/index.ts';
import type { Rooms } from './rooms.ts';

export type RoomServices = { tenants: TenantServices; policies: PolicyServices; issuers: IssuerServices };

export function wireRooms({ tenants, policies, issuers }: RoomServices): Rooms {
  const { database } = tenants;
  return {
    findTenant: (tenant) => database.tenant(tenant, (tx) => readTenant(tx, tenant)),
    putTenant: (writer, tenant, spec) => putTenant(tenants, writer, tenant, spec),
    disableTenant: (writer, tenant) => disableTenant(tenants, writer, tenant),
    eraseTenant: (writer, tenant) => eraseTenant(tenants, writer, tenant),
    findPolicy: (tenant, name) =>
      database.tenant(tenant, (tx) => requirePolicy(tx, tenant, name)).catch(undefinedFor('policy_not_found')),
    putPolicy: (writer, tenant, spec, options) => {
      const { name, rego, graph, tests } = spec;
      const body = { ...(rego === undefined ? {} : { rego }), ...(graph === undefined ? {} : { graph }) };
      return putPolicy(policies, writer, tenant, name, body, options.tests && tests ? { tests } : {});
    },
    deletePolicy: (writer, tenant, name) => deletePolicy(policies, writer, tenant, name),
    findIssuer: async (tenant, name) => {
      const rows = await database.tenant(tenant, (tx) => loadIssuers(tx, tenant));
      return rows.find((row) => row.name === name);
    },
    putIssuer: (writer, tenant, name, spec) => putIssuer(issuers, writer, tenant, name, spec),
    deleteIssuer: (writer, tenant, name) => deleteIssuer(issuers, writer, tenant, name),
  };
}

function undefinedFor(code: string) {
  return (error: unknown) => {
    if (error instanceof Problem && error.code === code) return undefined;
    throw error;
  };
}
