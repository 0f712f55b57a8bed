/**
 * The access log: a line for each request, when its answer was sent or its connection ended. It has the pattern of the route in
 * place of the address, because paths and queries have ids of persons; it never has tokens or bodies.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.ts';

/** @returns has a request logged; to be called first of all */
export function accessLog(logger: Logger, clock: Clock) {
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const started = clock.monotonic();
    const { raw } = reply;
    const { socket } = request.raw;
    const sentBefore = socket.bytesWritten;
    const route = request.routeOptions?.url;
    raw.once('close', () => {
      const { tenant, caller, span } = request;
      logger.info(
        {
          method: request.method,
          ...(route === undefined ? {} : { route }),
          ...(raw.headersSent ? { status: raw.statusCode } : {}),
          ...(raw.writableFinished ? {} : { aborted: true }),
          durationMs: Math.round((clock.monotonic() - started) * 1000) / 1000,
          bytesSent: socket.bytesWritten - sentBefore,
          ...(tenant ? { tenant: tenant.code } : {}),
          ...(caller ? { caller: caller.kind } : {}),
          requestId: request.id,
          remoteAddress: request.ip,
          ...(span ? { traceId: span.traceId } : {}),
        },
        'request',
      );
    });
  };
}
