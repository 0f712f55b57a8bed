/**
 * How long requests take, by method, route and status: from the moment when their headers are read until their answers are
 * handed to the operating system. By a channel of Node's diagnostics: for Fastify's onResponse each answer would get two more
 * listeners, which every decision would pay. Requests whose connections end before their answers are not counted.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyRequest, RouteOptions } from 'fastify';
import type { Clock } from '../core/clock.ts';
import type { Durations, LabelledDurations } from '../core/durations.ts';
import type { App } from './fastify.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set for each route that is registered after `measureRequests`. */
    durations?: RouteDurations;
  }
}

/** Of one method and route. */
class RouteDurations {
  readonly #requests: LabelledDurations;
  readonly #labels: { method: string; route: string };
  readonly #clock: Clock;
  readonly #byStatus = new Map<number, Durations>();

  constructor(requests: LabelledDurations, labels: { method: string; route: string }, clock: Clock) {
    this.#requests = requests;
    this.#labels = labels;
    this.#clock = clock;
  }

  begin(): Measured {
    return { of: this, started: this.#clock.monotonic() };
  }

  end(status: number, started: number): void {
    let durations = this.#byStatus.get(status);
    if (durations === undefined) {
      durations = this.#requests.series({ ...this.#labels, status: String(status) });
      this.#byStatus.set(status, durations);
    }
    durations.add((this.#clock.monotonic() - started) / 1000);
  }
}

type Measured = { readonly of: RouteDurations; readonly started: number };

const measured = Symbol('measured');
type MeasuredMessage = IncomingMessage & { [measured]?: Measured };

let isListening = false;

/** Once for all servers of this process. */
function listen(): void {
  if (isListening) return;
  isListening = true;
  subscribe('http.server.response.finish', (message) => {
    const { request, response } = message as { request: MeasuredMessage; response: ServerResponse };
    const one = request[measured];
    if (one !== undefined) one.of.end(response.statusCode, one.started);
  });
}

/**
 * Measures the routes that are registered afterwards.
 * @returns begins to measure a request; to be called first of all
 */
export function measureRequests(app: App, requests: LabelledDurations, clock: Clock) {
  const unmatched = new RouteDurations(requests, { method: '(any)', route: '(none)' }, clock);
  const known = new Map<string, RouteDurations>();
  const durationsOf = ({ method, url }: RouteOptions) => {
    const labels = { method: [method].flat().join(' '), route: url };
    const key = `${labels.method} ${url}`;
    const found = known.get(key) ?? new RouteDurations(requests, labels, clock);
    known.set(key, found);
    return found;
  };
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, durations: durationsOf(route) };
  });
  listen();
  return (request: FastifyRequest): void => {
    const { durations = unmatched } = request.routeOptions?.config ?? {};
    (request.raw as MeasuredMessage)[measured] = durations.begin();
  };
}
