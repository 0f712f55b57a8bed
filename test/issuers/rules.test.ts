import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { authOf } from '../../server/issuers/index.ts';
import { checkIssuer, checkIssuerBody } from '../../server/issuers/rules.ts';
import { issuerSpec, tenantSpec } from '../core/auth/tenant-auth.ts';

const base = 'https://accord.example/api';
const spec = (more: Record<string, unknown> = {}) => issuerSpec({ issuer: 'https://idp.example', ...more });
const named = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  spec: spec({ issuer: `https://${name}.example`, ...more }),
});
const code = (expected: string) => expect.objectContaining({ code: expected });

test('nothing at our own address can be trusted, however it is written', () => {
  for (const issuer of [
    `${base}/portal`,
    `${base}/demo/oidc`,
    `${base}/other/oidc`,
    base,
    'https://ACCORD.example/api/other/oidc',
    'https://accord.example:443/api/other/oidc',
    'https://accord.example./api/other/oidc',
    'https://accord.example/x/../api/other/oidc',
    'https://accord.example/%61pi/other/oidc',
  ]) {
    expect(() => checkIssuer(spec({ issuer }), [], tenantSpec(), base), issuer).toThrow(code('issuer_is_ours'));
    expect(() => checkIssuer(spec({ jwksUri: issuer }), [], tenantSpec(), base), issuer).toThrow(
      code('issuer_is_ours'),
    );
  }
  for (const issuer of [
    'https://accord.example/apis',
    'https://accord.example:8443/api',
    'https://accord.example.org/api',
    'https://accord.example/100%',
  ]) {
    expect(() => checkIssuer(spec({ issuer }), [], tenantSpec(), base), issuer).not.toThrow();
  }
});

test('a second issuer needs a prefix of its own or says that it shares actors', () => {
  const first = named('first');
  expect(() => checkIssuer(spec(), [first], tenantSpec(), base)).toThrow(code('issuer_mixes_actors'));
  expect(() => checkIssuer(spec({ actorIdPrefix: 'b-' }), [first], tenantSpec(), base)).not.toThrow();
  expect(() => checkIssuer(spec({ sharesActors: true }), [first], tenantSpec(), base)).not.toThrow();
  expect(() => checkIssuer(spec(), [named('prefixed', { actorIdPrefix: 'b-' })], tenantSpec(), base)).not.toThrow();
  expect(() => checkIssuer(spec(), [named('sharing', { sharesActors: true })], tenantSpec(), base)).not.toThrow();
  expect(() =>
    checkIssuer(spec({ actorIdPrefix: 'b-' }), [named('prefixed', { actorIdPrefix: 'b-' })], tenantSpec(), base),
  ).toThrow(code('issuer_mixes_actors'));
});

test("an issuer's audiences narrow the tenant's, and never widen them", () => {
  const audiences = ['https://api.demo.example', 'b', 'c'];
  const tenant = tenantSpec({ audiences });
  const judged = (own: string[]) => () => checkIssuer(spec({ audiences: own }), [], tenant, base);
  expect(judged(['b'])).not.toThrow();
  expect(judged(audiences)).not.toThrow();
  for (const [own, pointer] of [
    [['x'], '/audiences/0'],
    [['b', 'B'], '/audiences/1'],
    [['b', 'https://api.demo.example/'], '/audiences/1'],
  ] as const) {
    expect(judged([...own]), own.join()).toThrow(
      expect.objectContaining({ code: 'issuer_audience_unknown', errors: [expect.objectContaining({ pointer })] }),
    );
  }
});

test('an audience that the tenant has no longer is accepted from no issuer', () => {
  const issuers = [named('two', { audiences: ['b', 'c'] }), named('one', { audiences: ['c'], actorIdPrefix: 'b-' })];
  const served = (audiences: string[]) => {
    const auth = authOf({ tenant: 'demo', spec: tenantSpec({ audiences }) }, issuers, [], base);
    return [...auth.issuers.values()].map((issuer) => issuer.audiences);
  };
  expect(served(['a', 'b', 'c'])).toEqual([['b', 'c'], ['c']]);
  expect(served(['a', 'b'])).toEqual([['b'], []]);
});

test('an issuer is trusted once', () => {
  expect(() => checkIssuer(spec({ sharesActors: true }), [{ name: 'x', spec: spec() }], tenantSpec(), base)).toThrow(
    code('duplicate_issuer'),
  );
});

test('a tenant trusts a bounded number of issuers', () => {
  const others = Array.from({ length: limits.trustedIssuersMax }, (_, i) => named(`i${i}`, { actorIdPrefix: `${i}-` }));
  expect(() => checkIssuer(spec(), others.slice(1), tenantSpec(), base)).not.toThrow();
  expect(() => checkIssuer(spec(), others, tenantSpec(), base)).toThrow(code('issuer_quota_reached'));
});

test('a body has the rules of manifests, with places in the body', () => {
  const body = { issuer: 'https://idp.example' };
  expect(checkIssuerBody('demo', 'idp', body).spec).toMatchObject({
    algorithms: ['ES256', 'RS256'],
    sharesActors: false,
    clients: 'none',
  });
  const places = (name: string, more: object) => {
    try {
      checkIssuerBody('demo', name, { ...body, ...more });
    } catch (error) {
      return (error as { errors: { pointer: string }[] }).errors.map((place) => place.pointer);
    }
    return [];
  };
  expect(places('idp', { issuer: 'http://idp.example' })).toEqual(['/issuer']);
  expect(places('idp', { issuer: 'http://localhost:9000' })).toEqual([]);
  expect(places('idp', { jwksUri: 'ftp://idp.example' })).toEqual(['/jwksUri']);
  expect(places('idp', { algorithms: ['HS256'] })).toEqual(['/algorithms/0']);
  expect(places('idp', { actorIdPrefix: 'x', sharesActors: true })).toEqual(['']);
  expect(places('Not A Name', {})).toEqual(['/params/name']);
});

test('what verification needs is complete, and made only of the tenant', () => {
  const issuers = [
    named('first'),
    named('second', {
      actorIdPrefix: 'b-',
      audiences: ['b'],
      clients: 'auth0',
      tokenMapping: { actorIdClaimPath: 'uid' },
      contactClaims: { email: 'mail' },
    }),
    named('third', { sharesActors: true }),
  ];
  const row = {
    tenant: 'demo',
    spec: tenantSpec({
      audiences: ['https://api.demo.example', 'b'],
      tokenMapping: { actorIdClaimPath: 'email', defaultActorType: 'patient' },
    }),
  };
  const auth = authOf(row, issuers, [{ tenant: 'demo', jwk: { kty: 'EC', kid: 'k' }, retiresAtMs: 5 }], base);
  expect(auth.own).toMatchObject({
    issuer: `${base}/demo/oidc`,
    tokenMapping: { actorIdClaimPath: 'sub', defaultActorType: 'patient' },
    contactClaims: { email: 'email', emailVerified: 'email_verified' },
  });
  expect(auth.ownKeys).toEqual([{ jwk: { kty: 'EC', kid: 'k' }, retiresAtMs: 5 }]);
  expect(auth.issuers.get('https://first.example')).toMatchObject({
    audiences: ['https://api.demo.example', 'b'],
    clients: 'none',
    tokenMapping: { actorIdClaimPath: 'email', defaultActorType: 'patient' },
    contactClaims: { email: 'email', emailVerified: 'email_verified' },
    foreignPrefixes: ['b-'],
  });
  expect(auth.issuers.get('https://second.example')).toMatchObject({
    audiences: ['b'],
    clients: 'auth0',
    tokenMapping: { actorIdClaimPath: 'uid', defaultActorType: 'user' },
    contactClaims: { email: 'mail', emailVerified: 'email_verified' },
    actorIdPrefix: 'b-',
    foreignPrefixes: [],
  });
  expect(auth.issuers.get('https://third.example')?.foreignPrefixes).toEqual([]);
  expect(Object.isFrozen(auth)).toBe(true);
});
