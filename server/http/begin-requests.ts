/** What is observed of each request from its beginning to its end: metrics, and where they are wanted a trace and the access log. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.ts';
import type { Metrics } from '../core/metrics.ts';
import type { Tracing } from '../core/tracing.ts';
import { accessLog } from './access-log.ts';
import type { App } from './fastify.ts';
import { measureRequests } from './measuring.ts';
import { declareSpans, traceRequests } from './tracing.ts';

type Observed = { clock: Clock; metrics: Pick<Metrics, 'requests'> };

/**
 * To be called before any route or plugin is registered.
 * @returns what is to be done with each request first of all
 */
export function beginRequests(
  app: App,
  { clock, metrics }: Observed,
  { tracing, logger }: { tracing: Tracing | undefined; logger: Logger | undefined },
): (request: FastifyRequest, reply: FastifyReply) => void {
  declareSpans(app);
  const measure = measureRequests(app, metrics.requests, clock);
  if (tracing === undefined && logger === undefined) return measure;
  const trace = tracing && traceRequests(tracing);
  const log = logger && accessLog(logger, clock);
  return (request, reply) => {
    measure(request);
    trace?.(request, reply);
    log?.(request, reply);
  };
}
