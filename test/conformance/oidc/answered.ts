/** Modules about what an application gets: tokens, claims, metadata. */
import * as oc from 'openid-client';
import { expect } from 'vitest';
import { logIn } from '../../oidc/logging-in.ts';
import { basic, callback } from '../../oidc/relying-party.ts';
import { email, later, type Module, type Modules, type World } from './world.ts';

/** What the account has of a scope is told by userinfo. */
const tells =
  (scope: string, claims: object): Module =>
  async ({ tokens, client, sub }) => {
    const { tokens: got } = await tokens({ scope });
    expect(got.scope).toBe(scope);
    expect(await oc.fetchUserInfo(client.config, got.access_token, sub)).toMatchObject({ sub, ...claims });
  };

const profile = { name: 'A. User', updated_at: expect.any(Number) };
const emails = { email, email_verified: true };

async function reuse({ tokens, server, tenant, client, userInfo }: World, afterMs: number): Promise<void> {
  const { left, tokens: first } = await tokens();
  expect((await userInfo(first.access_token)).status).toBe(200);
  const code = left.searchParams.get('code') as string;
  const body = { grant_type: 'authorization_code', redirect_uri: callback, code };
  const again = await later(afterMs, () => server.post(tenant, '/oidc/token', body, basic(client.id, client.secret)));
  expect([again.status, again.body.error]).toEqual([400, 'invalid_grant']);
  expect((await userInfo(first.access_token)).status).toBe(401);
}

export const answered: Modules = {
  async 'oidcc-server'({ tokens, client, metadata, sub }) {
    const { claims, tokens: got, left } = await tokens();
    expect(left.searchParams.get('iss')).toBe(metadata.issuer);
    expect(claims).toMatchObject({ iss: metadata.issuer, aud: client.id, sub });
    expect(got.token_type).toBe('bearer');
    expect(await oc.fetchUserInfo(client.config, got.access_token, sub)).toEqual({ sub });
  },

  async 'oidcc-userinfo-get'({ tokens, userInfo, sub }) {
    const answer = await userInfo((await tokens()).tokens.access_token);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await answer.json()).toEqual({ sub });
  },

  async 'oidcc-userinfo-post-header'({ tokens, userInfo, sub }) {
    const answer = await userInfo((await tokens()).tokens.access_token, { method: 'POST' });
    expect([answer.status, await answer.json()]).toEqual([200, { sub }]);
  },

  async 'oidcc-userinfo-post-body'({ tokens, metadata, sub }) {
    const body = new URLSearchParams({ access_token: (await tokens()).tokens.access_token });
    const answer = await fetch(metadata.userinfo_endpoint as string, { method: 'POST', body });
    expect([answer.status, await answer.json()]).toEqual([200, { sub }]);
  },

  'oidcc-scope-profile': tells('openid profile', profile),
  'oidcc-scope-email': tells('openid email', emails),
  // An account has neither an address nor a telephone number: the scopes are granted and tell nothing.
  'oidcc-scope-address': tells('openid address', {}),
  'oidcc-scope-phone': tells('openid phone', {}),
  'oidcc-scope-all': tells('openid profile email address phone', { ...profile, ...emails }),

  'oidcc-codereuse': (world) => reuse(world, 0),
  'oidcc-codereuse-30seconds': (world) => reuse(world, 30_000),

  async 'oidcc-server-client-secret-post'({ server, posting, sub, tenant }) {
    const { grant } = await logIn(server, posting.config, { email, pkce: false });
    expect((await grant()).claims()?.sub).toBe(sub);
    const body = { grant_type: 'authorization_code', code: 'x', redirect_uri: callback, client_id: posting.id };
    const wrong = await server.post(tenant, '/oidc/token', { ...body, client_secret: 'wrong' });
    expect([wrong.status, wrong.body.error]).toEqual([401, 'invalid_client']);
  },

  async 'oidcc-claims-essential'({ tokens, client, sub }) {
    const claims = JSON.stringify({ userinfo: { name: { essential: true } } });
    const { tokens: got } = await tokens({ claims });
    expect(await oc.fetchUserInfo(client.config, got.access_token, sub)).toEqual({ sub, name: 'A. User' });
  },

  async 'oidcc-refresh-token'({ tokens, client, client2, sub }) {
    const { tokens: first, claims } = await tokens({ scope: 'openid offline_access', prompt: 'consent' });
    const refresh = first.refresh_token as string;
    await expect(oc.refreshTokenGrant(client2.config, refresh)).rejects.toMatchObject({ error: 'invalid_grant' });
    const second = await oc.refreshTokenGrant(client.config, refresh);
    const { iss, aud, iat } = second.claims() as oc.IDToken;
    expect([second.claims()?.sub, iss, aud]).toEqual([sub, claims.iss, claims.aud]);
    expect(iat).toBeGreaterThanOrEqual(claims.iat);
    expect(second.access_token).not.toBe(first.access_token);
    expect(await oc.fetchUserInfo(client.config, second.access_token, sub)).toMatchObject({ sub });
  },

  async 'oidcc-ensure-request-with-valid-pkce-succeeds'({ tokens, sub }) {
    expect((await tokens({}, { pkce: true })).claims.sub).toBe(sub);
  },

  async 'oidcc-discovery-endpoint-verification'({ metadata, server, tenant }) {
    const issuer = server.issuerOf(tenant);
    expect(metadata).toMatchObject({
      issuer,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      authorization_response_iss_parameter_supported: true,
      claims_parameter_supported: true,
      scopes_supported: expect.arrayContaining(['openid', 'profile', 'email', 'address', 'phone', 'offline_access']),
      claims_supported: expect.arrayContaining(['sub', 'iss', 'auth_time', 'acr', 'email', 'name']),
      grant_types_supported: expect.arrayContaining(['authorization_code', 'refresh_token', 'client_credentials']),
      token_endpoint_auth_methods_supported: expect.arrayContaining(['client_secret_basic', 'client_secret_post']),
      code_challenge_methods_supported: ['S256'],
    });
    for (const [name, value] of Object.entries(metadata))
      if (name.endsWith('_endpoint')) expect(value, name).toMatch(new RegExp(`^${issuer}/`));
    const { keys } = (await (await fetch(metadata.jwks_uri as string)).json()) as { keys: Record<string, string>[] };
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(keys.length);
    expect(keys.map(({ kty }) => kty)).toEqual(expect.arrayContaining(['RSA', 'EC']));
    for (const key of keys) for (const secret of ['d', 'p', 'q', 'k']) expect(key).not.toHaveProperty(secret);
  },
};
