/**
 * The metrics: Prometheus series, and which observations they are made of. A room makes its own (Room.metrics). Tenants are
 * not labels: there may be 100,000.
 */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { Durations } from './durations.ts';
import { isFailure, type Observation } from './observe.ts';

const SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

export type Metrics = { registry: Registry; record(observation: Observation): void };

/** By the kind of an observation, what becomes of it. A kind has one recorder at most. */
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
  return { token_refused: ({ reason }) => tokensRefused.inc({ reason }) };
}

/**
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
    const { kind } = observation;
    if (isFailure(kind)) failures.inc({ kind });
    recorders[kind]?.(observation as never);
  };
  return { registry, record };
}
