/** The one encoder from anything thrown to RFC 9457 application/problem+json. */
import { STATUS_CODES } from 'node:http';
import type { ErrorObject } from 'ajv';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type DatabaseTrouble, troubleOf } from '../core/db/errors.ts';
import type { Observe } from '../core/observe.ts';
import { bodyProblem, Problem, problem } from '../core/problems.ts';
import type { App } from './fastify.ts';
import { placesOf } from './validation.ts';

export function registerErrors(app: App, observe: Observe): void {
  app.setErrorHandler((error: FastifyError, request, reply) => send(observe, error, request, reply));
  app.setNotFoundHandler((request, reply) => send(observe, problem('not_found'), request, reply));
}

/** Also for errors that come before routing (Fastify's frameworkErrors). */
export function send(observe: Observe, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const found = problemOf(error, request.routeOptions?.bodyLimit);
  if (found.status >= 500 && found.code !== 'stale' && found.code !== 'revision_not_reached') {
    const route = `${request.method} ${request.routeOptions?.url ?? request.url}`;
    observe({ kind: 'request_failed', requestId: request.id, route, error: found.cause ?? error });
  }
  for (const [name, value] of Object.entries(found.headers)) reply.header(name, value);
  const body = {
    type: `urn:accord:problem:${found.code}`,
    title: found.title,
    status: found.status,
    detail: found.message,
    instance: request.url,
    code: found.code,
    requestId: request.id,
    ...(found.errors ? { errors: found.errors } : {}),
  };
  reply
    .status(found.status)
    .header('x-request-id', request.id)
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'no-store')
    .header('content-type', 'application/problem+json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(body);
}

const later = { 'retry-after': '5' };
const ofTrouble: Record<DatabaseTrouble, { detail: string; headers?: Record<string, string> }> = {
  lost: { detail: 'The database does not answer.' },
  timeout: {
    detail: 'The database did not respond in time, and nothing was written. Retry the request.',
    headers: later,
  },
  conflict: { detail: 'Other requests wrote the same at the same time, and nothing was written. Retry the request.' },
  'read-only': {
    detail: 'The database is read-only, and nothing was written. Retry the request later.',
    headers: later,
  },
};

/**
 * The problem that the caller sees; its cause stays in the log.
 * @param bodyBytesMax of the route
 */
export function problemOf(error: unknown, bodyBytesMax?: number): Problem {
  if (error instanceof Problem) return error;
  if (typeof error !== 'object' || error === null) return problem('internal_error', { cause: error });
  const { statusCode, validation, validationContext, message } = error as FastifyError;
  if (validation) {
    const errors = placesOf(validation as unknown as ErrorObject[], validationContext);
    const detail = errors.map((place) => `${place.pointer}: ${place.detail}`).join(' ');
    return problem('invalid_request', { detail, errors });
  }
  const ofBody = bodyProblem(error, bodyBytesMax);
  if (ofBody !== undefined) return ofBody;
  const trouble = troubleOf(error);
  if (trouble !== undefined) return problem('not_ready', { ...ofTrouble[trouble], cause: error });
  if (statusCode === 429) return problem('rate_limited');
  if (statusCode === 503) return problem('not_ready', { detail: 'The server is under pressure.' });
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return problem('invalid_request', { detail: message || (STATUS_CODES[statusCode] as string) });
  }
  return problem('internal_error', { cause: error });
}
