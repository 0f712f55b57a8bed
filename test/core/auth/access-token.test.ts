import { createPrivateKey, sign as signBytes } from 'node:crypto';
import {
  base64url,
  CompactSign,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  importJWK,
  type JWTPayload,
  SignJWT,
} from 'jose';
import { beforeEach, describe, expect, test } from 'vitest';
import { verifyAccessToken } from '../../../server/core/auth/access-token.ts';
import { JwksCache } from '../../../server/core/auth/jwks.ts';
import type { Caller } from '../../../server/core/auth/schema.ts';
import { AccessTokens } from '../../../server/core/auth/token-cache.ts';
import { limits } from '../../../server/core/limits.ts';
import { createOutbound } from '../../../server/core/outbound/outbound.ts';
import { authOf } from '../../../server/issuers/index.ts';
import { noneDenied } from '../../../server/keys/index.ts';
import { startIdentityProvider } from './identity-provider.ts';
import { issuerSpec, tenantSpec } from './tenant-auth.ts';
import { TestClock } from './test-clock.ts';

const idp = await startIdentityProvider();
const key = await idp.addKey('one');
const audience = 'https://api.demo.example';
let clock: TestClock;
let services: { jwks: JwksCache; clock: TestClock };

beforeEach(() => {
  clock = new TestClock();
  idp.requests.length = 0;
  const outbound = createOutbound({ allow: '127.0.0.0/8', ownListeners: () => [] });
  services = { jwks: new JwksCache({ outbound, clock, observe: () => {} }), clock };
});

function auth(
  issuer: Record<string, unknown> = {},
  ...others: { name: string; spec: ReturnType<typeof issuerSpec> }[]
) {
  const spec = issuerSpec({ issuer: idp.issuer, jwksUri: idp.jwksUri, ...issuer });
  return authOf(
    { tenant: 'demo', spec: tenantSpec() },
    [{ name: 'idp', spec }, ...others],
    [],
    'https://accord.example',
  );
}

const claims = (more: JWTPayload = {}): JWTPayload => ({
  iss: idp.issuer,
  sub: 'alice',
  aud: audience,
  iat: clock.seconds(),
  exp: clock.seconds() + 600,
  ...more,
});
const without = (name: string) => Object.fromEntries(Object.entries(claims()).filter(([claim]) => claim !== name));

async function callerOf(more: JWTPayload, issuer: Record<string, unknown> = {}): Promise<Caller> {
  return (await verifyAccessToken(services, await idp.sign(claims(more)), auth(issuer))).caller;
}

async function refusal(token: string, tenantAuth = auth()): Promise<string> {
  const error = await verifyAccessToken(services, token, tenantAuth).then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toMatchObject({ code: 'unauthenticated', status: 401 });
  const header = /^Bearer error="invalid_token", error_description="([^"\\]+)"$/.exec(
    error.headers['www-authenticate'],
  );
  expect(header).not.toBeNull();
  return header![1] as string;
}

/** The character whose unused low bit is set, which most decoders read as the same byte. */
function nextBits(last: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return alphabet.charAt(alphabet.indexOf(last) + 1);
}

describe('a good token', () => {
  test.each([undefined, 'JWT', 'jwt', 'at+jwt', 'application/at+jwt'])('of type %s is accepted', async (typ) => {
    const token = await idp.sign(claims(), typ === undefined ? {} : { typ });
    const verified = await verifyAccessToken(services, token, auth());
    expect(verified.caller).toMatchObject({
      kind: 'user',
      tenant: 'demo',
      actor: { type: 'user', id: 'alice' },
      issuer: idp.issuer,
    });
    expect(verified.expiresAtMs).toBe((clock.seconds() + 600) * 1000);
  });

  test('may have one right audience among others', async () => {
    expect(await callerOf({ aud: ['other', audience] })).toMatchObject({ kind: 'user' });
  });

  test("the issuer's audiences narrow the tenant's, and one that the tenant does not have counts for nothing", async () => {
    const tenant = { tenant: 'demo', spec: tenantSpec({ audiences: [audience, 'special'] }) };
    const narrowed = (audiences: string[]) => {
      const spec = issuerSpec({ issuer: idp.issuer, jwksUri: idp.jwksUri, audiences });
      return authOf(tenant, [{ name: 'idp', spec }], [], 'https://accord.example');
    };
    const special = await idp.sign(claims({ aud: 'special' }));
    expect((await verifyAccessToken(services, special, narrowed(['special']))).caller.kind).toBe('user');
    expect(await refusal(await idp.sign(claims()), narrowed(['special']))).toContain('aud');
    // Accepted while the tenant had it.
    expect(await refusal(special, auth({ audiences: ['special'] }))).toContain('aud');
  });

  test('RS256 is as good as ES256', async () => {
    const rsa = await idp.addKey('rsa', 'RS256');
    const verified = await verifyAccessToken(services, await idp.sign(claims(), {}, rsa), auth());
    expect(verified.caller.kind).toBe('user');
    idp.removeKey('rsa');
  });
});

describe('a bad token is refused', () => {
  test('alg none', async () => {
    const part = (value: unknown) => base64url.encode(JSON.stringify(value));
    expect(await refusal(`${part({ alg: 'none' })}.${part(claims())}.`)).toBe(
      'the signature algorithm is not accepted',
    );
    expect(await refusal(`${part({ alg: 'none', typ: 'JWT', kid: 'one' })}.${part(claims())}.AAAA`)).toContain(
      'algorithm',
    );
  });

  test('HS256 with the public key as the secret', async () => {
    const publicKey = await importJWK(key.jwk, 'ES256', { extractable: true });
    const secret = new TextEncoder().encode(await exportSPKI(publicKey as never));
    const forged = await new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'one' }).sign(secret);
    expect(await refusal(forged)).toBe('the signature algorithm is not accepted');
  });

  test('an algorithm that the issuer does not use, or that does not fit the key', async () => {
    expect(await refusal(await idp.sign(claims()), auth({ algorithms: ['RS256'] }))).toContain('algorithm');
    const [, payload, signature] = (await idp.sign(claims())).split('.');
    const header = base64url.encode(JSON.stringify({ alg: 'RS256', kid: 'one' }));
    expect(await refusal(`${header}.${payload}.${signature}`)).toBe('no key of the issuer verifies the signature');
    const pair = await generateKeyPair('ES384');
    expect(
      await refusal(await new SignJWT(claims()).setProtectedHeader({ alg: 'ES384', kid: 'one' }).sign(pair.privateKey)),
    ).toContain('algorithm');
  });

  test('expired, to the second', async () => {
    expect(await refusal(await idp.sign(claims({ exp: clock.seconds() })))).toBe('the token has expired');
    const token = await idp.sign(claims({ exp: clock.seconds() + 1 }));
    expect((await verifyAccessToken(services, token, auth())).caller.kind).toBe('user');
  });

  test('not yet valid, or issued in the future, beyond the tolerance', async () => {
    const tolerance = limits.clockToleranceMs / 1000;
    expect(await callerOf({ nbf: clock.seconds() + tolerance, iat: clock.seconds() + tolerance })).toBeDefined();
    expect(await refusal(await idp.sign(claims({ nbf: clock.seconds() + tolerance + 1 })))).toBe(
      'nbf is in the future',
    );
    expect(await refusal(await idp.sign(claims({ iat: clock.seconds() + tolerance + 1 })))).toBe(
      'iat is in the future',
    );
  });

  test.each(['iss', 'sub', 'exp', 'aud'])('without %s', async (name) => {
    expect(await refusal(await idp.sign(without(name) as JWTPayload))).toMatch(name === 'iss' ? 'issuer' : name);
  });

  test.each([
    ['sub', ''],
    ['sub', 42],
    ['sub', 'x'.repeat(limits.subjectCharsMax + 1)],
    ['sub', 'a\0b'], // Postgres would refuse every question that is asked together with this user's
    ['sub', 'a\ud800'], // would be the same user as a\ud801 in the database
    ['sub', 'a\nb'],
    ['sub', '..'],
    ['sub', '\u8a9e'.repeat(Math.floor(limits.entityIdBytesMax / 3) + 1)], // nobody could erase it
    ['sub', 'a\0@clients'],
    ['exp', 'tomorrow'],
    ['exp', Number.MAX_VALUE * 2],
    ['nbf', 'x'],
    ['aud', []],
    ['aud', 'https://other.example'],
    ['aud', { [audience]: true }],
    ['iss', ['x']],
  ])('with %s %j', async (name, value) => {
    const payload = new TextEncoder().encode(JSON.stringify(claims({ [name]: value })));
    const token = await new CompactSign(payload).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(key.privateKey);
    await refusal(token);
  });

  test('with a sub of the greatest length it is good', async () => {
    expect(await callerOf({ sub: 'x'.repeat(limits.subjectCharsMax) })).toBeDefined();
    expect(await callerOf({ sub: '\u8a9e'.repeat(Math.floor(limits.entityIdBytesMax / 3)) })).toBeDefined();
  });

  test('of an issuer that this tenant does not trust, or nearly trusts', async () => {
    for (const iss of [
      'https://evil.example',
      `${idp.issuer}/`,
      idp.issuer.toUpperCase(),
      'https://accord.example/other/oidc',
      'https://accord.example/portal',
    ]) {
      expect(await refusal(await idp.sign(claims({ iss })))).toBe('the issuer is not trusted');
    }
    expect(idp.reads).toBe(0);
  });

  test("in the name of the tenant's own issuer, signed by another", async () => {
    expect(await refusal(await idp.sign(claims({ iss: 'https://accord.example/demo/oidc' }), { typ: 'at+jwt' }))).toBe(
      'no key of the issuer verifies the signature',
    );
  });

  test('with an unknown kid, after one more reading of the keys', async () => {
    const tenantAuth = auth();
    await verifyAccessToken(services, await idp.sign(claims()), tenantAuth);
    for (let i = 0; i < 5; i++) {
      expect(await refusal(await idp.sign(claims(), { kid: `x${i}` }), tenantAuth)).toBe(
        'no key of the issuer verifies the signature',
      );
    }
    expect(idp.reads).toBe(2);
  });

  test('signed with another key under a known kid', async () => {
    const other = await generateKeyPair('ES256');
    const forged = await new SignJWT(claims()).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(other.privateKey);
    expect(await refusal(forged)).toBe('no key of the issuer verifies the signature');
  });

  test('changed after it was signed', async () => {
    const [header, , signature] = (await idp.sign(claims())).split('.');
    const payload = base64url.encode(JSON.stringify(claims({ sub: 'mallory' })));
    expect(await refusal(`${header}.${payload}.${signature}`)).toBe('no key of the issuer verifies the signature');
  });

  test.each([{}, { 'x5t#S256': 'abc' }, { jkt: 1 }, { jkt: 'abc', 'x5t#S256': 'abc' }, 'abc', null])(
    'bound to a key other than by DPoP: %j',
    async (cnf) => {
      expect(await refusal(await idp.sign(claims({ cnf })))).toContain('bound to a key');
    },
  );

  test.each([
    ['accord-portal+jwt', 'not an access token, but a portal token, which only the Config API takes'],
    ['Accord-Portal+JWT', 'not an access token, but a portal token, which only the Config API takes'],
    ['accord-invitation+jwt', 'not an access token, but the requestToken of an invitation'],
    ...['logout+jwt', 'dpop+jwt', 'secevent+jwt', 'constructor', ''].map((typ) => [
      typ,
      'not an access token: the header typ must be at+jwt or JWT',
    ]),
  ])('of type %j', async (typ, said) => {
    expect(await refusal(await idp.sign(claims(), { typ }))).toBe(said);
    // What it is does not depend on whether it is good.
    const [header, payload] = (await idp.sign(claims({ exp: 1 }), { typ })).split('.');
    expect(await refusal(`${header}.${payload}.AAAA`)).toBe(said);
  });

  test.each([
    ['', 'not a JWT'],
    ['7Fjfp0ZBr1KtDRbnfVdmIw', 'not a JWT'],
    ['accord_7Fjfp0ZBr1KtDRbnfVdmIw', 'not a JWT'],
    ['demo.7Fjfp0ZBr1KtDRbnfVdmIw', 'not a JWT'],
    ['e30.AA.AA.AA.AA', 'encrypted'],
  ])('that is no signed JWT: %j', async (token, said) => {
    expect(await refusal(token)).toContain(said);
  });

  test.each([1, null, true, ['at+jwt'], { at: 'jwt' }])('of a type that is no text: %j', async (typ) => {
    const [, payload, signature] = (await idp.sign(claims())).split('.');
    const header = base64url.encode(JSON.stringify({ alg: 'ES256', kid: 'one', typ }));
    expect(await refusal(`${header}.${payload}.${signature}`)).toContain('the header typ must be');
  });

  test('with critical headers that are not understood', async () => {
    const signing = new CompactSign(new TextEncoder().encode(JSON.stringify(claims())));
    const token = await signing
      .setProtectedHeader({ alg: 'ES256', kid: 'one', crit: ['urn:x'], 'urn:x': true })
      .sign(key.privateKey, { crit: { 'urn:x': true } });
    await refusal(token);
  });

  test('with headers that change what is signed (RFC 7797), critical or not', async () => {
    const payload = new TextEncoder().encode(JSON.stringify(claims()));
    const sign = (header: object) =>
      new CompactSign(payload)
        .setProtectedHeader({ alg: 'ES256', kid: 'one', ...header })
        .sign(key.privateKey, { crit: { b64: true } });
    expect(await refusal(await sign({ crit: ['b64'], b64: true }))).toBe('the token has a critical header');
    const [head, , signature] = (await sign({ crit: ['b64'], b64: true })).split('.');
    const unencoded = base64url.encode(JSON.stringify({ alg: 'ES256', kid: 'one', crit: ['b64'], b64: false }));
    // Signed over the text of the payload as it stands, which is what jose then verifies.
    const said = base64url.encode(payload);
    const raw = signBytes('sha256', Buffer.from(`${unencoded}.${said}`), {
      key: createPrivateKey({ key: await exportJWK(key.privateKey), format: 'jwk' }),
      dsaEncoding: 'ieee-p1363',
    });
    expect(await refusal(`${unencoded}.${said}.${raw.toString('base64url')}`)).toBe('the token has a critical header');
    expect(await refusal(`${head}.${said}.${signature}`)).toBe('the token has a critical header');
    expect(await refusal(await sign({ b64: true }))).toBe('the token has a critical header');
  });

  test('in another spelling of base64url: padding, white space, another alphabet, bits beyond the last byte', async () => {
    const token = await idp.sign(claims({ sub: 'a' }));
    const parts = token.split('.') as [string, string, string];
    expect((await verifyAccessToken(services, token, auth())).caller.kind).toBe('user');
    const others = (part: string) => [
      `${part}=`,
      `${part}==`,
      ` ${part}`,
      `${part}\n`,
      `${part.slice(0, 8)}\t${part.slice(8)}`,
      `${part.slice(0, 4)}+/${part.slice(6)}`,
      `${part}A`.slice(0, Math.ceil(part.length / 4) * 4 + 1).padEnd(Math.ceil(part.length / 4) * 4 + 1, 'A'),
      ...(part.length % 4 === 0 ? [] : [`${part.slice(0, -1)}${nextBits(part.slice(-1))}`]),
    ];
    for (const [place, part] of parts.entries()) {
      for (const other of others(part)) {
        const spelt = parts.with(place, other).join('.');
        expect(await refusal(spelt), JSON.stringify(other.slice(-12))).toBe('the token is malformed');
      }
    }
  });

  test.each([
    '',
    '.',
    '..',
    'a.b.c',
    'garbage',
    '€.€.€',
    `${'A'.repeat(100)}.${'B'.repeat(100)}.C`,
    'e30.e30.',
    'bnVsbA.bnVsbA.AA',
  ])('garbage %j', async (token) => {
    await refusal(token);
  });

  test('longer than the bound, before anything is decoded', async () => {
    const token = await idp.sign(claims());
    expect(await refusal(token.padEnd(limits.tokenBytesMax + 1, 'A'))).toBe('the token is too long');
    expect(await refusal(token.padEnd(limits.tokenBytesMax, 'A'))).not.toBe('the token is too long');
  });

  test('of a client whose id is longer than subjectCharsMax', async () => {
    const of = (chars: number) => idp.sign(claims({ gty: 'client-credentials', azp: 'a'.repeat(chars) }));
    expect(await refusal(await of(limits.subjectCharsMax + 1), auth({ clients: 'auth0' }))).toBe(
      'the client id is too long',
    );
    const { caller } = await verifyAccessToken(services, await of(limits.subjectCharsMax), auth({ clients: 'auth0' }));
    expect(caller.kind).toBe('backend');
  });

  test('whose claims are no object', async () => {
    const token = await new CompactSign(new TextEncoder().encode('["x"]'))
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .sign(key.privateKey);
    await refusal(token);
  });
});

describe("a key of the tenant's own issuer", () => {
  const ownAuth = (retiresAtMs?: number) => {
    const own = { tenant: 'demo', jwk: key.jwk, ...(retiresAtMs === undefined ? {} : { retiresAtMs }) };
    return authOf({ tenant: 'demo', spec: tenantSpec() }, [], [own], 'https://accord.example');
  };
  const ownToken = (header = {}) =>
    idp.sign(claims({ iss: 'https://accord.example/demo/oidc' }), { typ: 'at+jwt', ...header });

  test('verifies until the instant at which it retires', async () => {
    expect((await verifyAccessToken(services, await ownToken(), ownAuth())).caller.kind).toBe('user');
    expect((await verifyAccessToken(services, await ownToken(), ownAuth(clock.now() + 1))).caller.kind).toBe('user');
    expect(await refusal(await ownToken(), ownAuth(clock.now()))).toBe('no key of the issuer verifies the signature');
    expect(idp.requests).toEqual([]);
  });

  test('vouches for access tokens only: an ID token has no type, or JWT', async () => {
    for (const typ of [undefined, 'JWT', 'jwt', 'application/jwt', 'logout+jwt'])
      expect(await refusal(await ownToken({ typ }), ownAuth())).toMatch(/^not an access token: /);
    expect(await refusal(await ownToken({ typ: 'JWT' }), ownAuth())).toContain('an ID token is for the application');
    for (const typ of ['AT+JWT', 'application/at+jwt'])
      expect((await verifyAccessToken(services, await ownToken({ typ }), ownAuth())).caller.kind).toBe('user');
  });

  test('is named by its kid', async () => {
    for (const kid of [undefined, 'two']) expect(await refusal(await ownToken({ kid }), ownAuth())).toContain('no key');
  });
});

describe('whose token it is', () => {
  const scope = 'openid pg:tenant:admin authz:evaluate made:up';
  const known = new Set(['pg:tenant:admin', 'authz:evaluate']);

  const service = { azp: 'Robot', preferred_username: 'service-account-robot' };
  /** What a token holds; by which setting of the issuer it is a client's, and whose. */
  const marked: [string, JWTPayload, string, string][] = [
    ['gty', { gty: 'client-credentials', azp: 'robot' }, 'auth0', 'robot'],
    ['sub ends in @clients', { sub: 'robot@clients' }, 'auth0', 'robot@clients'],
    ['sub is client_id', { sub: 'robot', client_id: 'robot' }, 'rfc9068', 'robot'],
    ['a service account', { ...service, client_id: 'Robot' }, 'keycloak', 'Robot'],
    ['a service account, as older ones say it', { ...service, clientId: 'Robot', sid: 's' }, 'keycloak', 'Robot'],
    ['a service account, without the mapper of client_id', service, 'keycloak', 'Robot'],
    ['a claim', { urn: { kind: 'machine' } }, 'claim', 'alice'],
    ['a claim whose name has a dot', { 'urn.kind': 'machine' }, 'claim', 'alice'],
  ];
  const settings: Record<string, unknown>[] = [
    { clients: 'auth0' },
    { clients: 'rfc9068' },
    { clients: 'keycloak' },
    { clients: 'claim', clientMatch: { claim: 'urn.kind', value: 'machine' } },
    { clients: 'none' },
    {},
  ];

  test.each(marked)("a client's of an issuer that marks it so: %s", async (_, marks, clients, clientId) => {
    for (const issuer of settings) {
      const caller = await callerOf({ ...marks, scope }, issuer);
      if (issuer.clients === clients) {
        expect(caller).toEqual({ kind: 'backend', tenant: 'demo', clientId, scopes: known, issuer: idp.issuer });
      } else {
        expect(caller.kind, JSON.stringify(issuer)).toBe('user');
        expect(caller).not.toHaveProperty('scopes');
      }
    }
  });

  test.each<[string, JWTPayload]>([
    ['auth0', { sub: 'custom|robot@clients', azp: 'app' }],
    ['auth0', { sub: '@clients' }],
    ['auth0', { sub: 'robot@clients.example' }],
    ['auth0', { gty: ['client-credentials'] }],
    ['rfc9068', { sub: 'robot', azp: 'robot' }],
    ['rfc9068', { sub: 'robot', client_id: 'Robot' }],
    ['keycloak', { azp: 'app', preferred_username: 'service-account-robot' }],
    ['keycloak', { preferred_username: 'service-account-robot' }],
    ['keycloak', { preferred_username: 'service-account-undefined' }],
    ['keycloak', { ...service, sid: 'a session' }],
    ['keycloak', { ...service, session_state: 'a session', client_id: 'other' }],
  ])("a user's, though the issuer is %s: %j", async (clients, more) => {
    expect(await callerOf({ ...more, scope }, { clients })).toMatchObject({ kind: 'user' });
  });

  test("a user's, where clientMatch does not hold", async () => {
    const issuer = { clients: 'claim', clientMatch: { claim: 'urn.kind', value: 'machine' } };
    for (const kind of ['person', true, ['machine']]) {
      expect(await callerOf({ urn: { kind } }, issuer)).toMatchObject({ kind: 'user' });
    }
  });

  test('scopes come from scope or scp', async () => {
    for (const more of [{ scp: ['authz:evaluate'] }, { scp: 'authz:evaluate x' }, { scope: 'authz:evaluate' }]) {
      expect(await callerOf({ gty: 'client-credentials', ...more }, { clients: 'auth0' })).toMatchObject({
        scopes: new Set(['authz:evaluate']),
      });
    }
    const odd = await callerOf({ gty: 'client-credentials', scope: 7 }, { clients: 'auth0' });
    expect(odd).toMatchObject({ scopes: new Set() });
  });

  test('scopes come from the issuer where the token has neither', async () => {
    const kubernetes = {
      ...{ clients: 'claim', clientMatch: { claim: 'sub', value: 'machine' } },
      clientScopes: ['authz:evaluate'],
    };
    const scopesOf = async (more: JWTPayload) =>
      ((await callerOf({ sub: 'machine', ...more }, kubernetes)) as { scopes?: Set<string> }).scopes;
    expect(await scopesOf({})).toEqual(new Set(['authz:evaluate']));
    expect(await scopesOf({ scope: 'consents:read' })).toEqual(new Set(['consents:read']));
    for (const none of [{ scope: '' }, { scp: [] }, { scope: 7 }, { scope: null }])
      expect(await scopesOf(none)).toEqual(new Set());
    expect(await scopesOf({ sub: 'somebody' })).toBeUndefined();
  });

  test("a user's, whatever scopes it has", async () => {
    for (const more of [{ scope }, { scope, client_id: 'app', azp: 'app' }, { scope, gty: 'password' }]) {
      const caller = await callerOf(more);
      expect(caller.kind).toBe('user');
      expect(caller).not.toHaveProperty('scopes');
    }
  });

  test('the mapping says which claims name the actor', async () => {
    const tokenMapping = {
      actorIdClaimPath: 'https://demo.example/id',
      actorTypeClaimPath: 'realm.type',
      defaultActorType: 'patient',
    };
    const id = { 'https://demo.example/id': 'p1' };
    expect(await callerOf(id, { tokenMapping })).toMatchObject({ actor: { type: 'patient', id: 'p1' } });
    expect(await callerOf({ ...id, realm: { type: 'nurse' } }, { tokenMapping })).toMatchObject({
      actor: { type: 'nurse', id: 'p1' },
    });
    expect(await refusal(await idp.sign(claims()), auth({ tokenMapping }))).toContain('names the actor');
    expect(await refusal(await idp.sign(claims({ ...id, realm: { type: 'a b' } })), auth({ tokenMapping }))).toContain(
      'type',
    );
    const inherited = { actorIdClaimPath: 'constructor.name', defaultActorType: 'user' };
    expect(await refusal(await idp.sign(claims()), auth({ tokenMapping: inherited }))).toContain('names the actor');
  });

  test('a verified address is in the claims that the issuer says, in the form in which addresses are compared', async () => {
    const email = { email: 'Bob@M\u00fcnchen.example', email_verified: true };
    expect(await callerOf(email)).toMatchObject({ email: 'bob@xn--mnchen-3ya.example' });
    for (const more of [{}, { email: email.email }, { ...email, email_verified: 'true' }, { ...email, email: 'Bob' }])
      expect(await callerOf(more)).toMatchObject({ kind: 'user', email: undefined });
    const contactClaims = { email: 'profile.mail', emailVerified: 'https://demo.example/ok' };
    const own = { profile: { mail: 'bob@example.org' }, 'https://demo.example/ok': true };
    expect(await callerOf({ ...email, ...own }, { contactClaims })).toMatchObject({ email: 'bob@example.org' });
    expect(await callerOf(email, { contactClaims })).toMatchObject({ kind: 'user', email: undefined });
    // What is not stated has its default.
    const half = { ...own, email_verified: true };
    expect(await callerOf(half, { contactClaims: { email: 'profile.mail' } })).toMatchObject({
      email: 'bob@example.org',
    });
    const client = await callerOf({ ...email, gty: 'client-credentials' }, { clients: 'auth0' });
    expect(client).not.toHaveProperty('email');
  });

  test('a prefix keeps issuers apart, also against ids that imitate it', async () => {
    expect(await callerOf({}, { actorIdPrefix: 'okta|' })).toMatchObject({ actor: { id: 'okta|alice' } });
    const spec = issuerSpec({ issuer: 'https://second.example', actorIdPrefix: 'okta|' });
    const imitating = await idp.sign(claims({ sub: 'okta|alice' }));
    expect(await refusal(imitating, auth({}, { name: 'second', spec }))).toBe('the actor id belongs to another issuer');
    const longer = issuerSpec({ issuer: 'https://second.example', actorIdPrefix: 'ab' });
    expect(
      await refusal(
        await idp.sign(claims({ sub: 'bx' })),
        auth({ actorIdPrefix: 'a' }, { name: 'second', spec: longer }),
      ),
    ).toContain('another issuer');
    const shorter = issuerSpec({ issuer: 'https://second.example', actorIdPrefix: 'a' });
    const verified = await verifyAccessToken(
      services,
      await idp.sign(claims()),
      auth({ actorIdPrefix: 'ab' }, { name: 'second', spec: shorter }),
    );
    expect(verified.caller).toMatchObject({ actor: { id: 'abalice' } });
  });
});

describe('the cache', () => {
  test('answers without a promise for a minute, and never past exp', async () => {
    const tokens = new AccessTokens(services);
    const tenantAuth = auth();
    const long = await idp.sign(claims());
    const short = await idp.sign(claims({ exp: clock.seconds() + 30 }));
    expect(tokens.cached(long, tenantAuth)).toBeUndefined();
    const caller = await tokens.verify(long, tenantAuth);
    await tokens.verify(short, tenantAuth);
    expect(tokens.cached(long, tenantAuth)).toBe(caller);
    clock.advance(29_999);
    expect(tokens.cached(short, tenantAuth)).toBeDefined();
    clock.advance(1);
    expect(tokens.cached(short, tenantAuth)).toBeUndefined();
    clock.advance(limits.verifiedTokenTtlMs - 30_001);
    expect(tokens.cached(long, tenantAuth)).toBeDefined();
    clock.advance(1);
    expect(tokens.cached(long, tenantAuth)).toBeUndefined();
  });

  test('is worth nothing under another TenantAuth, or after the keys changed', async () => {
    const tokens = new AccessTokens(services);
    const tenantAuth = auth();
    const token = await idp.sign(claims());
    await tokens.verify(token, tenantAuth);
    expect(tokens.cached(token, auth())).toBeUndefined();
    expect(tokens.cached(token, tenantAuth)).toBeDefined();
    const two = await idp.addKey('two');
    await tokens.verify(await idp.sign(claims(), {}, two), tenantAuth);
    expect(tokens.cached(token, tenantAuth)).toBeUndefined();
    idp.removeKey('two');
  });

  test('of the own issuer, stays when others are revoked, and ends when it is', async () => {
    const tokens = new AccessTokens(services);
    const own = { tenant: 'demo', jwk: key.jwk };
    const before = authOf({ tenant: 'demo', spec: tenantSpec() }, [], [own], 'https://accord.example');
    const token = await idp.sign(claims({ iss: 'https://accord.example/demo/oidc', jti: 'a' }), { typ: 'at+jwt' });
    const caller = await tokens.verify(token, before);
    const revoked = (sub: string) => ({
      ...before,
      denied: { ...noneDenied, subjects: new Map([[sub, Number.POSITIVE_INFINITY]]) },
    });
    expect(tokens.cached(token, revoked('bob'))).toBe(caller);
    expect(tokens.cached(token, revoked('alice'))).toBeUndefined();
    expect(tokens.cached(token, { ...before, denied: { ...noneDenied, jtis: new Set(['a']) } })).toBeUndefined();
    expect(tokens.cached(token, revoked('bob'))).toBe(caller);
    expect(tokens.cached(token, { ...before, issuers: new Map() })).toBeUndefined();
  });

  test('takes no token for another that ends the same', async () => {
    const tokens = new AccessTokens(services);
    const tenantAuth = auth();
    const token = await idp.sign(claims());
    await tokens.verify(token, tenantAuth);
    for (let at = 0; at < token.length; at += 7) {
      const other = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
      expect(tokens.cached(other, tenantAuth), `changed at ${at}`).toBeUndefined();
    }
    for (const other of ['', token.slice(-32), token.slice(1), `x${token}`, `${token}x`]) {
      expect(tokens.cached(other, tenantAuth)).toBeUndefined();
    }
    expect(tokens.cached(token, tenantAuth)).toBeDefined();
  });

  test('holds a bounded number of characters', async () => {
    const tokens = new AccessTokens(services);
    const tenantAuth = auth();
    const long = (i: number) => idp.sign(claims({ i, padding: 'x'.repeat(11_900) }));
    const first = await long(100_000);
    await tokens.verify(first, tenantAuth);
    const fitting = Math.floor(limits.verifiedTokensCharsMax / first.length) - 1;
    for (let i = 1; i <= fitting; i++) await tokens.verify(await long(i + 100_000), tenantAuth);
    expect(tokens.cached(first, tenantAuth)).toBeDefined();
    for (let i = 0; i <= fitting + 1; i++) await tokens.verify(await long(i + 200_000), tenantAuth);
    expect(tokens.cached(first, tenantAuth)).toBeUndefined();
  });

  test('remembers no refusal', async () => {
    const tokens = new AccessTokens(services);
    const tenantAuth = auth();
    const later = await idp.addKey('later');
    idp.removeKey('later');
    const token = await idp.sign(claims(), {}, later);
    await expect(tokens.verify(token, tenantAuth)).rejects.toMatchObject({ status: 401 });
    idp.keys.push(later);
    clock.advance(limits.jwksCooldownMs);
    expect((await tokens.verify(token, tenantAuth)).kind).toBe('user');
    idp.removeKey('later');
  });

  test('a removed key stops working within ten minutes and one', async () => {
    const tokens = new AccessTokens(services);
    const tenantAuth = auth();
    const doomed = await idp.addKey('doomed');
    const token = await idp.sign(claims({ exp: clock.seconds() + 86_400 }), {}, doomed);
    await tokens.verify(token, tenantAuth);
    idp.removeKey('doomed');
    clock.advance(limits.jwksMaxAgeMs + limits.verifiedTokenTtlMs);
    expect(tokens.cached(token, tenantAuth)).toBeUndefined();
    await expect(tokens.verify(token, tenantAuth)).rejects.toMatchObject({ status: 401 });
  });
});
