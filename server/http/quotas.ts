/**
 * limits.maxRequestsPerSecond of a tenant: as many requests in a second as its Tenant says, of all its callers
 * together, on each server. Only callers who were let in are counted, so that no stranger uses a tenant's share up.
 */
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../core/clock.ts';
import { limits } from '../core/limits.ts';
import { quotaExceeded } from '../core/quota.ts';
import { counted } from '../core/text.ts';
import { Buckets } from './buckets.ts';
import type { App, CountMore } from './fastify.ts';

/**
 * To be registered after access.ts.
 * @returns counts so many more of a tenant for a request that holds them; it throws Problem rate_limited
 */
export function registerQuotas(app: App, { clock }: { clock: Clock }): CountMore {
  const buckets = new Buckets(limits.rateLimitCallersMax);
  const perSecondOf = ({ tenant }: FastifyRequest) => tenant?.newest?.spec.limits?.maxRequestsPerSecond;
  app.addHook('onRequest', (request, _reply, done) => {
    const { tenant, caller } = request;
    if (tenant === null || caller === null) return done();
    const perSecond = perSecondOf(request);
    if (perSecond === undefined) return done();
    const left = buckets.take(tenant.code, perSecond, clock.monotonic());
    done(left < 0 ? exceeded(perSecond, left) : undefined);
  });
  return (request, count) => {
    const perSecond = perSecondOf(request);
    if (perSecond === undefined || request.tenant === null) return;
    const left = buckets.takeMore(request.tenant.code, count, perSecond, clock.monotonic());
    if (left < 0) throw exceeded(perSecond, left);
  };
}

/** @param left minus the milliseconds until the tenant may again */
function exceeded(perSecond: number, left: number) {
  const detail = `The tenant may make ${counted(perSecond, 'request')} a second (limits.maxRequestsPerSecond of its Tenant).`;
  return quotaExceeded({ name: 'tenant', count: perSecond, windowMs: 1000 }, -left, detail);
}
