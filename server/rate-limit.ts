/**
 * Owns how many requests a second one caller may send to this server. A verified caller is counted as who it is: no way
 * of writing its header, and no second token, gets it a new count. Everything before that is counted by its address, and
 * given back when a member's token turns out to be good, so that an office behind one address is not held up by its own
 * number. Synchronous, because every decision passes here; a count costs about a microsecond.
 */
import type { FastifyReply } from 'fastify';
import { Buckets } from './buckets.ts';
import { networkOf } from './core/auth/addresses.ts';
import type { Caller } from './core/auth/schema.ts';
import type { Clock } from './core/clock.ts';
import type { App } from './core/http.ts';
import { limits } from './core/limits.ts';
import { problem } from './core/problems.ts';

export class RateLimit {
  readonly #max: number;
  readonly #clock: Clock;
  readonly #addresses = new Buckets(limits.rateLimitAddressesMax);
  readonly #callers = new Buckets(limits.rateLimitCallersMax);

  /** @param max requests a second, of an address and of a caller */
  constructor(max: number, clock: Clock) {
    this.#max = max;
    this.#clock = clock;
  }

  /** Counts a request of nobody who is known yet. @throws Problem rate_limited */
  countAddress(address: string, reply: FastifyReply): void {
    this.#tell(this.#addresses.take(networkOf(address), this.#max, this.#clock.monotonic()), reply);
  }

  /** The token behind a request was good: its address does not pay for it. */
  giveBackAddress(address: string): void {
    this.#addresses.giveBack(networkOf(address));
  }

  /** Counts a request of a verified caller. @throws Problem rate_limited */
  countCaller(caller: Caller, reply: FastifyReply): void {
    this.#tell(this.#callers.take(keyOf(caller), this.#max, this.#clock.monotonic()), reply);
  }

  /** Counts that a request holds so many more. @throws Problem rate_limited */
  countMore(caller: Caller, count: number, reply: FastifyReply): void {
    this.#tell(this.#callers.takeMore(keyOf(caller), count, this.#max, this.#clock.monotonic()), reply);
  }

  #tell(left: number, reply: FastifyReply): void {
    const resetSeconds = left < 0 ? Math.ceil(-left / 1000) : 1;
    reply.header('ratelimit-limit', this.#max);
    reply.header('ratelimit-remaining', Math.max(0, Math.floor(left)));
    reply.header('ratelimit-reset', resetSeconds);
    if (left < 0) throw problem('rate_limited', { headers: { 'retry-after': String(resetSeconds) } });
  }
}

/** Counts requests that access.ts does not see: pages, and addresses without a route. */
export function limitOpenRoutes(app: App, rates: RateLimit): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.access !== undefined) return done();
    try {
      rates.countAddress(request.ip, reply);
      done();
    } catch (error) {
      done(error as Error);
    }
  });
}

/** Who it is, in one text: kinds and tenants hold no colon, and issuers no space. Ids are bounded (subjectCharsMax). */
function keyOf(caller: Caller): string {
  if (caller.kind === 'backend') return `backend:${caller.tenant}:${caller.issuer} ${caller.clientId}`;
  if (caller.kind === 'user') return `user:${caller.tenant}:${caller.actor.type}:${caller.actor.id}`;
  return `member:${caller.tenant}:${caller.id}`;
}
