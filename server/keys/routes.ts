/**
 * The public keys of a tenant: /{tenant}/oidc/jwks, which verify tokens of its own issuer, also those that sign only later, and /{tenant}/.well-known/jwks.json, which verify
 * its invitations, receipts and checkpoints. The rest of the authorization server comes later.
 */
import { type Static, Type } from 'typebox';
import type { Clock } from '../core/clock.ts';
import { type App, TenantParams, tenantOf } from '../http/fastify.ts';
import { type KeyConfigServices, registerKeyConfigRoutes } from './config-routes.ts';
import type { PublishedKeys } from './published.ts';

type KeyRouteServices = {
  clock: Clock;
  published: PublishedKeys;
};

const Jwk = Type.Object({
  kty: Type.String(),
  kid: Type.String(),
  alg: Type.String(),
  use: Type.String(),
  crv: Type.Optional(Type.String()),
  x: Type.Optional(Type.String()),
  y: Type.Optional(Type.String()),
  n: Type.Optional(Type.String()),
  e: Type.Optional(Type.String()),
});

const Jwks = Type.Object({ keys: Type.Array(Jwk) });
type Jwks = Static<typeof Jwks>;

export function registerKeyRoutes(app: App, services: KeyRouteServices & KeyConfigServices): void {
  registerKeyConfigRoutes(app, services);
  app.route({
    method: 'GET',
    url: '/:tenant/oidc/jwks',
    config: { access: { api: 'public' }, anyOrigin: true },
    schema: {
      summary: "Public keys of the tenant's own issuer",
      params: TenantParams,
      response: { 200: Jwks },
    },
    handler: async (request, reply) => {
      const { auth } = tenantOf(request).snapshot;
      const now = services.clock.now();
      const live = auth.ownKeys.filter((key) => (key.retiresAtMs ?? Number.POSITIVE_INFINITY) > now);
      // Short enough that a rotation reaches every verifier long before the old key's last token expires.
      reply.header('cache-control', 'public, max-age=300').type('application/jwk-set+json');
      const { identity } = await services.published.of(request.params.tenant);
      const others = identity.filter(({ retires_at: at }) => at === null || Date.parse(at) > now);
      return { keys: [...live.map((key) => key.jwk), ...others.map((key) => key.public_jwk)] } as Jwks;
    },
  });
  app.route({
    method: 'GET',
    url: '/:tenant/.well-known/jwks.json',
    config: { access: { api: 'public' } },
    schema: {
      summary: "Public keys that verify the tenant's invitations (requestToken), receipts and checkpoints",
      tags: ['Invitations'],
      params: TenantParams,
      response: { 200: Jwks },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const now = services.clock.now();
      const { records } = await services.published.of(tenant);
      const live = records.filter(({ retires_at: at }) => at === null || Date.parse(at) > now);
      reply.header('cache-control', 'public, max-age=300').type('application/jwk-set+json');
      return { keys: live.map((key) => key.public_jwk) } as Jwks;
    },
  });
}
