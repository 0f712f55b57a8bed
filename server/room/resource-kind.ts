/**
 * What the operator and the `accord` command need to know of a kind of custom resource: how an object is named, found, written and
 * removed through the actions of its room, what its status says, how it is exported, and what is checked of its manifests
 * without a cluster. Each room exports its kinds; nothing else names them.
 */
import type { Kind, Manifest } from '../../crds/index.ts';
import type { Role } from '../core/auth/schema.ts';
import type { Transaction } from '../core/db/database.ts';
import type { Owner, Writer } from '../core/ownership.ts';
import type { ExportContext, ExportedName, ExportedObject } from './exporting.ts';
import type { ManifestChecks } from './manifest-checks.ts';
import type { Room } from './room.ts';

/** Which tenant's object of which name a manifest claims. */
export type ResourceClaim = { readonly tenant: string; readonly name: string };

/** The tenant's revision that holds the result, and whether it is a new one. */
export type Written = { revision: number; changed: boolean };

export type FoundResource = { owner: Owner; revision: number };

export type KindCondition = {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
  /** A change of it is an event. */
  isEvent?: true;
};

/** A server that was silent for longer counts as gone (ACCORD_MAX_STALENESS). */
export type ConditionOptions = { maxStalenessMs: number };

/** A manifest of the same kind and tenant that may be written together with one that names it. */
type PeerManifest<Of> = { writer: Writer; manifest: Of };

/** A Secret of which one value is given to `put`. */
export type ObjectSecret = {
  name: string;
  /** The field of the manifest that names it, such as spec.secretRef. */
  field: string;
  /** The key of the value. */
  key: string;
  /** The data of one that is made where there is none; absent: others make it. */
  generate?: () => Readonly<Record<string, string>>;
};

export type PutOptions<Of> = {
  /** Whether this generation has not been accepted yet, so that its tests run. */
  fresh: boolean;
  /** The values of the Secrets that the manifest refers to; absent where the source has no Secrets. */
  secrets?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
  /** The values of the Secrets that the kind's `objectSecrets` name, by their fields; absent where one was not read. */
  values: Readonly<Record<string, string>>;
  /** By the name that they claim: manifests that wait for this one, as it may wait for them. */
  peers: (name: string) => PeerManifest<Of> | undefined;
};

/**
 * Every action is idempotent and throws Problem; deleting what is not there is no error.
 * @typeParam Services of the room
 */
export interface ResourceKind<Services, Of extends Manifest = Manifest> {
  /** Its schema and its names, from which its CustomResourceDefinition is generated. */
  readonly definition: Kind<Of['kind']>;
  /** Where everything is looked at, kinds with a lower number go first: what others refer to, before them. */
  readonly order: number;
  /** Kinds of which a manifest that was refused may be accepted after one of this kind has changed. */
  readonly wakes?: readonly Manifest['kind'][];
  /** Which members read its objects as manifests. @default every role */
  readonly readers?: readonly Role[];
  /** Its names in the API are paths, with slashes. */
  readonly hasPathNames?: true;
  /** A legible claim of a manifest that need not be valid otherwise. */
  claims(manifest: LooseManifest): ResourceClaim | undefined;
  find(services: Services, claim: ResourceClaim): Promise<FoundResource | undefined>;
  put(
    services: Services,
    writer: Writer,
    claim: ResourceClaim,
    manifest: Of,
    options: PutOptions<Of>,
  ): Promise<Written>;
  /** The Secrets that a manifest refers to, or asks to be made, in its own namespace; at most one is made. */
  objectSecrets?(manifest: Of): readonly ObjectSecret[];
  /** Gives the row to another owner as it is; does nothing when the writer does not own it. */
  transfer(services: Services, writer: Writer, claim: ResourceClaim, to: Owner): Promise<Written>;
  /** Fields that the status of this kind has besides those of all kinds, of what is stored now. */
  describe?(services: Services, claim: ResourceClaim): Promise<Readonly<Record<string, unknown>> | undefined>;
  /** Conditions that the status of this kind has besides those of all kinds, of what is stored now. */
  conditions?(services: Services, claim: ResourceClaim, options: ConditionOptions): Promise<readonly KindCondition[]>;
  /** Whose conditions others than the operator may have changed within this time; asked again and again, told more than once. */
  conditionsChanged?(services: Services, withinMs: number): Promise<readonly ResourceClaim[]>;
  /** Absent for tenants: the operator removes them in steps of its own. */
  remove?(services: Services, writer: Writer, claim: ResourceClaim): Promise<Written>;
  /** The tenant's objects of this kind, as manifests say them. */
  exported(tx: Transaction, context: ExportContext): Promise<readonly ExportedObject[]>;
  /** The names of those that are exported; absent where they are names of Kubernetes objects. */
  exportedNames?(tx: Transaction, tenant: string): Promise<readonly ExportedName[]>;
  /** What `accord validate` checks beyond the schema. */
  readonly checks?: ManifestChecks<Of>;
}

/** A kind with its room. */
type RoomKind = { readonly room: Room; readonly kind: ResourceKind<unknown> };

/** The kinds of rooms, in the order in which they are looked at. */
export function kindsOf(rooms: readonly Room[]): RoomKind[] {
  const all = rooms.flatMap((room) => (room.resourceKinds ?? []).map((kind) => ({ room, kind })));
  return all.sort((a, b) => a.kind.order - b.kind.order);
}

/** A document of which only the shape of the outermost fields is known. */
export type LooseManifest = { metadata: { name: string }; spec: Record<string, unknown> };

/** The claim of a manifest of a tenant's object, whose name is the given one. */
export function claimOf({ spec }: LooseManifest, ...name: unknown[]): ResourceClaim | undefined {
  const tenant = (spec.tenantRef as { name?: unknown } | null | undefined)?.name;
  const isLegible = [tenant, ...name].every((part) => typeof part === 'string' && part !== '');
  return isLegible ? { tenant: tenant as string, name: name.join(':') } : undefined;
}
