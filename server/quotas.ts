/**
 * Owns limits.maxRequestsPerSecond of a tenant: as many requests in a second as its Tenant says, of all its callers
 * together, on each server. Only callers who were let in are counted, so that no stranger uses a tenant's share up.
 */
import { Buckets } from './buckets.ts';
import type { Clock } from './core/clock.ts';
import type { App } from './core/http.ts';
import { limits } from './core/limits.ts';
import { quotaExceeded } from './core/quota.ts';
import type { Snapshots } from './snapshot/index.ts';

type QuotaServices = { snapshots: Pick<Snapshots, 'get'>; clock: Clock };

/**
 * To be registered after access.ts.
 * @returns counts so many more of a tenant for a request that holds them; it throws Problem rate_limited
 */
export function registerQuotas(app: App, { snapshots, clock }: QuotaServices): (tenant: string, count: number) => void {
  const buckets = new Buckets(limits.rateLimitCallersMax);
  const perSecondOf = (tenant: string) => snapshots.get(tenant)?.spec.limits?.maxRequestsPerSecond;
  app.addHook('onRequest', (request, _reply, done) => {
    const { tenant } = request.params as { tenant?: string };
    if (tenant === undefined || request.caller === null) return done();
    const perSecond = perSecondOf(tenant);
    if (perSecond === undefined) return done();
    const left = buckets.take(tenant, perSecond, clock.monotonic());
    done(left < 0 ? exceeded(perSecond, left) : undefined);
  });
  return (tenant, count) => {
    const perSecond = perSecondOf(tenant);
    if (perSecond === undefined) return;
    const left = buckets.takeMore(tenant, count, perSecond, clock.monotonic());
    if (left < 0) throw exceeded(perSecond, left);
  };
}

/** @param left minus the milliseconds until the tenant may again */
function exceeded(perSecond: number, left: number) {
  const detail = `The tenant may make ${perSecond} requests a second (limits.maxRequestsPerSecond of its Tenant).`;
  return quotaExceeded({ name: 'tenant', count: perSecond, windowMs: 1000 }, -left, detail);
}
