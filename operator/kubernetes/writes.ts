/**
 * What the operator writes to its objects: the status, and the finalizer that keeps an object from vanishing before its
 * rows did. Nothing is written that is there already, and never more at once than the API server bears.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../server/core/clock.ts';
import { limits } from '../../server/core/limits.ts';
import type { Observe } from '../../server/core/observe.ts';
import { Throttle } from '../../server/core/token-bucket.ts';
import type { ResourceStatus, SourceObject, StatusTarget } from '../source.ts';
import { ApiError, type KubernetesApi } from './api.ts';
import { pathOf, statusDigest } from './convert.ts';
import { FINALIZER, type ObjectCache } from './object-cache.ts';
import type { RawObject } from './reflector.ts';

type Target = Pick<StatusTarget, 'key' | 'kind' | 'namespace' | 'name' | 'uid'>;

/** The rest of an object is Rego that we have already. */
const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
/** Somebody else wrote at the same time. */
const CONFLICTS_MAX = 8;

type WritesOptions = {
  api: KubernetesApi;
  store: ObjectCache;
  /** Whether what is not stored of the kind is not there. */
  complete: (kind: Target['kind']) => boolean;
  clock: Clock;
  observe: Observe;
};

export class Writes {
  readonly #options: WritesOptions;
  readonly #rate: Throttle;

  constructor(options: WritesOptions) {
    this.#options = options;
    const perSecond = limits.kubernetesWritesPerSecondMax;
    this.#rate = new Throttle({ perSecond, burst: perSecond, monotonic: () => options.clock.monotonic() });
  }

  /** @throws {ApiError} when it cannot be written now; an object that is gone needs none */
  async status(target: Target, status: ResourceStatus): Promise<void> {
    const entry = this.#options.store.entry(target.key);
    if (this.#isGone(target)) return;
    if (entry?.object.uid === target.uid && entry.status === statusDigest(status)) return;
    // The status subresource takes no notice of metadata in a merge, so whose status it is must be tested.
    const body = [
      { op: 'test', path: '/metadata/uid', value: target.uid },
      { op: 'add', path: '/status', value: status },
    ];
    try {
      await this.#untilNoConflict(target, () =>
        this.#patch(`${pathOf(target)}/status`, target, { contentType: 'application/json-patch+json', body, status }),
      );
    } catch (error) {
      this.#throwUnlessInvalid(target, error);
    }
  }

  /** Puts our finalizer on the object. @throws {ApiError} */
  async addFinalizer(object: SourceObject): Promise<void> {
    try {
      await this.#finalizers(object, ({ finalizers, deleting }) =>
        deleting || finalizers.includes(FINALIZER) ? undefined : [...finalizers, FINALIZER],
      );
    } catch (error) {
      this.#throwUnlessInvalid(object, error);
    }
  }

  /** Takes our finalizer away. @throws {ApiError} */
  async removeFinalizer(target: Target): Promise<void> {
    await this.#finalizers(target, ({ finalizers }) =>
      finalizers.includes(FINALIZER) ? finalizers.filter((one) => one !== FINALIZER) : undefined,
    );
  }

  /** @param next the finalizers that it should have, undefined where they are right */
  async #finalizers(
    target: Target,
    next: (now: { finalizers: readonly string[]; deleting: boolean }) => readonly string[] | undefined,
  ): Promise<void> {
    if (this.#isGone(target)) return;
    let fresh = false;
    await this.#untilNoConflict(target, async () => {
      const now = (fresh ? undefined : this.#stored(target)) ?? (await this.#read(target));
      fresh = true; // what is stored led to a conflict
      if (now.uid !== target.uid) return;
      const finalizers = next(now);
      if (finalizers === undefined) return;
      const body = { metadata: { uid: target.uid, resourceVersion: now.version, finalizers } };
      await this.#patch(pathOf(target), target, { contentType: 'application/merge-patch+json', body });
    });
  }

  #stored({ key }: Target) {
    const entry = this.#options.store.entry(key);
    if (entry === undefined) return undefined;
    const { uid, deleting } = entry.object;
    return { uid, deleting, version: entry.version, finalizers: entry.finalizers };
  }

  async #read(target: Target) {
    const { metadata } = await this.#options.api.request<RawObject>({ method: 'GET', path: pathOf(target) });
    const { uid, resourceVersion: version, finalizers = [] } = metadata;
    return { uid, version, finalizers, deleting: metadata.deletionTimestamp !== undefined };
  }

  /** @param status what the API server will have then; absent where it is not touched */
  async #patch(
    path: string,
    { kind }: Target,
    { contentType, body, status }: { contentType: string; body: unknown; status?: ResourceStatus },
  ): Promise<void> {
    const waitMs = this.#rate.reserve();
    if (waitMs > 0) await sleep(waitMs);
    const { api, store } = this.#options;
    const { metadata } = await api.request<Pick<RawObject, 'metadata'>>({
      ...{ method: 'PATCH', path, contentType, body },
      accept: METADATA_ONLY,
    });
    store.wrote(kind, metadata, status && statusDigest(status));
  }

  /** Tries again after a conflict. That the object is gone, or another one has its name, is as good as done. */
  async #untilNoConflict(target: Target, write: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (error.status === 404) return;
        if (error.status === 409 && tries < CONFLICTS_MAX) continue;
        // A test that fails is answered with 422.
        if ((error.status === 409 || error.status === 422) && (await this.#isAnother(target))) return;
        throw error;
      }
    }
  }

  async #isAnother(target: Target): Promise<boolean> {
    try {
      return (await this.#read(target)).uid !== target.uid;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return true;
      throw error;
    }
  }

  /**
   * Where a field has another type than the CRD says by now, the API server takes no change of the object at all: it goes
   * without status, and without waiting for us. Everything else is tried again.
   */
  #throwUnlessInvalid({ key }: Target, error: unknown): void {
    this.#options.observe({ kind: 'status_failed', resource: key, error });
    if (!(error instanceof ApiError && error.status === 422)) throw error;
  }

  #isGone(target: Target): boolean {
    const { store, complete } = this.#options;
    return complete(target.kind) && store.entry(target.key)?.object.uid !== target.uid;
  }
}
