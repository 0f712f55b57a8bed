/**
 * What the tenant's authorization server is compared with in bench/oidc.ts: oidc-provider with its own memory adapter on
 * node:http, and nothing of ours. It signs as ours does (ES256 access tokens, RS256 ID tokens).
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';

export const bareClient = { id: 'm2m', secret: 'bare-secret-of-32-characters-000' };
const prefix = '/bench/oidc';
const resource = 'urn:accord:bench';
const seeded = 16;

async function keyOf(alg: 'ES256' | 'RS256') {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), alg, kid: alg, use: 'sig' };
}

async function createProvider(): Promise<Provider> {
  const users = { redirect_uris: ['https://app.bench/cb'], response_types: ['code' as const] };
  const own = { client_secret: bareClient.secret, scope: 'openid offline_access' };
  return new Provider(`http://127.0.0.1${prefix}`, {
    jwks: { keys: [await keyOf('RS256'), await keyOf('ES256')] } as never,
    clients: [
      { ...own, client_id: 'm2m', grant_types: ['client_credentials'], redirect_uris: [], response_types: [] },
      {
        ...users,
        scope: own.scope,
        client_id: 'web',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    rotateRefreshToken: true,
    ttl: { AccessToken: 3600, ClientCredentials: 3600, IdToken: 3600, RefreshToken: 86_400, Grant: 90_000 },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'authz:evaluate relationships',
          audience: 'https://api.bench',
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256', kid: 'ES256' } },
        }),
      },
    },
  });
}

/** Refresh tokens, as after so many log-ins. */
async function seed(provider: Provider): Promise<string[]> {
  const client = await provider.Client.find('web');
  if (client === undefined) throw new Error('no client');
  const one = async () => {
    const accountId = randomUUID();
    const grant = new provider.Grant({ accountId, clientId: 'web' });
    grant.addOIDCScope('openid offline_access');
    grant.addResourceScope(resource, 'relationships');
    const grantId = await grant.save();
    const scope = 'openid offline_access relationships';
    const given = { ...{ accountId, client, grantId, scope, resource }, gty: 'authorization_code', rotations: 0 };
    return new provider.RefreshToken(given as never).save();
  };
  return Promise.all(Array.from({ length: seeded }, one));
}

export async function serveBareOidc(port: number): Promise<{ close(): Promise<void> }> {
  const provider = await createProvider();
  const callback = provider.callback();
  const server = createServer(async (request, response) => {
    if (request.url === '/seed') return response.end(JSON.stringify(await seed(provider)));
    request.url = (request.url as string).slice(prefix.length);
    return callback(request, response);
  });
  server.keepAliveTimeout = 60_000; // its connections rest while others are measured
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  return {
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
