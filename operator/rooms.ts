/** Owns what the operator asks of the rooms: the same actions that the Config API calls. wire.ts makes one from the rooms. */
import type {
  ActorTypeSpec,
  ConsentDefinitionSpec,
  IssuerManifest,
  PolicyManifest,
  RelationshipTypeSpec,
  TenantSpec,
} from '../crds/index.ts';
import type { Owner, Writer } from '../server/core/ownership.ts';
import type { DefinitionState } from '../server/definitions/index.ts';
import type { Entrance, InvitationLink, Invited } from '../server/members/index.ts';
import type { TenantSecrets } from '../server/tenants/index.ts';
import type { Peers, ThingKind } from '../server/types/index.ts';

/** The tenant's revision that holds the result, and whether it is a new one. */
export type Written = { revision: number; changed: boolean };

export type FoundTenant = { owner: Owner; revision: number; state: 'active' | 'disabled'; spec: TenantSpec };
export type FoundObject = { owner: Owner; revision: number };
/** Its link was not handed over yet; `place` counts what the Tenant's manifest ever asked for in that role. */
export type PendingInvitation = Invited & { id: string; place: number };

/** Every action is idempotent and throws Problem; deleting what is not there is no error. */
export interface Rooms {
  findTenant(tenant: string): Promise<FoundTenant | undefined>;
  putTenant(writer: Writer, tenant: string, spec: TenantSpec, secrets?: TenantSecrets): Promise<Written>;
  disableTenant(writer: Writer, tenant: string): Promise<Written>;
  eraseTenant(writer: Writer, tenant: string): Promise<void>;
  transferTenant(writer: Writer, tenant: string, to: Owner): Promise<Written>;
  inviteForManifest(tenant: string, wanted: readonly Invited[], actor: string): Promise<PendingInvitation[]>;
  makeInvitationLink(tenant: string, id: string): Promise<InvitationLink | undefined>;
  recordInvitationReported(tenant: string, id: string, by: { actor: string; to: string }): Promise<void>;
  findEntrance(tenant: string): Promise<Entrance>;
  findPolicy(tenant: string, name: string): Promise<FoundObject | undefined>;
  /** `tests` are left out where the same ones have passed on the same source before. */
  putPolicy(
    writer: Writer,
    tenant: string,
    spec: PolicyManifest['spec'],
    options: { tests: boolean },
  ): Promise<Written>;
  deletePolicy(writer: Writer, tenant: string, name: string): Promise<Written>;
  transferPolicy(writer: Writer, tenant: string, name: string, to: Owner): Promise<Written>;
  findIssuer(tenant: string, name: string): Promise<FoundObject | undefined>;
  putIssuer(writer: Writer, tenant: string, name: string, spec: IssuerManifest['spec']): Promise<Written>;
  deleteIssuer(writer: Writer, tenant: string, name: string): Promise<Written>;
  transferIssuer(writer: Writer, tenant: string, name: string, to: Owner): Promise<Written>;
  findThingType(tenant: string, kind: ThingKind, name: string): Promise<FoundObject | undefined>;
  putThingType(
    writer: Writer,
    tenant: string,
    kind: ThingKind,
    spec: Pick<ActorTypeSpec, 'name' | 'attributes'>,
  ): Promise<Written>;
  deleteThingType(writer: Writer, tenant: string, kind: ThingKind, name: string): Promise<Written>;
  transferThingType(writer: Writer, tenant: string, kind: ThingKind, name: string, to: Owner): Promise<Written>;
  /** Names of relationship types are From:rel:To. One that is retired is not there. */
  findRelationshipType(tenant: string, name: string): Promise<FoundObject | undefined>;
  /** @param peers what may be written with it where they name one another */
  putRelationshipType(writer: Writer, tenant: string, spec: RelationshipTypeSpec, peers?: Peers): Promise<Written>;
  deleteRelationshipType(writer: Writer, tenant: string, name: string): Promise<Written>;
  transferRelationshipType(writer: Writer, tenant: string, name: string, to: Owner): Promise<Written>;
  /** One that is archived is not there. */
  findDefinition(tenant: string, name: string): Promise<(FoundObject & { state: DefinitionState }) | undefined>;
  putDefinition(writer: Writer, tenant: string, spec: ConsentDefinitionSpec): Promise<Written>;
  archiveDefinition(writer: Writer, tenant: string, name: string): Promise<Written>;
  transferDefinition(writer: Writer, tenant: string, name: string, to: Owner): Promise<Written>;
}
