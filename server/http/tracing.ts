/** Spans of requests, and of what happens to each before its handler. Only where requests are traced. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Span } from '../core/span.ts';
import type { Tracing } from '../core/tracing.ts';
import type { App } from './fastify.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Of the request; null where it is not traced. */
    span: Span | null;
    /** Of the stage before the handler that it is in. */
    stageSpan: Span | null;
  }
}

/** To be called before any plugin is registered: a plugin's requests have what was declared before it. */
export function declareSpans(app: App): void {
  app.decorateRequest('span', null);
  app.decorateRequest('stageSpan', null);
}

/** @returns begins the span of a request; to be called first of all */
export function traceRequests({ request: begin }: Pick<Tracing, 'request'>) {
  return (request: FastifyRequest, { raw }: FastifyReply): void => {
    const span = begin(request.method, request.routeOptions?.url, request.headers);
    if (span === undefined) return;
    request.span = span;
    span.set({ 'url.scheme': request.protocol, 'network.protocol.version': request.raw.httpVersion });
    raw.once('close', () => {
      request.stageSpan?.end();
      if (request.tenant) span.set({ 'accord.tenant': request.tenant.code });
      if (!raw.writableFinished) span.set({ 'error.type': 'aborted' });
      span.answered(raw.headersSent ? raw.statusCode : undefined);
    });
  };
}

/** Makes what the hooks do that `register` adds a span of each request that is traced. */
export function traceStage(
  app: App,
  tracing: Tracing | undefined,
  name: 'authenticate' | 'snapshot',
  register: () => void,
): void {
  if (tracing === undefined) {
    register();
    return;
  }
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.span !== null) request.stageSpan = request.span.child(name);
    done();
  });
  register();
  app.addHook('onRequest', (request, _reply, done) => {
    const span = request.stageSpan;
    if (span !== null) {
      const revision = name === 'snapshot' ? request.tenant?.newest?.revision : undefined;
      if (revision !== undefined) span.set({ 'accord.revision': revision });
      span.end();
      request.stageSpan = null;
    }
    done();
  });
}
