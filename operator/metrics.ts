/**
 * The operator's metrics. An operator by itself has a registry of its own; beside a server in one process its series
 * join the server's. Tenants are not labels: there may be 100,000.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Recorders } from '../server/core/metrics.ts';
import { isFailure, type Observation, type Observe } from '../server/core/observe.ts';
import type { OperatorState, Worked } from './index.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export type OperatorMetrics = {
  registry: Registry;
  record: Observe;
  worked: (result: Worked, ms: number) => void;
  /** What the gauges show from now on. */
  follow: (state: () => OperatorState) => void;
};

/** @param shared the registry of a server in the same process, which counts failures and compiles */
export function createOperatorMetrics(shared?: Registry): OperatorMetrics {
  const registry = shared ?? new Registry();
  const registers = [registry];
  let state: () => OperatorState = () => ({ leading: false, queued: 0, resources: [] });
  const gauge = (name: string, help: string, labelNames: string[], collect: (gauge: Gauge) => void) =>
    new Gauge({
      ...{ name: `accord_operator_${name}`, help, labelNames, registers },
      collect() {
        collect(this);
      },
    });
  gauge('leader', '1 while this operator leads.', [], (one) => one.set(state().leading ? 1 : 0));
  gauge('queue_depth', 'Keys in flight or queued.', [], (one) => one.set(state().queued));
  gauge('resources', 'Manifests that the leader knows, by kind and readiness.', ['kind', 'ready'], (one) => {
    one.reset();
    for (const { kind, ready, count } of state().resources) one.set({ kind, ready: String(ready) }, count);
  });
  const seconds = new Histogram({
    name: 'accord_operator_reconcile_seconds',
    help: 'Duration of one reconcile, by result.',
    labelNames: ['result'],
    buckets: SECONDS,
    registers,
  });
  const recorders = operatorRecorders((name, help, labels = []) => counterOf(registry, name, help, labels));
  const rest = shared === undefined ? recordRest(registry) : () => {};
  return {
    registry,
    record(observation) {
      (recorders[observation.kind] as ((observation: Observation) => void) | undefined)?.(observation);
      rest(observation);
    },
    worked: (result, ms) => seconds.observe({ result }, ms / 1000),
    follow(of) {
      state = of;
    },
  };
}

type MakeCounter = (name: string, help: string, labelNames?: string[]) => Counter;

function operatorRecorders(counter: MakeCounter): Recorders {
  const reconciled = counter('reconciled_total', 'Resources reconciled by result.', ['ready']);
  const restarts = counter('operator_watch_restarts_total', 'Watches restarted, by resource.', ['resource']);
  const relists = counter('operator_relists_total', 'Full lists read, by resource.', ['resource']);
  const held = counter('mass_deletions_held_total', 'Mass deletions held until they are confirmed.');
  const missed = counter(
    'wakeups_missed_total',
    'Manifests that were reconciled by a resync only, because a wake-up was missed; a defect of the operator.',
  );
  return {
    reconciled: ({ ready }) => reconciled.inc({ ready: String(ready) }),
    watch_resumed: ({ resource }) => restarts.inc({ resource }),
    relisted: ({ resource }) => relists.inc({ resource }),
    mass_deletion_held: () => held.inc(),
    wakeup_missed: () => missed.inc(),
  };
}

/** What a server's metrics count too, by the same names. */
function recordRest(registry: Registry): (observation: Observation) => void {
  collectDefaultMetrics({ register: registry });
  const compiles = counterOf(registry, 'compiles_total', 'Policies compiled.', ['result']);
  const failures = counterOf(registry, 'failures_total', 'Failures by what failed.', ['kind']);
  return (observation) => {
    const { kind } = observation;
    if (isFailure(kind)) failures.inc({ kind });
    if (kind !== 'policy_compiled') return;
    compiles.inc({ result: observation.cached ? 'cached' : observation.ok ? 'ok' : 'refused' });
  };
}

function counterOf(registry: Registry, name: string, help: string, labelNames: string[]): Counter {
  return new Counter({ name: `accord_${name}`, help, labelNames, registers: [registry] });
}
