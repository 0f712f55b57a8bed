/**
 * A source of manifests in memory that keeps to Kubernetes' rules: finalizers and deletionTimestamps, a new uid for what is
 * made again, labels of namespaces, Secrets, lists that are not complete.
 */
import { randomUUID } from 'node:crypto';
import { parseFile } from '../../operator/files/parse-file.ts';
import { kindNames } from '../../operator/kinds/index.ts';
import {
  type Key,
  type KindName,
  keyOf,
  type ResourceStatus,
  type SecretAccess,
  type Source,
  type SourceHandlers,
  type SourceObject,
  type StatusTarget,
} from '../../operator/source.ts';

type Labels = Record<string, string>;
export type StoredSecret = { data: Record<string, Buffer>; labels: Labels; ours: boolean };

export class MemorySource implements Source {
  readonly name = 'kubernetes';
  readonly #objects = new Map<Key, SourceObject>();
  readonly #held = new Set<Key>();
  readonly #statuses = new Map<Key, ResourceStatus>();
  readonly #namespaces = new Map<string, Labels>();
  readonly #incomplete = new Set<KindName>();
  readonly #stored = new Map<string, StoredSecret>();
  readonly #readers = new Map<string, Set<Key>>();
  #handlers: SourceHandlers | undefined;
  #made = 0;
  /** What a namespace answers to whoever reads or writes a Secret there. */
  readonly refusals = new Map<string, Error>();
  readonly events: { key: Key; type: string; reason: string; message: string }[] = [];

  async start(handlers: SourceHandlers): Promise<void> {
    this.#handlers = handlers;
    for (const kind of kindNames) handlers.synced(kind);
  }
  get(key: Key): SourceObject | undefined {
    return this.#objects.get(key);
  }
  *keys(kind: KindName): Iterable<Key> {
    for (const object of this.#objects.values()) if (object.kind === kind) yield object.key;
  }
  complete(kind: KindName): boolean {
    return !this.#incomplete.has(kind);
  }
  problems() {
    return [];
  }
  async writeStatus(target: StatusTarget, status: ResourceStatus): Promise<void> {
    const now = this.#objects.get(target.key);
    if (now !== undefined && now.uid !== target.uid) return;
    this.#statuses.set(target.key, status);
  }
  async addFinalizer(object: SourceObject): Promise<void> {
    const now = this.#objects.get(object.key);
    if (now?.uid === object.uid && !now.deleting) this.#held.add(object.key);
  }
  /** What it is asked of an object that was made again under its name is not done to that one. */
  async removeFinalizer(target: StatusTarget): Promise<void> {
    const now = this.#objects.get(target.key);
    if (now?.uid !== target.uid) return;
    this.#held.delete(target.key);
    if (now.deleting) this.#gone([target.key]);
  }
  /** What the server has. */
  objects(): Iterable<SourceObject> {
    return this.#objects.values();
  }
  namespaceLabels(namespace: string): Labels | undefined {
    return this.#namespaces.get(namespace);
  }
  event(object: StatusTarget, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.events.push({ key: object.key, type, reason, message });
  }
  async close(): Promise<void> {
    this.#handlers = undefined;
  }

  readonly secrets: SecretAccess = {
    read: async (namespace, name, forKey) => {
      const place = `${namespace}/${name}`;
      const refusal = this.refusals.get(namespace);
      this.#readers.set(place, (this.#readers.get(place) ?? new Set()).add(forKey));
      if (refusal) throw refusal;
      return this.#stored.get(place)?.data;
    },
    create: async (namespace, name, data, labels) => {
      const refusal = this.refusals.get(namespace);
      if (refusal) throw refusal;
      if (this.#stored.has(`${namespace}/${name}`)) return 'exists';
      this.#stored.set(`${namespace}/${name}`, { data: buffersOf(data), labels, ours: true });
      return 'created';
    },
    update: async (namespace, name, data) => {
      const secret = this.#stored.get(`${namespace}/${name}`);
      if (secret === undefined) return 'missing';
      if (!secret.ours) return 'foreign';
      secret.data = buffersOf(data);
      return 'updated';
    },
  };

  // What a person does

  /** `kubectl apply`: the manifests of a YAML text, in a namespace. @returns their keys */
  apply(text: string, options: { namespace?: string; createdAt?: string } = {}): Key[] {
    return this.applyParsed(parseFile('memory.yaml', text).objects, options);
  }
  /** The same, of manifests that were read elsewhere. */
  applyParsed(
    objects: readonly Omit<SourceObject, 'key' | 'uid'>[],
    options: { namespace?: string; createdAt?: string } = {},
  ): Key[] {
    const keys = objects.map((parsed) => {
      const namespace = parsed.kind === 'Tenant' ? '' : (options.namespace ?? parsed.namespace);
      const key = keyOf({ ...parsed, namespace });
      const before = this.#objects.get(key);
      if (before === undefined) this.#statuses.delete(key);
      if (before?.deleting) throw new Error(`${key} is being deleted`);
      const createdAt = options.createdAt ?? new Date(this.#made++ * 1000).toISOString();
      const own = before
        ? { uid: before.uid, createdAt: before.createdAt as string }
        : { uid: randomUUID(), createdAt };
      this.#objects.set(key, { ...parsed, ...own, namespace, key });
      return key;
    });
    this.#handlers?.changed(keys);
    return keys;
  }
  /** An object made again under its name so quickly that a list shows the new one in the place of the old. */
  replace(key: Key, text: string, options: { namespace?: string } = {}): void {
    this.#held.delete(key);
    this.#objects.delete(key);
    this.apply(text, options);
  }
  /** `kubectl delete`: what has our finalizer stays until it is released. */
  delete(...keys: Key[]): void {
    for (const key of keys) {
      const object = this.#objects.get(key);
      if (object && this.#held.has(key)) this.#objects.set(key, { ...object, deleting: true });
      else this.#objects.delete(key);
    }
    this.#handlers?.changed(keys);
  }
  /** Somebody strips the finalizer, or the cluster is another one. */
  vanish(...keys: Key[]): void {
    for (const key of keys) this.#held.delete(key);
    this.#gone(keys);
  }
  label(namespace: string, labels: Labels | undefined): void {
    if (labels === undefined) this.#namespaces.delete(namespace);
    else this.#namespaces.set(namespace, labels);
    this.#handlers?.changed(
      [...this.#objects.values()].filter((one) => one.namespace === namespace).map((one) => one.key),
    );
  }
  lists(kind: KindName, complete: boolean): void {
    if (complete) this.#incomplete.delete(kind);
    else this.#incomplete.add(kind);
    this.#handlers?.synced(kind);
  }
  putSecret(namespace: string, name: string, data: Record<string, string> | undefined): void {
    const place = `${namespace}/${name}`;
    if (data === undefined) this.#stored.delete(place);
    else this.#stored.set(place, { data: buffersOf(data), labels: {}, ours: false });
    this.#handlers?.changed([...(this.#readers.get(place) ?? [])]);
  }

  // What a person sees

  secret(namespace: string, name: string): StoredSecret | undefined {
    return this.#stored.get(`${namespace}/${name}`);
  }
  status(key: Key): ResourceStatus | undefined {
    return this.#statuses.get(key);
  }
  condition(key: Key, type = 'Ready') {
    return this.#statuses.get(key)?.conditions?.find((one) => one.type === type);
  }
  isHeld(key: Key): boolean {
    return this.#held.has(key);
  }

  #gone(keys: readonly Key[]): void {
    for (const key of keys) this.#objects.delete(key);
    this.#handlers?.changed(keys);
  }
}

function buffersOf(data: Readonly<Record<string, string>>): Record<string, Buffer> {
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, Buffer.from(value)]));
}
