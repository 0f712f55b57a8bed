/**
 * Owns the metrics: Prometheus series, and which observations they are made of. A room makes its own (Room.metrics). Tenants are
 * not labels: there may be 100,000.
 */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { Durations } from './durations.ts';
import type { Observation } from './observe.ts';

const SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

export type Metrics = { registry: Registry; record(observation: Observation): void };

/** By the kind of an observation, what becomes of it. Each kind has one recorder. */
export type Recorders = {
  [Kind in Observation['kind']]?: (observation: Extract<Observation, { kind: Kind }>) => void;
};

/** Makes series, whose names begin with accord_. */
export type Meters = {
  counter(name: string, help: string, labelNames?: string[]): Counter;
  /** A counter that is asked when somebody scrapes: finding a labelled counter took 0.3 us of each decision. */
  counted(name: string, help: string, label: string, counts: () => Readonly<Record<string, number>>): void;
  /** Of seconds. */
  histogram(name: string, help: string): Durations;
  gauge(name: string, help: string, value: () => number): void;
};

function metersOf(registry: Registry): Meters {
  const registers = [registry];
  return {
    counter: (name, help, labelNames = []) => new Counter({ name: `accord_${name}`, help, labelNames, registers }),
    counted(name, help, label, counts) {
      new Counter({
        ...{ name: `accord_${name}`, help, labelNames: [label], registers },
        collect() {
          this.reset();
          for (const [value, count] of Object.entries(counts())) this.inc({ [label]: value }, count);
        },
      });
    },
    histogram: (name, help) => Durations.register(registry, { name: `accord_${name}`, help, boundsSeconds: SECONDS }),
    gauge(name, help, value) {
      new Gauge({
        ...{ name: `accord_${name}`, help, registers },
        collect() {
          this.set(value());
        },
      });
    },
  };
}

/** Of what belongs to no room. */
function groundRecorders(meters: Meters): Recorders {
  const tokensRefused = meters.counter('tokens_refused_total', 'Tokens refused by reason.', ['reason']);
  const reconciled = meters.counter('reconciled_total', 'Resources reconciled by result.', ['ready']);
  const resumed = 'Watches that ended and were resumed.';
  const watchesResumed = meters.counter('kubernetes_watches_resumed_total', resumed, ['resource']);
  const read = 'Lists of a resource that were read as a whole.';
  const relists = meters.counter('kubernetes_relists_total', read, ['resource']);
  const massDeletionsHeld = meters.counter(
    'mass_deletions_held_total',
    'Mass deletions that are held until somebody confirms them.',
  );
  const wakeupsMissed = meters.counter(
    'wakeups_missed_total',
    'Manifests that the operator looked at too late; a fault of it.',
  );
  const nothing = () => {};
  return {
    token_refused: ({ reason }) => tokensRefused.inc({ reason }),
    reconciled: ({ ready }) => reconciled.inc({ ready: String(ready) }),
    watch_resumed: ({ resource }) => watchesResumed.inc({ resource }),
    relisted: ({ resource }) => relists.inc({ resource }),
    mass_deletion_held: () => massDeletionsHeld.inc(),
    wakeup_missed: () => wakeupsMissed.inc(),
    migrated: nothing,
    jwks_fetched: nothing,
    listen_reconnected: nothing,
    database_back: nothing,
  };
}

/**
 * What nobody records is a failure, and counted by its kind.
 * @param makers of the rooms
 * @throws Error when one kind of observation is recorded by two
 */
export function createMetrics(makers: readonly ((meters: Meters) => Recorders | undefined)[]): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const meters = metersOf(registry);
  const failures = meters.counter('failures_total', 'Failures by what failed.', ['kind']);
  const recorders: Record<string, (observation: never) => void> = {};
  for (const make of [groundRecorders, ...makers]) {
    for (const [kind, recorder] of Object.entries(make(meters) ?? {})) {
      if (kind in recorders) throw new Error(`the observation ${kind} is recorded by two rooms`);
      recorders[kind] = recorder as (observation: never) => void;
    }
  }
  const record = (observation: Observation): void => {
    const recorder = recorders[observation.kind];
    if (recorder === undefined) failures.inc({ kind: observation.kind });
    else recorder(observation as never);
  };
  return { registry, record };
}
