import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { returnPathOf } from '../../server/portal/return-path.ts';

const longest = `/portal/t/demo?${'x'.repeat(limits.portalReturnPathCharsMax - '/portal/t/demo?'.length)}`;

describe('a log-in leads to', () => {
  test.each([
    '/portal',
    '/portal/invitations/accept',
    '/portal/t/demo',
    '/portal/t/demo/',
    '/portal/t/demo/policies',
    '/portal/t/demo/policies/car:drive/revisions',
    '/portal/t/demo/people/user%2Fann%40team.example?since=PT1H&filter=%22a%22',
    '/portal/t/demo?tab=members',
    longest,
  ])('%s', (path) => {
    expect(returnPathOf(path)).toBe(path);
  });

  test.each([
    [`${longest}x`, '/portal/t/demo'],
    ['/portal?to=//evil.example', '/portal'],
  ])('%s without its query', (asked, path) => {
    expect(returnPathOf(asked)).toBe(path);
  });

  test.each([
    undefined,
    ['/portal/t/demo'],
    '',
    'https://evil.example/portal/t/demo',
    '//evil.example/portal/t/demo',
    '@evil.example/portal/t/demo',
    'user@evil.example',
    '/portal/t/@evil.example',
    '/portal/t//evil.example',
    '/portal/t/../../evil',
    '/portal/t/demo/../../../evil',
    '/portal/t/demo/%2e%2e/%2E./evil',
    '/portal/t/demo/./x',
    '/portal/t/demo\\..\\evil',
    '/portal/t/demo/\\evil.example',
    '/portal/t/demo/\tx',
    '/portal/t/demo/\r\nlocation: https://evil.example',
    '/portal/t/demo#x',
    '/portal/t/demo/a b',
    '/portal/t/demo/é',
    '/portal/t/Demo',
    '/portal/t/demo@evil.example',
    '/portal/t/demo.evil.example',
    '/portal/t',
    '/portal/tenants',
    '/portal/tenants/demo/members',
    '/portal/log-out',
    '/portal/oidc/end-session',
    `/portal/t/demo/${'x'.repeat(limits.portalReturnPathCharsMax)}`,
  ])('the choice of a tenant, and not to %j', (asked) => {
    expect(returnPathOf(asked)).toBe('/portal');
  });

  test('an address that stays below the base whatever it is', () => {
    for (const base of ['https://accord.example', 'https://accord.example/some/path'])
      expect(new URL(`${base}${returnPathOf('/portal/t/demo//evil.example')}`).host).toBe('accord.example');
  });
});
