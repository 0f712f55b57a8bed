/**
 * What a source of manifests is to the operator: a store of objects by key and a stream of keys that changed. The
 * stream is a hint without content; whoever hears a key looks it up. Directories of files are one source, a Kubernetes API
 * server is another.
 */
import type { Manifest } from '../crds/index.ts';
import type { ProblemPlace } from '../server/core/problems.ts';
import type { ResourceClaim } from '../server/room/resource-kind.ts';

export type KindName = Manifest['kind'];

/** `kind/namespace/name`; the namespace of a cluster-wide kind is empty. */
export type Key = string;

export function keyOf(object: { kind: string; namespace: string; name: string }): Key {
  return `${object.kind}/${object.namespace}/${object.name}`;
}

/** For people: `Policy default/car-read`, `Tenant fleet`. */
export function describeKey(key: Key): string {
  const [kind, namespace, name] = key.split('/');
  return `${kind} ${namespace ? `${namespace}/` : ''}${name}`;
}

/** One manifest as the source holds it. It is never changed: another version is another object. */
export type SourceObject = {
  readonly key: Key;
  readonly kind: KindName;
  readonly namespace: string;
  readonly name: string;
  /** Tells a manifest from one that was made again under the same name; a source of files derives it. */
  readonly uid: string;
  /** Raised by the source with each change of the spec; absent where the operator counts (files). */
  readonly generation?: number;
  /** RFC 3339; absent where the source does not know. The oldest of two that claim one name wins. */
  readonly createdAt?: string;
  /** Somebody asked for the deletion and the source waits for us to let go (Kubernetes: deletionTimestamp). */
  readonly deleting: boolean;
  readonly annotations: Readonly<Record<string, string>>;
  /** Digest of the spec as written. */
  readonly digest: string;
  /** Checked against crds/, defaults filled in; or what is wrong, a line each, with its place where the source has places. */
  readonly checked: { ok: true; manifest: Manifest } | { ok: false; message: string };
  /** Which tenant's object of which name it claims, as far as the manifest says so legibly. */
  readonly claims: ResourceClaim | undefined;
  /** What is wrong with the place that it was read from; the object is then the last one that was good. */
  readonly problem?: string;
  /** Where in the source a place of the spec is, such as `policies.yaml:12`. */
  readonly locate?: (place: ProblemPlace) => string | undefined;
};

export type ConditionStatus = 'True' | 'False' | 'Unknown';
export type Condition = {
  type: string;
  status: ConditionStatus;
  reason: string;
  message: string;
  observedGeneration: number;
  lastTransitionTime: string;
};
export type ResourceStatus = {
  observedGeneration?: number;
  activeGeneration?: number;
  revision?: string;
  conditions?: Condition[];
  /** What the room of its kind says besides (describe). */
  [field: string]: unknown;
};

/** What is wrong with the source itself and belongs to no object: a file that does not parse, a kind that cannot be listed. */
export type SourceProblem = {
  place: string;
  message: string;
  /** Set where nothing is wrong: something else lies there that is no concern of ours. */
  severity?: 'note';
};

export type SourceHandlers = {
  /**
   * The objects of these keys came, changed or went: all that the source has just learnt, in one call, and after its store
   * holds it. So many that go at once are seen to be many.
   */
  changed(keys: readonly Key[]): void;
  /** The list of a kind became complete or stopped being so. Called for every kind once after start. */
  synced(kind: KindName): void;
  /** The problems changed. */
  problems(problems: readonly SourceProblem[]): void;
};

export interface Source {
  readonly name: 'files' | 'kubernetes';
  /** Starts to follow; resolves when every kind has been tried once. */
  start(handlers: SourceHandlers): Promise<void>;
  get(key: Key): SourceObject | undefined;
  keys(kind: KindName): Iterable<Key>;
  /**
   * Whether the absence of a key of this kind means that its manifest is gone. False while a file cannot be read, a CRD is
   * missing, or a list was forbidden or broken off: an answer that could not be had is not an empty one.
   */
  complete(kind: KindName): boolean;
  problems(): readonly SourceProblem[];
  /** Makes the status visible beside the manifest, when it differs from what is there. @throws when it cannot be written now */
  writeStatus(object: StatusTarget, status: ResourceStatus): Promise<void>;
  /** Lets go of a manifest whose rows are gone: drops our finalizer, forgets its status. Idempotent. */
  removeFinalizer(object: StatusTarget): Promise<void>;
  /** Keeps a manifest from vanishing before `release` (Kubernetes: our finalizer). Absent where nothing can be kept. */
  addFinalizer?(object: SourceObject): Promise<void>;
  /**
   * The labels of a namespace, undefined where it is not there or not known. A change of them is told as a change of every
   * object in that namespace. Absent where namespaces are only names (files).
   */
  namespaceLabels?(namespace: string): Readonly<Record<string, string>> | undefined;
  /** Absent where there are no Secrets (files). */
  readonly secrets?: SecretAccess;
  /** Tells of a transition; best effort. */
  event(object: StatusTarget, type: 'Normal' | 'Warning', reason: string, message: string): void;
  close(): Promise<void>;
}

/** Secrets by name: we are never allowed to list them. All methods throw when the source does not answer or refuses. */
export interface SecretAccess {
  /**
   * The data of a Secret, or undefined where there is none. From now on, while the object of `forKey` stays the version
   * that it is, a change, the appearance and the disappearance of the Secret are told as a change of `forKey`.
   */
  read(namespace: string, name: string, forKey: Key): Promise<Readonly<Record<string, Buffer>> | undefined>;
  /**
   * Makes a Secret that says that it is ours.
   * @param ownerOf goes, and the Secret with it; in the same namespace or cluster-wide
   */
  create(
    namespace: string,
    name: string,
    data: Readonly<Record<string, string>>,
    labels: Readonly<Record<string, string>>,
    ownerOf?: SourceObject,
  ): Promise<'created' | 'exists'>;
  /** Replaces the data of a Secret that we made; one that somebody else made stays as it is. */
  update(
    namespace: string,
    name: string,
    data: Readonly<Record<string, string>>,
  ): Promise<'updated' | 'foreign' | 'missing'>;
}

/** Whose status it is; the manifest itself may be gone. */
export type StatusTarget = {
  readonly key: Key;
  readonly kind: KindName;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
};
