import type { Meters, Recorders } from '../core/metrics.ts';

export function meterDecisions(meters: Meters): Recorders {
  const outcomes = { allow: 0, deny: 0, object: 0 };
  meters.counted('decisions_total', 'Decisions by outcome.', 'outcome', () => outcomes);
  const seconds = meters.histogram('decision_seconds', 'Time of a decision, without HTTP.');
  const help = 'Decisions that deny because the policy could not be used.';
  const failures = meters.counter('decision_failures_total', help, ['reason']);
  const dropped = meters.counter('decision_log_dropped_total', 'Decision records that were not written.');
  return {
    decided({ outcome, ms }) {
      outcomes[outcome]++;
      seconds.add(ms / 1000);
    },
    decision_failed: ({ reason }) => failures.inc({ reason }),
    decision_log_dropped: ({ count }) => dropped.inc(count),
  };
}
