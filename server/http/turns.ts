/**
 * When a request of a known caller goes on: at once while its tenant is alone, else when it is the tenant's turn on the
 * main thread. A body has arrived by then and is not parsed yet, so that its parsing and all that follows at once is counted
 * against its tenant, however the bytes came. What follows an answer of Postgres is not, but where it is charged or takes
 * a turn of its own (decisions, batches, facts).
 */

import type { FairScheduler } from '../core/fair-scheduler.ts';
import type { EnterTurn } from './body.ts';
import type { App } from './fastify.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether it waited for its tenant's turn or did not need to. */
    admitted: boolean;
  }
}

/** To be called before any plugin is registered: a plugin's requests have what was declared before it. */
export function takeTurns(app: App, scheduler: FairScheduler): EnterTurn {
  app.decorateRequest('admitted', false);
  return (request, goOn) => {
    request.admitted = true;
    if (request.caller === null) goOn();
    else scheduler.enter(request.caller.tenant, goOn);
  };
}

/** Has requests whose body was not parsed take their turns too, whatever their headers say. To be registered after access.ts. */
export function registerTurns(app: App, enterTurn: EnterTurn): void {
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.admitted) done();
    else enterTurn(request, done);
  });
}
