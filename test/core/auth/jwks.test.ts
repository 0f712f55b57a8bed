import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { JwksCache, type KeysFinding } from '../../../server/core/auth/jwks.ts';
import { importKeySet } from '../../../server/core/auth/key-set.ts';
import { limits } from '../../../server/core/limits.ts';
import { createLogger, logObservation } from '../../../server/core/log.ts';
import type { Observation } from '../../../server/core/observe.ts';
import { createOutbound } from '../../../server/core/outbound/outbound.ts';
import { startIdentityProvider } from './identity-provider.ts';
import { TestClock } from './test-clock.ts';

const idp = await startIdentityProvider();
let clock: TestClock;
let observations: Observation[];
let cache: JwksCache;

beforeEach(async () => {
  clock = new TestClock();
  observations = [];
  const outbound = createOutbound({ allow: '127.0.0.0/8', ownListeners: () => [] });
  cache = new JwksCache({ outbound, clock, observe: (observation) => observations.push(observation) });
  await idp.addKey('one');
});

afterEach(() => {
  idp.keys.length = 0;
  idp.requests.length = 0;
  idp.answer = undefined;
  idp.statedIssuer = idp.issuer;
});

const direct = () => cache.source('demo', { issuer: idp.issuer, jwksUri: idp.jwksUri });
const failing = () => {
  idp.answer = (_, response) => response.writeHead(500).end();
};

test('keys are found by discovery, and only when a token asks', async () => {
  const source = cache.source('demo', { issuer: idp.issuer });
  expect(idp.requests).toEqual([]);
  expect(await source.find('ES256', 'one')).toBeDefined();
  expect(idp.requests).toEqual(['/.well-known/openid-configuration', '/keys']);
});

test('a discovery document about another issuer is refused', async () => {
  idp.statedIssuer = `${idp.issuer}/`;
  const source = cache.source('demo', { issuer: idp.issuer });
  await expect(source.find('ES256', 'one')).rejects.toMatchObject({ code: 'issuer_unavailable', status: 503 });
  expect(String((observations[0] as { error: Error }).error)).toContain('describes the issuer');
  expect(idp.reads).toBe(0);
});

test('concurrent tokens read the keys once', async () => {
  const found = await Promise.all(Array.from({ length: 50 }, () => direct().find('ES256', 'one')));
  expect(found.every((key) => key !== undefined)).toBe(true);
  expect(idp.reads).toBe(1);
});

test('an unknown kid reads again once a cooldown, whoever asks how often', async () => {
  await direct().find('ES256', 'one');
  for (let i = 0; i < 20; i++) expect(await direct().find('ES256', `made-up-${i}`)).toBeUndefined();
  expect(idp.reads).toBe(2);
  clock.advance(limits.jwksCooldownMs - 1);
  await direct().find('ES256', 'made-up');
  expect(idp.reads).toBe(2);
  clock.advance(1);
  await direct().find('ES256', 'made-up');
  expect(idp.reads).toBe(3);
});

test('a first token with an unknown kid does not read twice', async () => {
  expect(await direct().find('ES256', 'made-up')).toBeUndefined();
  expect(idp.reads).toBe(1);
});

test('a new key is found at once, without a restart', async () => {
  await direct().find('ES256', 'one');
  const before = direct().version;
  await idp.addKey('two', 'RS256');
  expect(await direct().find('RS256', 'two')).toBeDefined();
  expect(direct().version).toBeGreaterThan(before);
});

test('keys are read again in the background before they are old', async () => {
  await direct().find('ES256', 'one');
  const before = direct().version;
  idp.removeKey('one');
  await idp.addKey('two');
  clock.advance(limits.jwksRefreshAfterMs);
  expect(await direct().find('ES256', 'one')).toBeDefined(); // this token does not wait
  await expect.poll(() => direct().version).toBeGreaterThan(before);
  expect(await direct().find('ES256', 'one')).toBeUndefined();
});

test('old keys are confirmed before they verify anything: a removed key is gone after ten minutes at most', async () => {
  await direct().find('ES256', 'one');
  idp.removeKey('one');
  await idp.addKey('two');
  clock.advance(limits.jwksMaxAgeMs);
  expect(await direct().find('ES256', 'one')).toBeUndefined();
  expect(idp.reads).toBe(2);
});

test('reading the same keys again is no new version', async () => {
  await direct().find('ES256', 'one');
  const before = direct().version;
  clock.advance(limits.jwksMaxAgeMs);
  await direct().find('ES256', 'one');
  expect(idp.reads).toBe(2);
  expect(direct().version).toBe(before);
});

test('while the issuer fails its keys go on, but not for ever', async () => {
  await direct().find('ES256', 'one');
  failing();
  clock.advance(limits.jwksMaxAgeMs);
  expect(await direct().find('ES256', 'one')).toBeDefined();
  clock.advance(limits.jwksStaleMaxMs - limits.jwksMaxAgeMs - 1);
  expect(await direct().find('ES256', 'one')).toBeDefined();
  clock.advance(1);
  await expect(direct().find('ES256', 'one')).rejects.toMatchObject({ code: 'issuer_unavailable' });
  idp.answer = undefined;
  clock.advance(limits.jwksRetryMs);
  expect(await direct().find('ES256', 'one')).toBeDefined();
});

test('an issuer that fails is asked once a retry interval', async () => {
  failing();
  for (let i = 0; i < 10; i++) await expect(direct().find('ES256', 'one')).rejects.toMatchObject({ status: 503 });
  expect(idp.requests).toHaveLength(1);
  clock.advance(limits.jwksRetryMs);
  await expect(direct().find('ES256', 'one')).rejects.toMatchObject({ headers: { 'retry-after': '5' } });
  expect(idp.requests).toHaveLength(2);
});

test('tenants do not share what they read, and another URI is another source', async () => {
  await cache.source('a', { issuer: idp.issuer, jwksUri: idp.jwksUri }).find('ES256', 'one');
  await cache.source('b', { issuer: idp.issuer, jwksUri: idp.jwksUri }).find('ES256', 'one');
  await cache.source('b', { issuer: idp.issuer }).find('ES256', 'one');
  expect(idp.reads).toBe(3);
});

test('a token without kid is verified only where one key can be meant', async () => {
  expect(await direct().find('ES256', undefined)).toBeDefined();
  await idp.addKey('two');
  clock.advance(limits.jwksMaxAgeMs);
  expect(await direct().find('ES256', undefined)).toBeUndefined();
});

test('only public signature keys for ES256 and RS256 are taken', async () => {
  const [good] = idp.keys;
  const jwk = good!.jwk;
  const small = { kty: 'RSA', kid: 'small', e: 'AQAB', n: Buffer.alloc(128, 255).toString('base64url') };
  const keys = [
    { ...jwk, kid: 'private', d: 'AAAA' },
    { ...jwk, kid: 'encryption', use: 'enc' },
    { ...jwk, kid: 'signing-only', key_ops: ['sign'] },
    { ...jwk, kid: 'other-algorithm', alg: 'ES384' },
    { ...jwk, kid: 'malformed', x: 'AAAA' },
    { kty: 'oct', kid: 'secret', k: 'c2VjcmV0' },
    { kty: 'OKP', crv: 'Ed25519', kid: 'edwards', x: jwk.x },
    small,
    null,
    'text',
  ];
  const set = await importKeySet({ keys: [...keys, jwk] });
  expect(set.size).toBe(1);
  expect(set.pick('ES256', 'one')).toBeDefined();
  expect(set.pick('RS256', 'one')).toBeUndefined();
});

test('a document that is no key set, or one of too many keys, is refused', async () => {
  await expect(importKeySet({})).rejects.toThrow('no list of keys');
  await expect(importKeySet(null)).rejects.toThrow('no list of keys');
  const [key] = idp.keys;
  const many = (count: number) => ({ keys: Array.from({ length: count }, () => key!.jwk) });
  expect((await importKeySet(many(limits.jwksKeysMax))).size).toBe(limits.jwksKeysMax);
  await expect(importKeySet(many(limits.jwksKeysMax + 1))).rejects.toThrow('are allowed');
});

test('an RSA key has a length within bounds', async () => {
  const rsa = (bits: number) => {
    const n = randomBytes(bits / 8);
    n[0] = 0xff;
    n[n.length - 1] = 0xff;
    return { kty: 'RSA', kid: 'rsa', e: 'AQAB', n: n.toString('base64url') };
  };
  const { rsaModulusBitsMin: least, rsaModulusBitsMax: most } = limits;
  for (const bits of [least, most]) expect((await importKeySet({ keys: [rsa(bits)] })).size, `${bits}`).toBe(1);
  for (const bits of [least - 8, most + 8]) expect((await importKeySet({ keys: [rsa(bits)] })).size, `${bits}`).toBe(0);
});

test('an RSA key has a public exponent from 65537 to four bytes', async () => {
  const n = randomBytes(limits.rsaModulusBitsMin / 8).fill(0xff, 0, 1);
  n[n.length - 1] = 0xff;
  const size = async (e: Buffer) => {
    const key = { kty: 'RSA', kid: 'rsa', n: n.toString('base64url'), e: e.toString('base64url') };
    return (await importKeySet({ keys: [key] })).size;
  };
  const least = Buffer.from(limits.rsaExponentMin.toString(16).padStart(6, '0'), 'hex');
  expect(await size(least)).toBe(1);
  expect(await size(Buffer.concat([Buffer.alloc(3), least]))).toBe(1); // zeros before it change nothing
  expect(await size(Buffer.alloc(limits.rsaExponentBytesMax, 0xff))).toBe(1);
  expect(await size(Buffer.alloc(limits.rsaExponentBytesMax + 1, 0xff))).toBe(0);
  for (const e of [1, 3, 17, 257, limits.rsaExponentMin - 2])
    expect(await size(Buffer.from([e >> 8, e & 255]))).toBe(0);
  expect(await size(Buffer.alloc(0))).toBe(0);
  expect(await size(Buffer.from(n))).toBe(0);
});

test('a key set may be as long as the bound, and no byte longer', async () => {
  const padded = (bytes: number) => {
    const text = JSON.stringify({ keys: idp.keys.map((key) => key.jwk) });
    return text.padEnd(bytes);
  };
  idp.answer = (_, response) => response.end(padded(limits.jwksResponseBytesMax));
  expect(await direct().find('ES256', 'one')).toBeDefined();
  idp.answer = (_, response) => response.end(padded(limits.jwksResponseBytesMax + 1));
  await expect(
    cache.source('b', { issuer: idp.issuer, jwksUri: idp.jwksUri }).find('ES256', 'one'),
  ).rejects.toMatchObject({ status: 503 });
});

test('no more issuers are kept in memory than the bound', () => {
  const source = (i: number) => cache.source(`t${i}`, { issuer: idp.issuer });
  const first = source(0);
  for (let i = 1; i < limits.jwksSourcesMax; i++) source(i);
  expect(source(0)).toBe(first); // and is now the one that was used last
  const second = source(1);
  source(limits.jwksSourcesMax);
  source(limits.jwksSourcesMax + 1);
  expect(source(1)).toBe(second);
  expect(source(0)).toBe(first);
  for (let i = 2; i < limits.jwksSourcesMax + 2; i++) source(i);
  expect(source(0)).not.toBe(first);
});

test('what came of each reading is told, with the URL and the cause; a look reads only what is not known', async () => {
  const told: KeysFinding[] = [];
  const outbound = createOutbound({ allow: '127.0.0.0/8', ownListeners: () => [] });
  cache = new JwksCache({ outbound, clock, observe: () => {}, found: (finding) => told.push(finding) });
  const issuer = { issuer: idp.issuer };
  await cache.look('demo', issuer);
  await cache.look('demo', issuer);
  expect(told).toEqual([
    { tenant: 'demo', ...issuer, error: null },
    { tenant: 'demo', ...issuer, error: null },
  ]);
  expect(idp.reads).toBe(1);
  const toldOf = async (change: () => void) => {
    change();
    clock.advance(limits.jwksMaxAgeMs);
    await cache.look('demo', issuer);
    idp.answer = undefined;
    idp.statedIssuer = idp.issuer;
    return told.at(-1)?.error;
  };
  const discovery = `${idp.issuer}/.well-known/openid-configuration`;
  expect(await toldOf(failing)).toBe(`${discovery}: answered 500`);
  expect(await toldOf(() => (idp.statedIssuer = 'https://x.example'))).toContain(`${discovery}: describes the issuer`);
  const json = (value: unknown) => () => {
    idp.answer = (request, response) =>
      response.end(JSON.stringify(request.url === '/keys' ? value : { issuer: idp.issuer, jwks_uri: idp.jwksUri }));
  };
  expect(await toldOf(json({}))).toBe(`${idp.jwksUri}: not a JWK Set: it has no list of keys`);
  expect(await toldOf(json({ keys: [{ kty: 'OKP' }] }))).toBe(
    `${idp.jwksUri}: contains no key that can verify ES256 or RS256`,
  );
});

test('the log names tenant, issuer, URL and cause', async () => {
  const lines: string[] = [];
  const logger = createLogger('warn', { write: (line: string) => void lines.push(line) });
  const outbound = createOutbound({ allow: '127.0.0.0/8', ownListeners: () => [] });
  cache = new JwksCache({ outbound, clock, observe: (observation) => logObservation(logger, observation) });
  const issuer = { issuer: 'http://localhost:9', jwksUri: 'http://localhost:9/keys' };
  await cache.look('demo', issuer);
  expect(lines).toHaveLength(1);
  const line = JSON.parse(lines[0] as string);
  expect(line).toMatchObject({ msg: 'jwks_failed', tenant: 'demo', issuer: issuer.issuer, url: issuer.jwksUri });
  expect(line.error.message).toContain('ECONNREFUSED');
});
