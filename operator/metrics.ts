/**
 * The operator's metrics. An operator by itself has a registry of its own; beside a server in one process its series
 * join the server's. Tenants are not labels: there may be 100,000.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Observation, Observe } from '../server/core/observe.ts';
import type { OperatorState, Worked } from './index.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export type OperatorMetrics = {
  registry: Registry;
  record: Observe;
  worked: (result: Worked, ms: number) => void;
  /** What the gauges show from now on. */
  follow: (state: () => OperatorState) => void;
};

/** @param shared the registry of a server in the same process, which counts the rest */
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
  gauge('queue_depth', 'Keys in flight or waiting for their turn.', [], (one) => one.set(state().queued));
  gauge(
    'resources',
    'Manifests that the leader knows, by kind and whether they are ready.',
    ['kind', 'ready'],
    (one) => {
      one.reset();
      for (const { kind, ready, count } of state().resources) one.set({ kind, ready: String(ready) }, count);
    },
  );
  const seconds = new Histogram({
    name: 'accord_operator_reconcile_seconds',
    help: 'Time to look at one manifest, by how it went.',
    labelNames: ['result'],
    buckets: SECONDS,
    registers,
  });
  const restarts = new Counter({
    name: 'accord_operator_watch_restarts_total',
    help: 'Watches that ended and were begun again, by resource.',
    labelNames: ['resource'],
    registers,
  });
  const relists = new Counter({
    name: 'accord_operator_relists_total',
    help: 'Lists read from the beginning, by resource.',
    labelNames: ['resource'],
    registers,
  });
  const rest = shared === undefined ? recordRest(registry) : () => {};
  return {
    registry,
    record(observation) {
      if (observation.kind === 'watch_resumed') restarts.inc({ resource: observation.resource });
      if (observation.kind === 'relisted') relists.inc({ resource: observation.resource });
      rest(observation);
    },
    worked: (result, ms) => seconds.observe({ result }, ms / 1000),
    follow(of) {
      state = of;
    },
  };
}

/** What a server's metrics count too, by the same names. */
function recordRest(registry: Registry): (observation: Observation) => void {
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `accord_${name}`, help, labelNames, registers });
  const reconciled = counter('reconciled_total', 'Resources reconciled by result.', ['ready']);
  const massDeletionsHeld = counter(
    'mass_deletions_held_total',
    'Mass deletions that are held until somebody confirms them.',
  );
  const wakeupsMissed = counter(
    'wakeups_missed_total',
    'Manifests that the operator looked at too late; a fault of it.',
  );
  const compiles = counter('compiles_total', 'Policies compiled.', ['result']);
  const failures = counter('failures_total', 'Failures by what failed.', ['kind']);
  const failed = new Set(['reconcile_failed', 'source_failed', 'background_failed', 'database_lost', 'status_failed']);
  return (observation) => {
    if (observation.kind === 'reconciled') reconciled.inc({ ready: String(observation.ready) });
    else if (observation.kind === 'mass_deletion_held') massDeletionsHeld.inc();
    else if (observation.kind === 'wakeup_missed') wakeupsMissed.inc();
    else if (observation.kind === 'policy_compiled') {
      compiles.inc({ result: observation.cached ? 'cached' : observation.ok ? 'ok' : 'refused' });
    } else if (failed.has(observation.kind)) failures.inc({ kind: observation.kind });
  };
}
