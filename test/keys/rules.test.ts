/** How long a tenant's access tokens live, with which key they are signed, and which issuers they name. */
import { expect, test } from 'vitest';
import { isDenied } from '../../server/core/auth/claims.ts';
import { limits } from '../../server/core/limits.ts';
import {
  accessTokenTtlMs,
  deniedAfter,
  deniedOf,
  ownIssuer,
  portalIssuer,
  refreshTokenTtlMs,
  sessionTtlMs,
  signingAlgorithm,
} from '../../server/keys/rules.ts';
import type { TenantSpec } from '../../server/tenants/index.ts';

const spec = (accessTokenTTL: string, signingAlgorithm = 'ES256') =>
  ({ tokens: { accessTokenTTL, signingAlgorithm } }) as TenantSpec;

test.each([
  ['PT90S', 90_000],
  ['PT30M', 1_800_000],
  ['PT24H', limits.accessTokenTtlMsMax],
  ['PT86400S', limits.accessTokenTtlMsMax],
  ['PT86401S', limits.accessTokenTtlMsMax],
  ['PT86399S', limits.accessTokenTtlMsMax - 1000],
])('access tokens of %s live for %i ms', (text, ms) => {
  expect(accessTokenTtlMs(spec(text))).toBe(ms);
});

test('sessions and refresh tokens live as long as the tenant says, up to a limit', () => {
  const tokens = (more: object) => ({ tokens: { ...spec('PT1H').tokens, ...more } }) as TenantSpec;
  expect(sessionTtlMs(spec('PT1H'))).toBe(limits.sessionTtlMsMax);
  expect(sessionTtlMs(tokens({ sessionTTL: 'PT336H' }))).toBe(limits.sessionTtlMsMax);
  expect(sessionTtlMs(tokens({ sessionTTL: 'PT337H' }))).toBe(limits.sessionTtlMsMax);
  expect(sessionTtlMs(tokens({ sessionTTL: 'PT335H' }))).toBe(limits.sessionTtlMsMax - 3_600_000);
  expect(refreshTokenTtlMs(spec('PT1H'))).toBe(limits.refreshTokenTtlMs);
  expect(refreshTokenTtlMs(tokens({ refreshTokenTTL: 'PT8760H' }))).toBe(limits.refreshTokenTtlMsMax);
  expect(refreshTokenTtlMs(tokens({ refreshTokenTTL: 'PT8761H' }))).toBe(limits.refreshTokenTtlMsMax);
});

test.each(['ES256', 'RS256'])('the algorithm is what the tenant asks for: %s', (algorithm) => {
  expect(signingAlgorithm(spec('PT1H', algorithm))).toBe(algorithm);
});

test('issuers are below the base URL, and no tenant has the one of the portal', () => {
  expect(ownIssuer('https://accord.example', 'acme')).toBe('https://accord.example/acme/oidc');
  expect(portalIssuer('https://accord.example')).toBe('https://accord.example/portal');
  expect(ownIssuer('https://accord.example', 'portal')).not.toBe(portalIssuer('https://accord.example'));
});

test('a revocation takes the tokens of its second, each kind by its own name, until it is forgotten', () => {
  const second = Date.UTC(2026, 10, 28, 12) / 1000;
  const at = (seconds: number) => new Date(seconds * 1000).toISOString();
  const row = (kind: 'client' | 'subject' | 'grant' | 'jti', id: string) => ({
    ...{ tenant: 'demo', kind, id },
    ...{ issued_until: kind === 'jti' ? null : at(second), expires_at: at(second + 60) },
  });
  const rows = [row('client', 'shop'), row('subject', 'alice'), row('grant', 'bob shop2'), row('jti', 'j')];
  const denied = deniedOf(rows, 1);
  const revoked = (claims: { sub: string; client_id?: string; jti?: string }, iat: number, by = denied) =>
    isDenied({ ...claims, iat }, by);
  for (const claims of [{ sub: 'alice' }, { sub: 'x', client_id: 'shop' }, { sub: 'bob', client_id: 'shop2' }]) {
    expect([second - 1, second, second + 1].map((iat) => revoked(claims, iat))).toEqual([true, true, false]);
  }
  expect(revoked({ sub: 'x', jti: 'j' }, second + 1)).toBe(true);
  for (const claims of [{ sub: 'bob' }, { sub: 'bob', client_id: 'other' }, { sub: 'x', jti: 'k' }])
    expect(revoked(claims, second)).toBe(false);

  const next = (seconds: number) =>
    deniedAfter(denied, [row('client', 'late')], { revision: 2, nowMs: seconds * 1000 });
  const [later, forgotten] = [next(second + 59), next(second + 60)];
  expect([later, forgotten].map((by) => revoked({ sub: 'alice' }, second, by))).toEqual([true, false]);
  expect([later, forgotten].map((by) => revoked({ sub: 'x', client_id: 'late' }, second, by))).toEqual([true, true]);
});
