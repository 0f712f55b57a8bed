/** Modules about logging out. */
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { expect } from 'vitest';
import type { Visited } from '../../oidc/relying-party.ts';
import { goodbye, type Module, type Modules, type World } from './world.ts';

type LoggedIn = Awaited<ReturnType<World['tokens']>>;

/** Logs in, asks for the end with these parameters, and says what became of it. */
const ending =
  (
    parameters: (hint: string) => Record<string, string>,
    check: (done: Visited) => void,
    outcome: 'logged out' | 'refused',
  ): Module =>
  async (world) => {
    const one = await world.tokens();
    check(await world.logOut(one.browser, parameters(one.tokens.id_token as string)));
    const left = await whoIsThere(world, one);
    if (outcome === 'logged out') expect(left?.searchParams.get('error')).toBe('login_required');
    else expect(left?.searchParams.get('code')).toBeTruthy();
  };

const whoIsThere = async ({ ask }: World, { jar }: LoggedIn) => (await ask({ prompt: 'none' }, { jar })).page.left;

const state = 'end';
const isAt = (uri: string) => (done: Visited) => expect(String(done.left)).toBe(uri);
/** The person is told, and goes nowhere. */
const isPage = (status: number) => (done: Visited) => {
  expect([done.status, done.left]).toEqual([status, undefined]);
  expect(done.text).toContain('<h1>');
};

/** As a browser could not: the hint says another subject, below the same signature. */
function modified(hint: string): string {
  const [header, payload = '', signature] = hint.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const changed = Buffer.from(JSON.stringify({ ...claims, sub: 'somebody else' })).toString('base64url');
  return [header, changed, signature].join('.');
}

export const leaving: Modules = {
  'oidcc-rp-initiated-logout': ending(
    (hint) => ({ id_token_hint: hint, post_logout_redirect_uri: goodbye, state }),
    isAt(`${goodbye}?state=${state}`),
    'logged out',
  ),
  'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri': ending(
    (hint) => ({ id_token_hint: hint, post_logout_redirect_uri: `${goodbye}/unregistered`, state }),
    isPage(400),
    'refused',
  ),
  'oidcc-rp-initiated-logout-modified-id-token-hint': ending(
    (hint) => ({ id_token_hint: modified(hint), post_logout_redirect_uri: goodbye, state }),
    isPage(400),
    'refused',
  ),
  'oidcc-rp-initiated-logout-no-id-token-hint': ending(
    () => ({ post_logout_redirect_uri: goodbye, state }),
    isPage(200),
    'logged out',
  ),
  'oidcc-rp-initiated-logout-no-params': ending(() => ({}), isPage(200), 'logged out'),
  'oidcc-rp-initiated-logout-no-post-logout-redirect-uri': ending(
    (hint) => ({ id_token_hint: hint, state }),
    isPage(200),
    'logged out',
  ),
  'oidcc-rp-initiated-logout-no-state': ending(
    (hint) => ({ id_token_hint: hint, post_logout_redirect_uri: goodbye }),
    isAt(goodbye),
    'logged out',
  ),
  'oidcc-rp-initiated-logout-only-state': ending(() => ({ state }), isPage(200), 'logged out'),
  'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri': ending(
    (hint) => ({ id_token_hint: hint, post_logout_redirect_uri: `${goodbye}?foo=bar`, state }),
    isPage(400),
    'refused',
  ),
  'oidcc-rp-initiated-logout-bad-id-token-hint': ending(
    () => ({ id_token_hint: 'bad', post_logout_redirect_uri: goodbye, state }),
    isPage(400),
    'refused',
  ),

  async 'oidcc-rp-initiated-logout-discovery-endpoint-verification'({ metadata }) {
    expect(metadata.end_session_endpoint).toBe(`${metadata.issuer}/end-session`);
  },

  async 'oidcc-backchannel-rp-initiated-logout'(world) {
    const { told, metadata, client, sub } = world;
    const one = await world.tokens({ claims: JSON.stringify({ id_token: { sid: null } }) });
    told.length = 0;
    const done = await world.logOut(one.browser, {
      ...{ id_token_hint: one.tokens.id_token as string, post_logout_redirect_uri: goodbye, state },
    });
    expect(String(done.left)).toBe(`${goodbye}?state=${state}`);
    expect(told).toHaveLength(1);
    const keys = createRemoteJWKSet(new URL(metadata.jwks_uri as string));
    const expected = { issuer: metadata.issuer, audience: client.id, typ: 'logout+jwt', maxTokenAge: '2 minutes' };
    const { payload } = await jwtVerify(told[0] as string, keys, expected);
    expect(payload).toMatchObject({
      ...{ sub, sid: one.claims.sid, jti: expect.any(String) },
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    });
    expect(payload).not.toHaveProperty('nonce');
    expect(one.claims.sid).toEqual(expect.any(String));
  },

  async 'oidcc-backchannel-logout-discovery-endpoint-verification'({ metadata }) {
    expect(metadata).toMatchObject({ backchannel_logout_supported: true, backchannel_logout_session_supported: true });
  },
};
