/** The Config API's replaying of logged decisions with a draft of their policy. */

import { Type } from 'typebox';
import { utc } from '../core/instants.ts';
import { KeyedSemaphore } from '../core/keyed-semaphore.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { type App, memberOf, plainJson, tenantOf, whileConnected } from '../http/fastify.ts';
import { checkPolicyName, PolicyTestBody } from '../policies/index.ts';
import { authzProblem } from './problems.ts';
import { type ReplayServices, replay } from './replay.ts';
import { Replayed } from './tally.ts';

const replayers = { access: { api: 'config', roles: ['security-admin', 'config-editor'] } } as const;
const WEEK_MS = 7 * 86_400_000;
const SERVER = 'server'; // the one key of the semaphore

const ReplayBody = Type.Object(
  {
    ...Type.Omit(PolicyTestBody, ['input', 'coverage', 'tests']).properties,
    since: Type.Optional(
      Type.String({
        format: 'date-time',
        maxLength: 64,
        description: 'Only records from this instant on. Default: one week ago.',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.replayRecordsMax,
        description: `Maximum number of records, newest first. Default: ${limits.replayRecordsMax}.`,
      }),
    ),
  },
  { additionalProperties: false },
);

export function registerReplay(app: App, services: ReplayServices): void {
  /** Tenants with a replay that runs or waits. With one of each, the order of asking lets tenants take turns. */
  const tenants = new Set<string>();
  const semaphore = new KeyedSemaphore(limits.replaysMax);
  app.route({
    method: 'POST',
    url: '/tenants/:tenant/policies/:policyName/replay',
    config: replayers,
    bodyLimit: limits.bodyBytesMax,
    schema: {
      summary: 'Replay logged decisions with a draft policy and report which answers would change',
      description: 'Nothing is stored. The decision log must contain decisions of the policy with this name.',
      tags: ['Policies'],
      params: Type.Object({ tenant: Type.String(), policyName: Type.String() }),
      body: ReplayBody,
      response: { 200: Replayed },
    },
    serializerCompiler: plainJson,
    handler: async (request, reply) => {
      const { tenant, policyName: name } = request.params;
      memberOf(request);
      checkPolicyName(name);
      const { since, limit = limits.replayRecordsMax, ...draft } = request.body;
      if (tenants.has(tenant) || semaphore.waiting(SERVER) >= limits.replaysWaitingMax)
        throw authzProblem('replays_busy');
      const gone = whileConnected(reply);
      tenants.add(tenant);
      try {
        const from = utc(since ?? services.clock.now() - WEEK_MS);
        return await semaphore.run(SERVER, async () => {
          if (gone.aborted) throw problem('client_closed_request'); // while it waited
          return replay(services, tenantOf(request).snapshot, { name, draft, since: from, limit }, gone);
        });
      } finally {
        tenants.delete(tenant);
      }
    },
  });
}
