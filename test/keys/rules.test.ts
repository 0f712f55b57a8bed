/** How long a tenant's access tokens live, with which key they are signed, and which issuers they name. */
import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import {
  accessTokenTtlMs,
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
