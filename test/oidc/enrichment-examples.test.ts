/** examples/token-enrichment: each provider's file, as that provider runs it, against a server of Accord. */
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { startIdentityProvider } from '../core/auth/identity-provider.ts';
import { createTestServer } from '../helpers/server.ts';
import { configClient } from '../policies/config-client.ts';
import { sharingTenant, types } from '../relationships/sharing.ts';
import { auth0, type Grant, keycloak, startTokenEndpoint, zitadel } from './providers.ts';

const server = await createTestServer({ ACCORD_OUTBOUND_ALLOW: '127.0.0.0/8' });
await server.app.listen({ port: 0, host: '127.0.0.1' });
const baseUrl = `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}`;
const idp = await startIdentityProvider();
await idp.addKey('one', 'RS256');

const AUDIENCE = 'https://api.test';
const CLAIM_NAME = 'https://claims.test/relationships';
const client = { id: 'accord-enrichment', secret: 's3cr+t/=' };
const drives = (id: string) => ({ relationshipType: 'drives', to: { id, type: 'car' } });

/** A tenant that trusts the provider. @param clients how tokens of back ends are known */
async function trusting(clients: object, audience = AUDIENCE) {
  const world = await sharingTenant(server, types, { audiences: [...new Set([AUDIENCE, audience])] });
  const config = await configClient(server, world.tenant, 'security-admin');
  const issuer = { issuer: idp.issuer, jwksUri: idp.jwksUri, algorithms: ['RS256'], ...clients };
  expect(await config('PUT', '/trusted-issuers/idp', { body: issuer })).toMatchObject({ status: 200 });
  await server.services.snapshots.refresh(world.tenant);
  return world;
}

/** `answer`: instead of the usual one. `lifetimeS`: what is said; `expiresInS`: what is in the token. */
const granting = {
  answer: undefined as { status: number; body: object } | undefined,
  lifetimeS: 3600,
  expiresInS: 3600,
};
/** Grants what the provider's documentation says of client_credentials. @param claims that its tokens have besides */
function endpoint(accepts: (grant: Grant) => boolean, claims: () => Promise<object> | object) {
  return startTokenEndpoint(async (grant) => {
    if (granting.answer) return granting.answer;
    if (grant.fields.grant_type !== 'client_credentials' || !accepts(grant))
      return { status: 401, body: { error: 'invalid_client' } };
    const now = Math.floor(Date.now() / 1000);
    const token = await idp.sign({
      iss: idp.issuer,
      aud: AUDIENCE,
      iat: now,
      exp: now + granting.expiresInS,
      ...(await claims()),
    });
    return { status: 200, body: { access_token: token, token_type: 'Bearer', expires_in: granting.lifetimeS } };
  });
}
const postedSecret = ({ fields }: Grant) =>
  fields.client_id === client.id && fields.client_secret === client.secret && fields.scope === 'pg:tenant:admin';

type Settings = { base: string; tenant: string; secret: string };
type Patience = { isPatient?: boolean };
type LogIn = (userId: string) => Promise<object>;
type Provider = {
  /** Another installation of the same provider, with other settings. */
  with(settings: Partial<Settings> & Patience): Promise<LogIn>;
  logIn: LogIn;
  grants: readonly Grant[];
};
type World = Awaited<ReturnType<typeof trusting>>;

/** What is not set is of the tenant that trusts the provider. */
const installing =
  ({ tenant: own }: World, install: (settings: Settings, patience: Patience) => Promise<LogIn>): Provider['with'] =>
  ({ base = baseUrl, tenant = own, secret = client.secret, ...patience }) =>
    install({ base, tenant, secret }, patience);

async function withAuth0(): Promise<[World, Provider]> {
  const world = await trusting({ clients: 'auth0' });
  const { url, grants } = await endpoint(
    (grant) => grant.type === 'application/json' && postedSecret(grant) && grant.fields.audience === AUDIENCE,
    () => ({ sub: `${client.id}@clients`, azp: client.id, gty: 'client-credentials', scope: 'pg:tenant:admin' }),
  );
  const install = installing(
    world,
    async ({ base, tenant, secret }, more) =>
      auth0(
        {
          ...{ CLIENT_ID: client.id, CLIENT_SECRET: secret, AUDIENCE, BASE_URL: base, TENANT: tenant },
          ...{ CLAIM_NAME, TOKEN_URL: url },
        },
        more,
      ).logIn,
  );
  return [world, { with: install, logIn: await install({}), grants }];
}

async function withKeycloak(): Promise<[World, Provider]> {
  const world = await trusting({ clients: 'keycloak' });
  const { url, grants } = await endpoint(
    (grant) => grant.type === 'application/x-www-form-urlencoded' && postedSecret(grant),
    () => ({
      ...{ sub: 'ca4e', azp: client.id, preferred_username: `service-account-${client.id}` },
      scope: 'profile pg:tenant:admin',
    }),
  );
  const install = installing(world, async ({ base, tenant, secret }, more) => {
    const environment = {
      ...{ ACCORD_CLIENT_ID: client.id, ACCORD_CLIENT_SECRET: secret, ACCORD_AUDIENCE: AUDIENCE },
      ...{ ACCORD_BASE_URL: base, ACCORD_TENANT: tenant, ACCORD_TOKEN_URL: url },
    };
    const { logIn } = await keycloak(environment, 'https://claims\\.test/relationships', more);
    return (userId) => logIn(userId);
  });
  return [world, { with: install, logIn: await install({}), grants }];
}

const project = '265';
const signingKey = 'of the target';
async function withZitadel(): Promise<[World, Provider]> {
  const world = await trusting({ clients: 'claim', clientMatch: { claim: 'accord_client', value: 'true' } }, project);
  let ofService: (() => Promise<object>) | undefined;
  const { url, grants } = await endpoint(
    ({ type, authorization, fields }) =>
      type === 'application/x-www-form-urlencoded' &&
      authorization === `Basic ${btoa(`${client.id}:${encodeURIComponent(client.secret)}`)}` &&
      fields.scope === `openid urn:zitadel:iam:org:project:id:${project}:aud`,
    // The target is asked for the claims of this token too.
    async () => ({ sub: '42', aud: [project], ...(await ofService?.()) }),
  );
  const install = installing(world, async ({ base, tenant, secret }, more) => {
    const environment = {
      ...{ SIGNING_KEY: signingKey, TOKEN_URL: url, CLIENT_ID: client.id, CLIENT_SECRET: secret },
      ...{ SERVICE_USER_ID: '42', PROJECT_ID: project, BASE_URL: base, TENANT: tenant, CLAIM_NAME },
    };
    const target = await zitadel(environment, more);
    ofService = () => target.accessToken({ id: '42', machine: {} });
    return (id) => target.accessToken({ id, human: {} });
  });
  return [world, { with: install, logIn: await install({}), grants }];
}

describe.each([
  ['Auth0', withAuth0],
  ['Keycloak', withKeycloak],
  ['Zitadel', withZitadel],
])('%s', (_, start) => {
  test('the claim is what the list of the user has; the token is requested once', async () => {
    const [{ relate }, { logIn, grants }] = await start();
    expect(await logIn('auth0|nobody')).toEqual({ [CLAIM_NAME]: [] }); // 404
    await relate('user/auth0|alice', 'drives', 'car/1');
    await relate('user/auth0|alice', 'member_of', 'group/g');
    await relate('user/a b/%é?#', 'drives', 'car/2');
    const group = { relationshipType: 'member_of', to: { id: 'g', type: 'group' } };
    expect(await logIn('auth0|alice')).toEqual({ [CLAIM_NAME]: [drives('1'), group] });
    expect(await logIn('a b/%é?#')).toEqual({ [CLAIM_NAME]: [drives('2')] });
    expect(grants).toHaveLength(1);
  });

  test('past 100 relationships, or 8 KiB of them, there is no claim', async () => {
    const [{ backend }, { logIn }] = await start();
    const add = async (user: string, ids: string[]) => {
      const line = (id: string) => ({ from: { type: 'user', id: user }, ...drives(id) });
      const raw = ids.map((id) => `${JSON.stringify(line(id))}\n`).join('');
      const { body } = await backend('POST', '/relationships/import', { raw, type: 'application/x-ndjson' });
      expect(body).toMatchObject({ created: ids.length });
    };
    await add(
      'many',
      Array.from({ length: 100 }, (_, n) => `${n}`),
    );
    expect(Object.values(await logIn('many'))[0]).toHaveLength(100);
    await add('many', ['one more']);
    expect(await logIn('many')).toEqual({});
    await add(
      'large',
      Array.from({ length: 8 }, (_, n) => `${n}`.padEnd(1000, 'x')),
    );
    expect(await logIn('large')).toEqual({});
  });

  test('any failure is no claim: wrong secret, wrong tenant, nobody there, no answer, no token', async () => {
    const [{ relate }, provider] = await start();
    await relate('user/auth0|alice', 'drives', 'car/1');
    const silent = await startTokenEndpoint(() => new Promise(() => {}));
    for (const settings of [
      { secret: 'wrong' },
      { tenant: 'no-such-tenant' },
      { base: 'http://127.0.0.1:9' },
      { base: silent.url, isPatient: false },
    ]) {
      const logIn = await provider.with(settings);
      expect([settings, await logIn('auth0|alice')]).toEqual([settings, {}]);
    }
    const logIn = await provider.with({});
    for (const answer of [
      { status: 500, body: {} },
      { status: 200, body: {} },
    ]) {
      granting.answer = answer;
      expect(await logIn('auth0|alice')).toEqual({});
    }
    granting.answer = undefined;
    expect(await logIn('auth0|alice')).toEqual({ [CLAIM_NAME]: [drives('1')] });
  });

  test('a token that expires is requested again, and one that is refused is replaced', async () => {
    const [{ relate }, provider] = await start();
    const { logIn, grants } = provider;
    await relate('user/auth0|alice', 'drives', 'car/1');
    granting.lifetimeS = 30; // less than the minute before
    for (let n = 1; n <= 2; n++) {
      expect(await logIn('auth0|alice')).toEqual({ [CLAIM_NAME]: [drives('1')] });
      expect(grants).toHaveLength(n);
    }
    granting.lifetimeS = 3600;
    granting.expiresInS = -60; // it says an hour, and Accord refuses it
    expect(await logIn('auth0|alice')).toEqual({});
    granting.expiresInS = 3600;
    expect(await logIn('auth0|alice')).toEqual({ [CLAIM_NAME]: [drives('1')] });
    expect(grants).toHaveLength(4);
  });
});

describe('in particular', () => {
  test('Auth0: the id stands raw in the path', async () => {
    const paths: string[] = [];
    const { url } = await startTokenEndpoint(() => ({ status: 200, body: { access_token: 't', expires_in: 3600 } }));
    const recorder = await import('node:http').then(({ createServer }) =>
      createServer((request, response) => {
        paths.push(request.url as string);
        response.end('[]');
      }),
    );
    await new Promise<void>((resolve) => recorder.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`;
    const { logIn, cache } = auth0({
      ...{ CLIENT_ID: 'c', CLIENT_SECRET: 's', AUDIENCE, BASE_URL: base, TENANT: 'acme', CLAIM_NAME, TOKEN_URL: url },
    });
    expect(await logIn('auth0|5f7c')).toEqual({ [CLAIM_NAME]: [] });
    recorder.closeAllConnections();
    recorder.close();
    expect(paths).toEqual(['/acme/actors/user/auth0|5f7c/relationships?limit=101']);
    expect([...cache.keys()]).toEqual(['accord-token']);
  });

  test('Keycloak: service accounts are not asked for, and the script is ECMAScript 5', async () => {
    const environment = { ACCORD_TOKEN_URL: 'http://127.0.0.1:9' };
    const { logIn, script, logged } = await keycloak(environment, 'https://claims\\.test/relationships');
    expect(await logIn('service', 'accord-enrichment')).toEqual({});
    expect(logged).toEqual([]);
    expect(await logIn('alice')).toEqual({});
    expect(logged).toEqual(['The token has no relationships: Error: ACCORD_BASE_URL is not set']);
    expect(script.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')).not.toMatch(
      /=>|`|\b(let|const|class|async|await)\b|,\s*[)\]}]/,
    );
  });

  test('Zitadel: the target takes only what Zitadel signed, lately', async () => {
    const settings = {
      ...{ SIGNING_KEY: signingKey, TOKEN_URL: 'http://127.0.0.1:9', CLIENT_ID: 'c', CLIENT_SECRET: 's' },
      ...{ SERVICE_USER_ID: '42', PROJECT_ID: project, BASE_URL: baseUrl, TENANT: 't', CLAIM_NAME },
    };
    const { call, sign } = await zitadel(settings);
    const body = JSON.stringify({ function: 'function/preaccesstoken', user: { id: '42', machine: {} } });
    const now = Math.floor(Date.now() / 1000);
    const status = async (signature: string, sent = body) => (await call(sent, signature)).status;
    expect(await status(sign(body, now))).toBe(200);
    expect(await status(sign(body, now - 290))).toBe(200);
    expect(await status(sign(body, now - 310))).toBe(401);
    expect(await status(sign(body, now, 'of another'))).toBe(401);
    expect(await status(sign(body, now), `${body} `)).toBe(401);
    expect(await status('')).toBe(401);
    expect(await status(`t=${now}`)).toBe(401);
    const other = JSON.stringify({ function: 'function/preaccesstoken', user: { id: '43', machine: {} } });
    expect(await (await call(other, sign(other, now))).json()).toEqual({});
  });
});
