/** The Config API of a tenant's keys: which there are, and rotating those of tokens. */
import { roles } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { optionalBody } from '../http/body.ts';
import { answerWritten, type ConfigServing, Empty, writerOf } from '../http/config-api.ts';
import { type App, TenantParams } from '../http/fastify.ts';
import type { WriteTenant } from '../tenants/index.ts';
import { listKeys, rotateKeys, type TokenKeyServices } from './actions.ts';
import { KeysView } from './schema.ts';

export type KeyConfigServices = TokenKeyServices & ConfigServing & { write: WriteTenant };

export function registerKeyConfigRoutes(app: App, services: KeyConfigServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/keys',
    config: { access: { api: 'config', roles } },
    schema: {
      summary: "The tenant's signing keys and their state",
      // As many as the JWKS has: a purpose gets a new one each 15 minutes at the most.
      description: 'Private keys are not shown to anybody.',
      params: TenantParams,
      response: { 200: KeysView },
    },
    handler: async ({ params }) => ({ keys: await listKeys(services, params.tenant) }),
  });
  app.route({
    method: 'POST',
    url: '/tenants/:tenant/keys/rotate',
    config: { access: { api: 'config', roles: ['security-admin'] } },
    bodyLimit: limits.strayBodyBytesMax,
    schema: {
      summary: "Make new keys for the tenant's access tokens and ID tokens",
      description:
        'They are published at once and sign 15 minutes later; the keys before verify as long as what they signed is used, so that no token and no session ends. A key that is published and does not sign yet is not replaced. Answers the keys as they are then.',
      params: TenantParams,
      body: Empty,
      response: { 200: KeysView },
    },
    onRequest: optionalBody,
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { revision } = await rotateKeys(services, tenant, writerOf(request));
      await answerWritten(reply, services, tenant, { revision });
      return { keys: await listKeys(services, tenant) };
    },
  });
}
