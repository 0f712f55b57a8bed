/**
 * Removes our finalizer from every object, so that nothing waits for an operator that is being uninstalled. The rows stay
 * as they are; an operator that is installed again finds its objects and their rows.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { group, type Kind, kinds, version } from '../../crds/index.ts';
import type { Clock } from '../../server/core/clock.ts';
import { limits } from '../../server/core/limits.ts';
import type { KubernetesApi } from './api.ts';
import {
  FINALIZER_REMOVER,
  isConflict,
  isGone,
  type Lease,
  type LeasePlace,
  microTime,
  readLease,
  writeLease,
} from './lease-object.ts';
import { FINALIZER } from './object-cache.ts';
import { durationMsOf } from './seen-lease.ts';

type RemoveFinalizersOptions = LeasePlace & {
  api: Pick<KubernetesApi, 'request'>;
  /** Begins with `FINALIZER_REMOVER`. */
  identity: string;
  clock: Clock;
  /** Told what is waited for. */
  progress: (what: string) => void;
};

const PAGE_ITEMS = 500;
const RENEW_EVERY_MS = 10_000;

type Held = { metadata: { name: string; namespace?: string; resourceVersion: string; finalizers?: string[] } };
type Page = { metadata: { continue?: string }; items: Held[] };

/**
 * Takes the Lease, whoever holds it, so that no operator works for another 60 s; waits until the one that did must have
 * ended; and takes our finalizer off all objects of our kinds. Doing it again does nothing more.
 * @returns of how many objects
 * @throws ApiError
 */
export async function removeFinalizers(options: RemoveFinalizersOptions): Promise<number> {
  const { clock, progress } = options;
  let { lease, waitMs } = await seize(options);
  if (waitMs > 0) progress(`Waiting ${Math.ceil(waitMs / 1000)} s until the operator that led has ended`);
  await sleep(waitMs);
  let renewedAt = Number.NEGATIVE_INFINITY;
  let released = 0;
  const renew = async () => {
    if (clock.monotonic() - renewedAt < RENEW_EVERY_MS) return;
    renewedAt = clock.monotonic();
    lease = await writeLease(options, lease, { ...lease.spec, renewTime: microTime(clock.now()) }, {});
  };
  for (const kind of kinds) {
    progress(`Removing the finalizer from ${kind.plural}`);
    for await (const object of objectsOf(options.api, kind)) {
      await renew();
      if (await removeFrom(options.api, kind, object)) released++;
    }
  }
  renewedAt = Number.NEGATIVE_INFINITY;
  await renew();
  return released;
}

/** @returns the Lease as ours, and how long its last holder may go on working */
async function seize(options: RemoveFinalizersOptions): Promise<{ lease: Lease; waitMs: number }> {
  const { identity, clock } = options;
  for (;;) {
    const before = await readLease(options, {});
    const holder = before?.spec.holderIdentity ?? '';
    const now = microTime(clock.now());
    const leaseTransitions = (before?.spec.leaseTransitions ?? 0) + 1;
    const leaseDurationSeconds = limits.finalizerRemovalLeaseMs / 1000;
    const spec = { holderIdentity: identity, leaseDurationSeconds, leaseTransitions, acquireTime: now, renewTime: now };
    try {
      const lease = await writeLease(options, before, spec, {});
      const isLed = before !== undefined && holder !== '' && !holder.startsWith(FINALIZER_REMOVER);
      return { lease, waitMs: isLed ? durationMsOf(before) : 0 };
    } catch (error) {
      if (!isConflict(error) && !isGone(error)) throw error;
    }
  }
}

/** All objects of a kind, page by page; none where the kind is not installed. */
async function* objectsOf(api: RemoveFinalizersOptions['api'], kind: Kind): AsyncIterable<Held> {
  const path = `/apis/${group}/${version}/${kind.plural}`;
  let next: string | undefined;
  do {
    let page: Page;
    try {
      page = await api.request<Page>({ method: 'GET', path, query: { limit: PAGE_ITEMS, continue: next } });
    } catch (error) {
      if (isGone(error)) return;
      throw error;
    }
    yield* page.items;
    next = page.metadata.continue || undefined;
  } while (next !== undefined);
}

/** @returns whether there was something to take off */
async function removeFrom(api: RemoveFinalizersOptions['api'], kind: Kind, found: Held): Promise<boolean> {
  const { name, namespace } = found.metadata;
  const place = namespace === undefined ? '' : `/namespaces/${namespace}`;
  const path = `/apis/${group}/${version}${place}/${kind.plural}/${name}`;
  let { metadata } = found;
  for (;;) {
    const { resourceVersion, finalizers = [] } = metadata;
    if (!finalizers.includes(FINALIZER)) return false;
    const rest = finalizers.filter((one) => one !== FINALIZER);
    const body = { metadata: { resourceVersion, finalizers: rest } };
    try {
      await api.request({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
      return true;
    } catch (error) {
      if (isGone(error)) return false;
      if (!isConflict(error)) throw error;
    }
    try {
      metadata = (await api.request<Held>({ method: 'GET', path })).metadata;
    } catch (error) {
      if (isGone(error)) return false;
      throw error;
    }
  }
}
