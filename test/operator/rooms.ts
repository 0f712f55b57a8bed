/** What tests of the operator ask the rooms beside it: the same actions as the Config API's and the operator's. */
import type { PolicyManifest, TenantSpec } from '../../crds/index.ts';
import { Kinds } from '../../operator/kinds/index.ts';
import type { OperatorServices } from '../../operator/services.ts';
import type { KindName } from '../../operator/source.ts';
import type { ClientServices } from '../../server/clients/index.ts';
import type { Owner, Writer } from '../../server/core/ownership.ts';
import { type DefinitionServices, findDefinition, transferDefinition } from '../../server/definitions/index.ts';
import { deleteIssuer, type IssuerServices, transferIssuer } from '../../server/issuers/index.ts';
import { createMemberInvitationLink, type MemberInvitationServices } from '../../server/members/index.ts';
import { deletePolicy, type PolicyServices, putPolicy, transferPolicy } from '../../server/policies/index.ts';
import type { SubscriptionServices } from '../../server/subscriptions/actions.ts';
import type { SettingsServices } from '../../server/subscriptions/settings.ts';
import { putTenant, readTenant, type TenantServices, transferTenant } from '../../server/tenants/index.ts';
import { deleteRelationshipType, parseTypeKey, type TypeServices } from '../../server/types/index.ts';
import type { ConfigWriteServices } from '../../server/writes/index.ts';

/** The rooms that manifests are written with, by their names. */
export type TestServices = {
  tenants: TenantServices;
  policies: PolicyServices;
  issuers: IssuerServices;
  clients: ClientServices;
  subscriptions: SubscriptionServices & SettingsServices;
  members: MemberInvitationServices;
  mail: ConfigWriteServices;
  types: TypeServices;
  definitions: DefinitionServices;
};

export function roomsOf(services: TestServices, ofOperator: OperatorServices) {
  const { tenants, policies, issuers, types, definitions, members } = services;
  const kinds = new Kinds(ofOperator);
  const find = (kind: KindName) => (tenant: string, name: string) => kinds.of(kind).find({ tenant, name });
  return {
    findTenant: (tenant: string) => tenants.database.read(tenant, (tx) => readTenant(tx, tenant)),
    putTenant: (writer: Writer, tenant: string, spec: TenantSpec) => putTenant(tenants, writer, tenant, spec),
    transferTenant: (writer: Writer, tenant: string, to: Owner) => transferTenant(tenants, writer, tenant, to),
    createMemberInvitationLink: (tenant: string, id: string) => createMemberInvitationLink(members, tenant, id),
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
