/**
 * How many log-ins, pushed requests and device codes a network may begin on this server. Nobody has to prove who it is for these, and each is a
 * row until it expires.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.ts';
import { limits } from '../core/limits.ts';
import { networkOf } from '../core/outbound/addresses.ts';
import { refill, type TokenBucket } from '../core/token-bucket.ts';

/** The models of what is begun; a log-in is an Interaction, and a Session here is one of nobody, which a form is compared with. */
const perSecond: Readonly<Record<string, number>> = {
  DeviceCode: limits.beginningsPerSecondMax,
  Interaction: limits.beginningsPerSecondMax,
  Session: limits.beginningsPerSecondMax,
  // They are gone after a minute.
  PushedAuthorizationRequest: limits.pushedRequestsPerSecondMax,
};

export class Beginnings {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #buckets = new LRUCache<string, TokenBucket>({ max: limits.rateLimitAddressesMax });

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** @returns whether the network may store another record of the model, which counts then */
  take(tenant: string, model: string, ip: string): boolean {
    const rate = perSecond[model];
    if (rate === undefined) return true;
    const key = `${tenant} ${model} ${networkOf(ip)}`;
    const now = this.#clock.monotonic();
    const bucket = this.#buckets.get(key) ?? { tokens: limits.beginningsBurstMax, at: now };
    this.#buckets.set(key, bucket);
    refill(bucket, rate, limits.beginningsBurstMax, now);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }
}
