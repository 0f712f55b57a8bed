/** M/oidc/jwks: the public keys that verify a tenant's own access tokens. The rest of the authorization server comes later. */
import { Type } from 'typebox';
import type { TenantAuth } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { App } from '../core/http.ts';
import { tenantProblem } from '../tenants/index.ts';

export type KeyRouteServices = {
  tenantOf: (tenant: string) => { readonly active: boolean; readonly auth: TenantAuth } | undefined;
  clock: Clock;
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

export function registerKeyRoutes(app: App, services: KeyRouteServices): void {
  app.route({
    method: 'GET',
    url: '/:tenant/oidc/jwks',
    config: { access: { door: 'public' } },
    schema: {
      summary: "Public keys of the tenant's own issuer",
      tags: ['Authorization server'],
      params: Type.Object({ tenant: Type.String() }),
      response: { 200: Type.Object({ keys: Type.Array(Jwk) }) },
    },
    handler: async (request, reply) => {
      const snapshot = services.tenantOf(request.params.tenant);
      if (!snapshot?.active) throw tenantProblem('tenant_not_found');
      const now = services.clock.now();
      const live = snapshot.auth.ownKeys.filter((key) => (key.retiresAtMs ?? Number.POSITIVE_INFINITY) > now);
      // Short enough that a rotation reaches every verifier long before the old key's last token expires.
      reply.header('cache-control', 'public, max-age=300').type('application/jwk-set+json');
      return { keys: live.map((key) => key.jwk as { kty: string; kid: string; alg: string; use: string }) };
    },
  });
}
