/**
 * How many requests a second one caller may send to this server. A verified caller is counted as who it is: no way
 * of writing its header, and no second token, gets it a new count. Everything before that is counted by its address, and
 * given back when a member's token turns out to be good, so that an office behind one address is not held up by its own
 * number. Synchronous, because every decision passes here. Only who is refused is told its limit: three headers on every
 * answer cost more than counting.
 */

import type { Caller } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import { limits } from '../core/limits.ts';
import { networkOf } from '../core/outbound/addresses.ts';
import { quotaExceeded } from '../core/quota.ts';
import { Buckets } from './buckets.ts';

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

  /**
   * Counts a request whose caller is not known yet.
   * @param scarce it counts for as many as leave limits.scarcePerSecondMax in a second
   * @throws Problem rate_limited
   */
  countAddress(address: string, scarce = false): void {
    const [network, now] = [networkOf(address), this.#clock.monotonic()];
    const count = this.#max / limits.scarcePerSecondMax;
    if (scarce && count > 1) this.#check(this.#addresses.takeMore(network, count, this.#max, now));
    else this.#check(this.#addresses.take(network, this.#max, now));
  }

  /** The token behind a request was good: its address does not pay for it. */
  giveBackAddress(address: string): void {
    this.#addresses.giveBack(networkOf(address));
  }

  /** Counts a request of a verified caller. @throws Problem rate_limited */
  countCaller(caller: Caller): void {
    this.#check(this.#callers.take(keyOf(caller), this.#max, this.#clock.monotonic()));
  }

  /** Counts that a request holds so many more. @throws Problem rate_limited */
  countMore(caller: Caller, count: number): void {
    this.#check(this.#callers.takeMore(keyOf(caller), count, this.#max, this.#clock.monotonic()));
  }

  /**
   * Counts that a request's body stands for so many more, of the caller or, if it is not known, of the address. It
   * refuses nothing itself: the requests after it pay.
   */
  charge({ caller, ip }: { caller: Caller | null; ip: string }, count: number): void {
    const now = this.#clock.monotonic();
    if (caller !== null) this.#callers.takeMore(keyOf(caller), count, this.#max, now);
    else this.#addresses.takeMore(networkOf(ip), count, this.#max, now);
  }

  /** @param left what a bucket says: minus the milliseconds until it gives again, or all is well */
  #check(left: number): void {
    if (left >= 0) return;
    throw quotaExceeded({ name: 'caller', count: this.#max, windowMs: 1000 }, -left);
  }
}

/** The caller of a cached token is one object: making its key anew, and hashing it, took 0.3 us of each decision. */
const keys = new WeakMap<Caller, string>();

function keyOf(caller: Caller): string {
  let key = keys.get(caller);
  if (key === undefined) {
    key = nameOf(caller);
    keys.set(caller, key);
  }
  return key;
}

/** Who it is, in one text: kinds and tenants hold no colon, and issuers no space. Ids are bounded (subjectCharsMax). */
function nameOf(caller: Caller): string {
  if (caller.kind === 'backend') return `backend:${caller.tenant}:${caller.issuer} ${caller.clientId}`;
  if (caller.kind === 'user') return `user:${caller.tenant}:${caller.actor.type}:${caller.actor.id}`;
  return `member:${caller.tenant}:${caller.id}`;
}
