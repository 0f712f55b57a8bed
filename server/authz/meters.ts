import type { Clock } from '../core/clock.ts';
import type { Meters, Recorders } from '../core/metrics.ts';
import { type Outcomes, PolicyDecisions } from './policy-decisions.ts';

type Metered = {
  clock: Clock;
  /** Policies whose decisions have series of their own; 0: none are counted by policy. */
  policySeriesMax: number;
};

export function meterDecisions({ clock, policySeriesMax }: Metered, meters: Meters): Recorders {
  const outcomes: Outcomes = { allow: 0, deny: 0, object: 0 };
  meters.counted('decisions_total', 'Decisions by outcome.', ['outcome'], () =>
    Object.entries(outcomes).map(([outcome, value]) => ({ labels: { outcome }, value })),
  );
  const byPolicy = policySeriesMax > 0 ? new PolicyDecisions(policySeriesMax, clock) : undefined;
  if (byPolicy !== undefined) {
    const help = 'Decisions by tenant, policy and outcome, of a bounded number of policies.';
    meters.counted('policy_decisions_total', help, ['tenant', 'policy', 'outcome'], () => byPolicy.counts());
  }
  const seconds = meters.histogram('decision_seconds', 'Time of a decision, without HTTP.');
  const help = 'Decisions that deny because the policy could not be used.';
  const failures = meters.counter('decision_failures_total', help, ['reason']);
  const dropped = meters.counter('decision_log_dropped_total', 'Decision records that were not written.');
  return {
    decided({ tenant, policy, outcome, ms }) {
      outcomes[outcome]++;
      byPolicy?.add(tenant, policy, outcome);
      seconds.add(ms / 1000);
    },
    decision_failed: ({ reason }) => failures.inc({ reason }),
    decision_log_dropped: ({ count }) => dropped.inc(count),
  };
}
