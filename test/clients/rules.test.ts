/** What may be registered as a client, and where a browser may be sent for it. Attacks are named after their source. */
import { describe, expect, test } from 'vitest';
import { isRegisteredRedirect } from '../../server/clients/index.ts';
import { checkClient } from '../../server/clients/rules.ts';
import { limits } from '../../server/core/limits.ts';
import { clientSpec, refusals, spa } from './client.ts';

const native = { ...spa, applicationType: 'native' };
const refusedUri = (uri: string, more: object = spa) =>
  refusals({ ...more, redirectUris: [uri] })['/spec/redirectUris/0'] ??
  refusals({ ...more, redirectUris: [uri] })['/spec/redirectUris'];

describe('redirect URIs', () => {
  test.each([
    'https://app.example',
    'https://app.example:8443/a/b?x=1&y=/z',
    'https://[2001:db8::1]/cb',
    'http://localhost:3000/cb',
    'http://127.0.0.1/cb',
    'http://[::1]:65535/cb',
    'https://app.example/~a/..b/c..',
  ])('%s is one', (uri) => {
    expect(refusedUri(uri)).toBeUndefined();
  });

  test.each(['com.example.app:/callback', 'com.example.my-app:/a?b=c'])('%s is one of an app only', (uri) => {
    expect(refusedUri(uri, native)).toBeUndefined();
    expect(refusedUri(uri)).toContain('private scheme');
  });

  test.each([
    ['user information hides the host (KC CVE-2026-7504)', 'https://good.example@evil.example/'],
    ['several @ (KC CVE-2026-7504)', 'https://a@b@evil.example/'],
    ['a password (KC CVE-2026-7504)', 'https://a:b@evil.example/'],
    ['a path parameter beside dots (KC CVE-2026-3872)', 'https://app.example/cb/..;/x'],
    ['dot segments', 'https://app.example/cb/../x'],
    ['a dot segment at the end', 'https://app.example/cb/..'],
    ['a single dot', 'https://app.example/./cb'],
    ['encoded dots', 'https://app.example/%2e%2E/x'],
    ['half encoded dots', 'https://app.example/.%2e/x'],
    ['a backslash', 'https://app.example\\@evil.example/'],
    ['a backslash in the path', 'https://app.example/\\evil.example'],
    ['an encoded backslash', 'https://app.example/%5cevil.example'],
    ['an encoded NUL', 'https://app.example/%00'],
    ['localhost as a prefix (KC CVE-2024-8883)', 'http://localhost.evil.example/cb'],
    ['127.0.0.1 as a prefix (KC CVE-2024-8883)', 'http://127.0.0.1.evil.example/cb'],
    ['another loopback address (KC CVE-2024-8883)', 'http://127.0.0.2/cb'],
    ['http to a host', 'http://app.example/cb'],
    ['JavaScript: (KC CVE-2026-9086)', 'JavaScript:alert(1)'],
    ['javascript: (KC CVE-2026-9086)', 'javascript://app.example/%0aalert(1)'],
    ['data: (KC CVE-2026-9086)', 'data:text/html,x'],
    ['DATA: (KC CVE-2026-9086)', 'DATA:text/html,x'],
    ['a scheme without a dot', 'myapp:/cb'],
    ['upper case', 'HTTPS://app.example/cb'],
    ['a fragment', 'https://app.example/cb#x'],
    ['a wildcard host', 'https://*.example/cb'],
    ['a host beyond ASCII', 'https://äpp.example/cb'],
    ['a letter that looks like another (KC CVE-2026-7504)', 'https://аpp.example/cb'],
    ['no host', 'https:///cb'],
    ['a relative URI', '/cb'],
    ['a scheme-relative URI', '//app.example/cb'],
    ['port 0', 'https://app.example:0/cb'],
    ['port 65536', 'https://app.example:65536/cb'],
    ['a space', 'https://app.example/a b'],
    ['a line break', 'https://app.example/\n'],
    ['a trailing dot of the host', 'https://app.example./cb'],
  ])('refuses %s', (_, uri) => {
    expect(refusedUri(uri)).toBeDefined();
    expect(refusedUri(uri, native)).toBeDefined();
    expect(refusals({ ...spa, postLogoutRedirectUris: [uri] })).not.toEqual({});
  });
});

describe('where a browser is sent', () => {
  const web = { applicationType: 'web' as const, redirectUris: ['https://app.test/cb', 'http://127.0.0.1/cb'] };
  const app = {
    applicationType: 'native' as const,
    redirectUris: ['http://127.0.0.1/cb', 'http://[::1]:9/cb', 'http://localhost/cb'],
  };

  test('exactly as it is registered', () => {
    expect(isRegisteredRedirect(web, 'https://app.test/cb')).toBe(true);
    for (const uri of [
      'https://app.test.evil/cb', // app.test matching app.test.evil: KC#48430
      'https://app.test/cb/',
      'https://app.test/cb?x',
      'https://app.test/CB',
      'https://APP.test/cb',
      'https://app.test:443/cb',
      'https://a@app.test/cb', // KC CVE-2026-7504
      'https://app.test/x/../cb',
      'http://127.0.0.1:5000/cb', // the port is chosen by apps on devices only
      'http://127.0.0.1/cb?x', // loopback URI with a query added: H CVE-2020-15233
    ])
      expect(isRegisteredRedirect(web, uri), uri).toBe(false);
  });

  test('an app on a device chooses the port of a loopback address, and nothing else', () => {
    for (const uri of ['http://127.0.0.1:1/cb', 'http://127.0.0.1:51004/cb', 'http://[::1]/cb', 'http://localhost/cb'])
      expect(isRegisteredRedirect(app, uri), uri).toBe(true);
    for (const uri of [
      'http://127.0.0.1:51004/cb?x=1', // H CVE-2020-15233
      'http://127.0.0.1:51004/cb/',
      'http://127.0.0.1:51004',
      'http://127.0.0.1:1@evil.test/cb',
      'http://127.0.0.1.evil.test/cb', // KC CVE-2024-8883
      'http://localhost:51004/cb', // a name that others may resolve
      'https://127.0.0.1/cb',
      'http://127.0.0.2/cb',
    ])
      expect(isRegisteredRedirect(app, uri), uri).toBe(false);
  });
});

test.each<[string, object, string]>([
  ['the client of the command', { clientId: 'accord-cli' }, '/spec/clientId'],
  ['the client of the account page', { clientId: 'accord-account' }, '/spec/clientId'],
  ['the id of an account', { clientId: '0B0D7C1E-6B1E-4B7E-9C58-3F1F4F2A1A11' }, '/spec/clientId'],
  ['a colon, which ends the name in Basic', { clientId: 'a:b' }, '/spec/clientId'],
  [
    'client_credentials of a public client',
    { tokenEndpointAuthMethod: 'none', generateSecret: undefined },
    '/spec/grantTypes',
  ],
  [
    'a page with a secret',
    { ...spa, tokenEndpointAuthMethod: 'client_secret_basic', generateSecret: { name: 'a' } },
    '/spec/tokenEndpointAuthMethod',
  ],
  ['a secret method without a secret', { generateSecret: undefined }, '/spec'],
  ['two sources of a secret', { secretRef: { name: 'a' } }, '/spec'],
  ['a secret with none', { ...spa, generateSecret: { name: 'a' } }, '/spec'],
  ['private_key_jwt without keys', { tokenEndpointAuthMethod: 'private_key_jwt', generateSecret: undefined }, '/spec'],
  ['keys with a secret', { jwksUri: 'https://a.example/jwks' }, '/spec'],
  ['a code without a redirect URI', { ...spa, redirectUris: undefined }, '/spec/redirectUris'],
  ['a redirect URI without a code', { redirectUris: ['https://a.example/cb'] }, '/spec/redirectUris'],
  ['refresh tokens of client_credentials', { grantTypes: ['client_credentials', 'refresh_token'] }, '/spec/grantTypes'],
  ['the implicit grant', { grantTypes: ['implicit'] }, '/spec/grantTypes/0'],
  ['an unknown scope', { scopes: ['admin'] }, '/spec/scopes/0'],
  ['pg:tenant:admin for users', { ...spa, scopes: ['openid', 'pg:tenant:admin'] }, '/spec/scopes'],
  ['offline_access without refresh tokens', { ...spa, grantTypes: ['authorization_code'] }, '/spec/scopes'],
  ['a fragment of the log-out', { ...spa, backchannelLogoutUri: 'https://a.example/#x' }, '/spec/backchannelLogoutUri'],
  [
    'a private key',
    {
      tokenEndpointAuthMethod: 'private_key_jwt',
      generateSecret: undefined,
      jwks: { keys: [{ kty: 'RSA', n: 'AQ', e: 'AQAB', d: 'AQ' }] },
    },
    '/spec/jwks/keys/0/d',
  ],
  [
    'half a key',
    {
      tokenEndpointAuthMethod: 'private_key_jwt',
      generateSecret: undefined,
      jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'AQ' }] },
    },
    '/spec/jwks/keys/0',
  ],
  ['plain PKCE (ferriskey#1102)', { ...spa, codeChallengeMethods: ['plain'] }, '/spec/codeChallengeMethods'],
])('%s is refused', (_, more, pointer) => {
  expect(Object.keys(refusals(more as Record<string, unknown>))).toContain(pointer);
});

test('a tenant has so many clients', () => {
  const tenant = { audiences: ['https://api.test'] };
  expect(() => checkClient(clientSpec(), limits.clientsMax - 1, tenant)).not.toThrow();
  expect(() => checkClient(clientSpec(), limits.clientsMax, tenant)).toThrow(
    expect.objectContaining({ code: 'client_quota_reached' }),
  );
});
