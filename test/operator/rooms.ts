/** What tests of the operator ask the rooms beside it: the same actions as the Config API's and the operator's. */
import type { PolicyManifest, TenantSpec } from '../../crds/index.ts';
import { kindOf } from '../../operator/kinds/index.ts';
import type { OperatorServices } from '../../operator/services.ts';
import type { KindName } from '../../operator/source.ts';
import type { Owner, Writer } from '../../server/core/ownership.ts';
import { findDefinition, transferDefinition } from '../../server/definitions/index.ts';
import { deleteIssuer, transferIssuer } from '../../server/issuers/index.ts';
import { makeInvitationLink } from '../../server/members/index.ts';
import { deletePolicy, putPolicy, transferPolicy } from '../../server/policies/index.ts';
import { putTenant, readTenant, transferTenant } from '../../server/tenants/index.ts';
import { deleteRelationshipType, parseTypeKey } from '../../server/types/index.ts';

export function roomsOf(services: OperatorServices) {
  const { tenants, policies, issuers, types, definitions, members } = services;
  const find = (kind: KindName) => (tenant: string, name: string) => kindOf(kind).find(services, { tenant, name });
  return {
    findTenant: (tenant: string) => tenants.database.read(tenant, (tx) => readTenant(tx, tenant)),
    putTenant: (writer: Writer, tenant: string, spec: TenantSpec) => putTenant(tenants, writer, tenant, spec),
    transferTenant: (writer: Writer, tenant: string, to: Owner) => transferTenant(tenants, writer, tenant, to),
    makeInvitationLink: (tenant: string, id: string) => makeInvitationLink(members, tenant, id),
    findPolicy: find('Policy'),
    putPolicy: (writer: Writer, tenant: string, { name, rego = '' }: PolicyManifest['spec']) =>
      putPolicy(policies, writer, tenant, name, { rego }),
    deletePolicy: (writer: Writer, tenant: string, name: string) => deletePolicy(policies, writer, tenant, name),
    transferPolicy: (writer: Writer, tenant: string, name: string, to: Owner) =>
      transferPolicy(policies, writer, tenant, name, to),
    findActorType: find('ActorType'),
    findResourceType: find('ResourceType'),
    findRelationshipType: find('RelationshipType'),
    deleteRelationshipType: (writer: Writer, tenant: string, name: string) =>
      deleteRelationshipType(types, writer, tenant, parseTypeKey(name)),
    findIssuer: find('TrustedIssuer'),
    deleteIssuer: (writer: Writer, tenant: string, name: string) => deleteIssuer(issuers, writer, tenant, name),
    transferIssuer: (writer: Writer, tenant: string, name: string, to: Owner) =>
      transferIssuer(issuers, writer, tenant, name, to),
    findDefinition: (tenant: string, name: string) => findDefinition(definitions, tenant, name),
    transferDefinition: (writer: Writer, tenant: string, name: string, to: Owner) =>
      transferDefinition(definitions, writer, tenant, name, to),
  };
}
