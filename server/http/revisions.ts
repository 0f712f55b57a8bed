/** Accord-Min-Revision: a request that carries it is answered from state at least that new, or not at all. */

import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import type { App } from './fastify.ts';

/** For records: they are read from Postgres, which has every write that was answered. */
const RECORD_REVISION = /^r\d{1,20}$/;
const CONFIG_REVISION = /^c(\d{1,15})$/;

/** `reach` resolves when the tenant is served at least at the revision. @throws Problem when that takes longer than `waitMs` */
type Reachable = { reach(tenant: string, revision: number, waitMs: number): Promise<unknown> };

export function registerRevisions(app: App, snapshots: Reachable): void {
  // After access.ts: only callers of the tenant may make a server read again. No preValidation, which nothing else here
  // is: every decision would pay for running that kind of hooks too.
  app.addHook('onRequest', (request, _reply, done) => {
    const header = request.headers['accord-min-revision'];
    if (header === undefined || RECORD_REVISION.test(String(header))) return done();
    const { tenant } = request.params as { tenant?: string };
    const revision = CONFIG_REVISION.exec(String(header))?.[1];
    if (revision === undefined) {
      const errors = [
        {
          pointer: '/headers/accord-min-revision',
          detail: 'Must be the unchanged value of an Accord-Revision header.',
        },
      ];
      return done(problem('invalid_request', { errors }));
    }
    if (tenant === undefined || request.caller === null) return done();
    snapshots.reach(tenant, Number(revision), limits.minRevisionWaitMs).then(() => done(), done);
  });
}
