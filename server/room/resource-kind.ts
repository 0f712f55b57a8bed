/**
 * What the reconciler of manifests needs to know of a kind of custom resource: how an object is named, found, written and removed
 * through the actions of its room. Each room exports its kinds; nothing else lists their verbs.
 */
import type { Manifest } from '../../crds/index.ts';
import type { Owner, Writer } from '../core/ownership.ts';

/** Which tenant's object of which name a manifest claims. */
export type ResourceClaim = { readonly tenant: string; readonly name: string };

/** The tenant's revision that holds the result, and whether it is a new one. */
export type Written = { revision: number; changed: boolean };

export type FoundResource = { owner: Owner; revision: number };

export type KindCondition = { type: string; status: 'True' | 'False'; reason: string; message: string };

/** A manifest of the same kind and tenant that may be written together with one that names it. */
export type PeerManifest<Of> = { writer: Writer; manifest: Of };

export type PutOptions<Of> = {
  /** Whether this generation has not been accepted yet, so that its tests run. */
  fresh: boolean;
  /** The values of the Secrets that the manifest refers to; absent where the source has no Secrets. */
  secrets?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
  /** By the name that they claim: manifests that wait for this one, as it may wait for them. */
  peers: (name: string) => PeerManifest<Of> | undefined;
};

/**
 * Every action is idempotent and throws Problem; deleting what is not there is no error.
 * @typeParam Services of the room
 */
export interface ResourceKind<Services, Of extends Manifest = Manifest> {
  /** As the CustomResourceDefinition says it. */
  readonly kind: Of['kind'];
  readonly plural: string;
  /** Where everything is looked at, kinds with a lower number go first: what others refer to, before them. */
  readonly order: number;
  /** Kinds of which a manifest that was refused may be accepted after one of this kind has changed. */
  readonly wakes?: readonly Manifest['kind'][];
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
  /** Gives the row to another owner as it is; does nothing when the writer does not own it. */
  transfer(services: Services, writer: Writer, claim: ResourceClaim, to: Owner): Promise<Written>;
  /** Fields that the status of this kind has besides its conditions, of what is stored now. */
  describe?(services: Services, claim: ResourceClaim): Promise<Readonly<Record<string, unknown>> | undefined>;
  /** Conditions that the status of this kind has besides those of all kinds, of what is stored now; a change of one is an event. */
  conditions?(services: Services, claim: ResourceClaim): Promise<readonly KindCondition[]>;
  /** Absent for tenants: the operator removes them in steps of its own. */
  remove?(services: Services, writer: Writer, claim: ResourceClaim): Promise<Written>;
}

/** A document of which only the shape of the outermost fields is known. */
export type LooseManifest = { metadata: { name: string }; spec: Record<string, unknown> };

/** The claim of a manifest of a tenant's object, whose name is the given one. */
export function claimOf({ spec }: LooseManifest, ...name: unknown[]): ResourceClaim | undefined {
  const tenant = (spec.tenantRef as { name?: unknown } | null | undefined)?.name;
  const isLegible = [tenant, ...name].every((part) => typeof part === 'string' && part !== '');
  return isLegible ? { tenant: tenant as string, name: name.join(':') } : undefined;
}
