/**
 * Decisions by tenant and policy, in a bounded number of series: those of the policies that are asked most. A decision is counted
 * in the series of its policy, or else in that of all others, so that no series ever decreases: a policy that gets series of its
 * own begins at 0.
 */
import type { Clock } from '../core/clock.ts';
import { limits } from '../core/limits.ts';
import type { Count } from '../core/metrics.ts';

export type Outcomes = { allow: number; deny: number; object: number };

/** No tenant and no policy is called so. */
const OTHER = '(other)';
const NO_POLICY = '(none)';

type Slot = {
  readonly tenant: string;
  readonly policy: string;
  /** Whether it has series of its own. */
  exposed: boolean;
  outcomes: Outcomes;
  /** Decisions in this round. */
  recent: number;
};

const nothing = (): Outcomes => ({ allow: 0, deny: 0, object: 0 });

export class PolicyDecisions {
  readonly #max: number;
  readonly #clock: Clock;
  readonly #tenants = new Map<string, Map<string, Slot>>();
  readonly #other = nothing();
  #exposed = 0;
  /** Policies without series of their own that are counted, to know which of them are asked most. */
  #waiting = 0;
  #roundSince: number;

  /** @param max policies with series of their own */
  constructor(max: number, clock: Clock) {
    this.#max = max;
    this.#clock = clock;
    this.#roundSince = clock.monotonic();
  }

  /** @param policy absent: there is none of the name that was asked, which callers choose freely */
  add(tenant: string, policy: string | undefined, outcome: keyof Outcomes): void {
    const slot = this.#tenants.get(tenant)?.get(policy ?? NO_POLICY) ?? this.#addSlot(tenant, policy ?? NO_POLICY);
    if (slot === undefined) {
      this.#other[outcome]++;
      return;
    }
    slot.recent++;
    if (slot.exposed) slot.outcomes[outcome]++;
    else this.#other[outcome]++;
  }

  /** For a scrape. */
  counts(): Count[] {
    const now = this.#clock.monotonic();
    if (now - this.#roundSince >= limits.policySeriesRoundMs) this.#endRound(now);
    const counts: Count[] = [];
    const tell = (tenant: string, policy: string, outcomes: Outcomes) => {
      for (const [outcome, value] of Object.entries(outcomes))
        counts.push({ labels: { tenant, policy, outcome }, value });
    };
    for (const { tenant, policy, exposed, outcomes } of this.#slots()) if (exposed) tell(tenant, policy, outcomes);
    tell(OTHER, OTHER, this.#other);
    return counts;
  }

  /** Undefined when there is no room for another policy in this round. */
  #addSlot(tenant: string, policy: string): Slot | undefined {
    const exposed = this.#exposed < this.#max;
    if (!exposed && this.#waiting >= limits.policySeriesWaitingMax) return undefined;
    if (exposed) this.#exposed++;
    else this.#waiting++;
    const slot = { tenant, policy, exposed, outcomes: nothing(), recent: 0 };
    const known = this.#tenants.get(tenant);
    if (known) known.set(policy, slot);
    else this.#tenants.set(tenant, new Map([[policy, slot]]));
    return slot;
  }

  /** Policies that were asked more than twice as often as one with series get its place; those that still wait are forgotten. */
  #endRound(now: number): void {
    this.#roundSince = now;
    const slots = [...this.#slots()].sort((a, b) => b.recent - a.recent);
    const busiest = slots.filter(({ exposed }) => !exposed);
    const idlest = slots.filter(({ exposed }) => exposed).reverse();
    for (const [index, slot] of busiest.entries()) {
      const place = idlest[index];
      if (place === undefined || slot.recent <= 2 * place.recent) break;
      place.exposed = false;
      slot.exposed = true;
    }
    for (const slot of slots) {
      slot.recent = 0;
      if (!slot.exposed) this.#forget(slot);
    }
    this.#waiting = 0;
  }

  #forget({ tenant, policy }: Slot): void {
    const known = this.#tenants.get(tenant);
    known?.delete(policy);
    if (known?.size === 0) this.#tenants.delete(tenant);
  }

  *#slots(): Iterable<Slot> {
    for (const known of this.#tenants.values()) yield* known.values();
  }
}
