/**
 * Secrets by name. We may get them and never list them, so a change is found by asking again; the data of a Secret is
 * never kept here.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { V1Secret } from '@kubernetes/client-node';
import { apiVersion } from '../../crds/index.ts';
import type { Observe } from '../../server/core/observe.ts';
import type { Key, SecretAccess, SourceObject } from '../source.ts';
import { ApiError, type KubernetesApi } from './api.ts';

const POLL_MS = { min: 20_000, max: 30_000 };
/** On Secrets that we made: only these are ever changed by us. */
const OURS = { 'app.kubernetes.io/managed-by': 'accord' };
const CONFLICTS_MAX = 4;

type Watched = {
  /** `<uid> <resourceVersion>`, or why there is none. */
  state: string;
  /** Who asked, and the version of the object that did. */
  keys: Map<Key, SourceObject | undefined>;
};

type SecretsOptions = {
  api: KubernetesApi;
  /** The object of a key as it is now. */
  get: (key: Key) => SourceObject | undefined;
  changed: (keys: readonly Key[]) => void;
  observe: Observe;
  random: () => number;
  pollMs?: { min: number; max: number };
};

export class Secrets implements SecretAccess {
  readonly #options: SecretsOptions;
  readonly #watched = new Map<string, Watched>();
  readonly #closed = new AbortController();
  #polling: Promise<void> | undefined;

  constructor(options: SecretsOptions) {
    this.#options = options;
  }

  async read(namespace: string, name: string, forKey: Key): Promise<Readonly<Record<string, Buffer>> | undefined> {
    const path = pathOf(namespace, name);
    const found = await this.#look(path);
    const watched = this.#watched.get(path) ?? { state: found.state, keys: new Map() };
    this.#watched.set(path, watched);
    // Others that asked earlier saw another one.
    if (watched.state !== found.state) this.#tell([...watched.keys.keys()].filter((key) => key !== forKey));
    watched.state = found.state;
    watched.keys.set(forKey, this.#options.get(forKey));
    this.#polling ??= this.#poll();
    if (found.error) throw found.error;
    return found.secret && dataOf(found.secret);
  }

  async create(
    namespace: string,
    name: string,
    data: Readonly<Record<string, string>>,
    labels: Readonly<Record<string, string>>,
    ownerOf?: SourceObject,
  ): Promise<'created' | 'exists'> {
    const owner = ownerOf && { apiVersion, kind: ownerOf.kind, name: ownerOf.name, uid: ownerOf.uid };
    const body: V1Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace, labels: { ...labels, ...OURS }, ...(owner ? { ownerReferences: [owner] } : {}) },
      type: 'Opaque',
      data: encoded(data),
    };
    try {
      await this.#options.api.request({ method: 'POST', path: pathOf(namespace), body });
      return 'created';
    } catch (error) {
      if (error instanceof ApiError && error.reason === 'AlreadyExists') return 'exists';
      throw error;
    }
  }

  async update(
    namespace: string,
    name: string,
    data: Readonly<Record<string, string>>,
  ): Promise<'updated' | 'foreign' | 'missing'> {
    const path = pathOf(namespace, name);
    for (let tries = 1; ; tries++) {
      try {
        const { metadata, data: old = {} } = await this.#options.api.request<V1Secret>({ method: 'GET', path });
        const isOurs = Object.entries(OURS).every(([label, value]) => metadata?.labels?.[label] === value);
        if (!isOurs) return 'foreign';
        // It names the version that was looked at, so nothing is overwritten unseen. A patch: the chart grants no update.
        const { uid, resourceVersion } = metadata ?? {};
        const dropped = Object.fromEntries(Object.keys(old).map((key) => [key, null]));
        const body = { metadata: { uid, resourceVersion }, data: { ...dropped, ...encoded(data) } };
        await this.#options.api.request({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
        return 'updated';
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return 'missing';
        if (error instanceof ApiError && error.status === 409 && tries < CONFLICTS_MAX) continue;
        throw error;
      }
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#polling;
  }

  async #poll(): Promise<void> {
    const { random, observe, pollMs = POLL_MS } = this.#options;
    const { signal } = this.#closed;
    while (!signal.aborted) {
      await sleep(pollMs.min + random() * (pollMs.max - pollMs.min), undefined, { signal }).catch(() => {});
      for (const [path, watched] of this.#watched) {
        if (signal.aborted) return;
        await this.#compare(path, watched).catch((error) => {
          observe({ kind: 'background_failed', task: 'secrets', error });
        });
      }
    }
  }

  async #compare(path: string, watched: Watched): Promise<void> {
    // Another version of an object asks for what it needs when it is reconciled.
    for (const [key, asker] of watched.keys) {
      if (asker === undefined || this.#options.get(key) !== asker) watched.keys.delete(key);
    }
    if (watched.keys.size === 0) {
      this.#watched.delete(path);
      return;
    }
    const { state } = watched;
    const found = await this.#look(path);
    if (found.state === 'unknown' || watched.state !== state || found.state === state) return;
    watched.state = found.state;
    this.#tell([...watched.keys.keys()]);
  }

  async #look(path: string): Promise<{ state: string; secret?: V1Secret; error?: ApiError }> {
    const { api } = this.#options;
    try {
      const secret = await api.request<V1Secret>({ method: 'GET', path, signal: this.#closed.signal });
      return { state: `${secret.metadata?.uid} ${secret.metadata?.resourceVersion}`, secret };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 404) return { state: 'missing' };
      return { state: error.status === 403 ? 'refused' : 'unknown', error };
    }
  }

  #tell(keys: readonly Key[]): void {
    if (keys.length > 0) this.#options.changed(keys);
  }
}

function pathOf(namespace: string, name?: string): string {
  const all = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`;
  return name === undefined ? all : `${all}/${encodeURIComponent(name)}`;
}

function encoded(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')]));
}

function dataOf({ data = {} }: V1Secret): Readonly<Record<string, Buffer>> {
  return Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text, 'base64')]));
}
