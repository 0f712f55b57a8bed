/**
 * The metrics: Prometheus series, and which observations they are made of. A room makes its own (Room.metrics). Tenants are
 * not labels, because there may be 100,000, except where the number of series is bounded (authz/policy-decisions.ts).
 */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { Durations, LabelledDurations, type Labels } from './durations.ts';
import { isFailure, type Observation } from './observe.ts';

const SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Of requests, which may be streams: few buckets, because each route and status has all of them. */
const REQUEST_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10];

export type Metrics = {
  registry: Registry;
  record(observation: Observation): void;
  /** Durations of HTTP requests by method, route and status. */
  requests: LabelledDurations;
};

/** By the kind of an observation, what becomes of it. A kind has one recorder at most. */
export type Recorders = {
  [Kind in Observation['kind']]?: (observation: Extract<Observation, { kind: Kind }>) => void;
};

/** The value of one series. */
export type Count = { labels: Labels; value: number };

/** Makes series, whose names begin with accord_. */
export type Meters = {
  counter(name: string, help: string, labelNames?: string[]): Counter;
  /** A counter that is asked when somebody scrapes: finding a labelled counter took 0.3 us of each decision. */
  counted(name: string, help: string, labelNames: string[], counts: () => Iterable<Count>): void;
  /** Of seconds. */
  histogram(name: string, help: string): Durations;
  gauge(name: string, help: string, value: () => number): void;
};

function metersOf(registry: Registry): Meters {
  const registers = [registry];
  return {
    counter: (name, help, labelNames = []) => new Counter({ name: `accord_${name}`, help, labelNames, registers }),
    counted(name, help, labelNames, counts) {
      new Counter({
        ...{ name: `accord_${name}`, help, labelNames, registers },
        collect() {
          this.reset();
          for (const { labels, value } of counts()) this.inc(labels, value);
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
  const requests = LabelledDurations.register(
    registry,
    { name: 'accord_http_request_duration_seconds', help: 'Time of HTTP requests.', boundsSeconds: REQUEST_SECONDS },
    ['method', 'route', 'status'],
  );
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
  return { registry, record, requests };
}
