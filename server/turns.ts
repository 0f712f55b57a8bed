/**
 * Owns when a request of a known caller goes on: at once while its tenant is alone, else when it is the tenant's turn on the
 * main thread. A body has arrived by then and is not parsed yet, so that all that a request costs beside its door is counted
 * against its tenant, however the bytes came.
 */
import type { FastifyRequest } from 'fastify';
import type { Admit } from './body.ts';
import type { FairQueue } from './core/fair-queue.ts';
import type { App } from './core/http.ts';

export function takeTurns(turns: FairQueue): Admit {
  return ({ caller }, goOn) => {
    if (caller === null) goOn();
    else turns.enter(caller.tenant, goOn);
  };
}

/** Has requests without a body take their turns too. To be registered after access.ts. */
export function registerTurns(app: App, admit: Admit): void {
  app.addHook('preValidation', (request, _reply, done) => {
    if (hasBody(request)) done();
    else admit(request, done);
  });
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}
