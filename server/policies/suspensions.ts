/**
 * Which policies and tenants are off the main thread for a while, because evaluations exhausted their budget or ended
 * in conflicts again and again.
 */
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import { Strikes } from './strikes.ts';

const windowed = (count: number) => new Strikes(count, limits.suspendWindowMs, limits.strikeKeysMax);

/** `key`: of tenant and artifact. */
export type Suspect = { tenant: string; policy: string; key: string };

export class Suspensions {
  readonly #observe: Observe;
  readonly #policies = windowed(limits.suspendStrikes);
  readonly #tenants = windowed(limits.suspendTenantStrikes);
  readonly #conflicts = windowed(limits.suspendConflicts);

  constructor(observe: Observe) {
    this.#observe = observe;
  }

  /** @param now milliseconds, monotonic */
  isSuspended(tenant: string, key: string, now: number): boolean {
    return this.#policies.isOut(key, now) || this.#tenants.isOut(tenant, now) || this.#conflicts.isOut(key, now);
  }

  strike(suspect: Suspect, now: number): void {
    this.#count(this.#policies, suspect, now);
    this.#tenants.add(suspect.tenant, now);
  }

  /** A conflict is cheap on a plan, but it costs a Wasm instance: making the next took 0.1 to 3 ms, with garbage of megabytes. */
  conflict(suspect: Suspect, now: number): void {
    this.#count(this.#conflicts, suspect, now);
  }

  /** Of a policy that is suspended: it stays so while it goes on. */
  again(key: string, how: 'costly' | 'conflict', now: number): void {
    (how === 'costly' ? this.#policies : this.#conflicts).add(key, now);
  }

  #count(strikes: Strikes, { tenant, policy, key }: Suspect, now: number): void {
    const before = strikes.isOut(key, now);
    strikes.add(key, now);
    if (!before && strikes.isOut(key, now)) this.#observe({ kind: 'policy_suspended', tenant, policy });
  }
}
