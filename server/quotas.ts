/**
 * Owns limits.maxRequestsPerSecond of a tenant: as many requests in a second as its Tenant says, of all its callers
 * together, on each server. Only callers who were let in are counted, so that no stranger uses a tenant's share up.
 */
import type { Clock } from './core/clock.ts';
import type { App } from './core/http.ts';
import { problem } from './core/problems.ts';
import type { Snapshots } from './snapshot/index.ts';

/** A second's worth of requests, refilled as time goes by. */
type Bucket = { left: number; at: number };

/** To be registered after access.ts. */
export function registerQuotas(
  app: App,
  { snapshots, clock }: { snapshots: Pick<Snapshots, 'get'>; clock: Clock },
): void {
  const buckets = new Map<string, Bucket>();
  app.addHook('onRequest', (request, _reply, done) => {
    const { tenant } = request.params as { tenant?: string };
    if (tenant === undefined || request.caller === null) return done();
    const perSecond = snapshots.get(tenant)?.spec.limits?.maxRequestsPerSecond;
    if (perSecond === undefined) return done();
    const bucket = buckets.get(tenant) ?? { left: perSecond, at: clock.monotonic() };
    buckets.set(tenant, bucket);
    if (take(bucket, perSecond, clock.monotonic())) return done();
    const detail = `The tenant may make ${perSecond} requests a second (limits.maxRequestsPerSecond of its Tenant).`;
    done(problem('rate_limited', { detail, headers: { 'retry-after': '1' } }));
  });
}

/** @param now ms */
function take(bucket: Bucket, perSecond: number, now: number): boolean {
  bucket.left = Math.min(perSecond, bucket.left + ((now - bucket.at) / 1000) * perSecond);
  bucket.at = now;
  if (bucket.left < 1) return false;
  bucket.left--;
  return true;
}
