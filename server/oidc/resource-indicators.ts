/** The audiences of access tokens, as the library asks for them (its feature of RFC 8707), and the scopes of each. */
import type { Configuration, errors, KoaContextWithOIDC, Client as ProviderClient } from 'oidc-provider';
import type { Client } from '../clients/index.ts';
import type { Algorithm } from '../core/auth/schema.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { audienceOf, audiencesOf, backEndScopes, resourceOf, userScopes } from './audience.ts';
import { askedAudience } from './configuration.ts';

/** What signs access tokens. */
export type AccessSigner = { kid: string; alg: Algorithm };

type Feature = NonNullable<NonNullable<Configuration['features']>['resourceIndicators']>;

export function resourceIndicators(lib: typeof errors, current: () => TenantSnapshot, sign: AccessSigner): Feature {
  return {
    enabled: true,
    useGrantedResource: async () => true,
    defaultResource: async (ctx, client, oneOf) =>
      defaultResource(lib, ctx, clientOf(current(), client), oneOf, current()),
    getResourceServerInfo: async (ctx, resource, client) => {
      const of = clientOf(current(), client);
      const audience = audienceOf(resource, of, current().spec);
      if (audience === undefined) throw new lib.InvalidTarget('the client may not ask for this audience');
      return resourceServer(lib, ctx, of, audience, sign);
    },
  };
}

function clientOf({ clients }: TenantSnapshot, { clientId }: ProviderClient): Client {
  const client = clients.get(clientId);
  if (client === undefined) throw new Error(`the client ${clientId} is gone`);
  return client;
}

function isForClientItself(ctx: KoaContextWithOIDC): boolean {
  return ctx.oidc.params?.grant_type === 'client_credentials';
}

function defaultResource(
  lib: typeof errors,
  ctx: KoaContextWithOIDC,
  client: Client,
  oneOf: readonly string[] | undefined,
  { spec }: TenantSnapshot,
): string | readonly string[] | undefined {
  const asked = askedAudience(ctx);
  if (Array.isArray(asked)) throw new lib.InvalidRequest('audience must not be given more than once');
  if (typeof asked === 'string' && asked !== '') return resourceOf(asked);
  if (oneOf !== undefined) return oneOf;
  const [first] = audiencesOf(client, spec);
  // A user's token without an audience is for userinfo.
  return isForClientItself(ctx) && first !== undefined ? resourceOf(first) : undefined;
}

function resourceServer(
  lib: typeof errors,
  ctx: KoaContextWithOIDC,
  client: Client,
  audience: string,
  sign: AccessSigner,
) {
  const scopes = isForClientItself(ctx) ? backEndScopes(client) : userScopes(client);
  const { params } = ctx.oidc;
  // RFC 6749 section 3.3: the default of a request without scope is all that the client was granted.
  if (isForClientItself(ctx) && params !== undefined && params.scope === undefined && scopes.length > 0)
    params.scope = scopes.join(' ');
  if (isForClientItself(ctx) && isInVain(params?.scope, scopes))
    throw new lib.InvalidScope('the client was granted none of the requested scopes', String(params?.scope));
  return {
    scope: scopes.join(' '),
    audience,
    accessTokenFormat: 'jwt' as const,
    jwt: { sign },
  };
}

/** Whether scopes were asked for, and none of them was granted. */
function isInVain(asked: unknown, granted: readonly string[]): boolean {
  const words = typeof asked === 'string' ? asked.split(' ').filter((word) => word !== '') : [];
  return words.length > 0 && !words.some((word) => granted.includes(word));
}
