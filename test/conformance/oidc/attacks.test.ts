/**
 * Attacks on authorization servers that others have had, numbered as the design has them, and the test of each. A test names
 * the source of its attack. What is decided in a room is asked of the whole application here as well.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as oc from 'openid-client';
import { describe, expect, test } from 'vitest';
import { begin, createAccount, logIn, webSpec } from '../../oidc/logging-in.ts';
import { callback, createOidcServer } from '../../oidc/relying-party.ts';

const here = 'conformance/oidc/attacks.test.ts';
const rules = 'clients/rules.test.ts';
const code = 'oidc/authorization-code.test.ts';
const tokens = 'oidc/tokens.test.ts';
const backEnd = 'oidc/client-credentials.test.ts';
const accounts = 'accounts/attacks.test.ts';
const passkeys = 'accounts/passkeys.test.ts';
const outgoing = 'oidc/outgoing.test.ts';

/** KC Keycloak, Z Zitadel, H Hydra, op oidc-provider. A source that is only in a table or a comment of a test has the test's name here. */
type Attack = [number: number, what: string, source: string, ...tests: [file: string, name: string][]];

const attacks: Attack[] = [
  [
    1,
    'a redirect URI with user information',
    'KC CVE-2026-7504',
    [here, 'KC CVE-2026-7504'],
    [rules, 'several @ (KC CVE-2026-7504)'],
  ],
  [
    2,
    'a redirect URI with ..;/',
    'KC CVE-2026-3872',
    [here, 'KC CVE-2026-3872'],
    [rules, 'a path parameter beside dots (KC CVE-2026-3872)'],
  ],
  [
    3,
    'loopback names as a pattern',
    'KC CVE-2024-8883',
    [here, 'KC CVE-2024-8883'],
    [rules, 'localhost as a prefix (KC CVE-2024-8883)'],
  ],
  [4, 'app.test matching app.test.evil', 'KC#48430', [here, 'KC#48430'], [rules, 'exactly as it is registered']],
  [
    5,
    'JavaScript: and data: registered',
    'KC CVE-2026-9086',
    [here, 'KC CVE-2026-9086'],
    [rules, 'JavaScript: (KC CVE-2026-9086)'],
  ],
  [
    6,
    'a loopback URI with a query added',
    'H CVE-2020-15233',
    [here, 'H CVE-2020-15233'],
    [rules, 'exactly as it is registered'],
  ],
  [7, 'one code in parallel requests', 'django-oidc-provider#410', [code, 'django-oidc-provider#410']],
  [8, 'a verifier without a challenge', 'KC#26808', [code, 'KC#26808']],
  [9, 'a challenge without a method taken as plain', 'ferriskey#1102', [code, 'ferriskey#1102']],
  [10, 'a client assertion used twice', 'H CVE-2020-5300', [backEnd, 'H CVE-2020-5300']],
  [11, 'an assertion with several audiences', 'rfc7523bis', [backEnd, 'rfc7523bis']],
  [12, 'algorithm confusion', 'KC CVE-2026-11800', [backEnd, 'KC CVE-2026-11800']],
  [13, 'client data forged in a restarted log-in', 'KC CVE-2026-7571', [code, 'KC CVE-2026-7571']],
  [14, 'a DPoP proof unbound at userinfo', 'KC#38333', [tokens, 'KC#38333']],
  [15, 'an opaque token cut short', 'Z CVE-2026-27840', [tokens, 'Z CVE-2026-27840']],
  [16, 'revoked and still introspected as active', 'KC#35813', [tokens, 'KC#35813']],
  [
    17,
    'a locked user refreshes',
    'Z CVE-2023-22492',
    [tokens, 'Z CVE-2023-22492'],
    ['accounts/members-api.test.ts', 'Z CVE-2023-22492'],
  ],
  [18, 'a refresh token outlives a scope taken away', 'KC GHSA-895x-rfqp-jh5c', [tokens, 'KC GHSA-895x-rfqp-jh5c']],
  [19, 'a refresh or ID token as Bearer', 'elsa-core#7482', [tokens, 'elsa-core#7482']],
  [20, 'a grant shorter than its refresh token', 'Logto#7840', [tokens, 'Logto#7840']],
  [21, 'a retried refresh', 'H#1831', [tokens, 'H#1831']],
  [22, '200 for a JWT that was not revoked', 'better-auth#9970', [tokens, 'better-auth#9970']],
  [23, 'a link without email_verified upstream', 'Z CVE-2026-56666', [accounts, 'Z CVE-2026-56666']],
  [24, 'a link to an account that never proved its address', 'KC#53041', [accounts, 'KC#53041']],
  [25, 'a proof of linking not bound to the upstream account', 'KC CVE-2026-9087', [accounts, 'KC CVE-2026-9087']],
  [26, 'an upstream result used twice', 'Z CVE-2025-46815', [accounts, 'Z CVE-2025-46815']],
  [27, 'a disabled issuer still links', 'Z CVE-2025-64717', [accounts, 'Z CVE-2025-64717']],
  [28, 'a step of a reset skipped', 'KC CVE-2026-18963', [accounts, 'KC CVE-2026-18963']],
  [29, 'a mailed link built from Host', 'Z CVE-2025-64101', [accounts, 'Z CVE-2025-64101']],
  [30, 'one factor counts as two', 'Z CVE-2025-64103', [passkeys, 'CVE-2025-64103'], [here, 'Z CVE-2025-64103']],
  [31, 'no lockout on one of several doors', 'Z CVE-2025-64102', [accounts, 'Z CVE-2025-64102']],
  [
    32,
    'enumeration by log-in',
    'Z GHSA-pvm5-9frx-264r',
    [accounts, 'Z GHSA-pvm5-9frx-264r'],
    ['oidc/pages.test.ts', 'Z GHSA-pvm5-9frx-264r'],
  ],
  [32, 'enumeration by reset', 'KC GHSA-rhgq-f8x5-j2jc', [accounts, 'KC GHSA-rhgq-f8x5-j2jc']],
  [33, 'a log-in under way outlives a reset', 'KC#50632', [accounts, 'KC#50632'], [tokens, 'KC#50632']],
  [
    34,
    'requests of ours by back-channel logout',
    'KC CVE-2026-4874',
    [tokens, 'KC CVE-2026-4874'],
    [outgoing, 'back-channel logout'],
  ],
  [34, 'the same', 'Logto#9234', [tokens, 'Logto#9234'], [outgoing, 'back-channel logout']],
  [35, 'a session uid twice by parallel authorizations', 'op#1145', [code, 'op#1145']],
  [36, 'form_post under a policy for content', 'op#850', [tokens, 'op#850']],
  [37, 'form-action blocks the client', 'kanidm#3354', [code, 'kanidm#3354']],
  [38, 'the back button after the log-in', 'op#299', [code, 'op#299']],
  [39, "other users' sessions listed", 'Z CVE-2024-39683', [passkeys, 'CVE-2024-39683']],
  [40, 'logging out leaves a log-in under way', 'KC#43887', [tokens, 'KC#43887']],
  [41, "one tenant's keys, clients or cookies at another", 'op#95', [code, 'op#95'], [backEnd, 'op#95']],
];

const combined = 'oidc/combined-attacks.test.ts';
const parameters = 'oidc/parameters.test.ts';
const bounds = 'oidc/record-bounds.test.ts';

/** What is refused whatever its source: each kind of bad input that the authorization server has to stand. */
const kinds: [what: string, ...tests: [file: string, name: string][]][] = [
  ['open redirects', [here, 'KC CVE-2026-7504'], [combined, '%j is not the registered one']],
  ['a code again, also in parallel', [code, 'django-oidc-provider#410'], [combined, 'a code that is replayed while']],
  ['PKCE downgrade', [code, 'KC#26808'], [code, 'ferriskey#1102'], [combined, 'PKCE downgrade']],
  ['mix-up', [code, 'mix-up'], [combined, "another client's, and another tenant's, are none"]],
  [
    'wrong client authentication, or none',
    [backEnd, 'a wrong secret'],
    [backEnd, 'without client authentication'],
    [combined, 'Basic credentials with'],
  ],
  [
    'requests of ours to addresses inside',
    [outgoing, 'is not asked at %s'],
    [outgoing, 'where it redirects to: loopback'],
    [outgoing, 'not when it is rebound to loopback'],
    ...['discovery', 'token endpoint', 'keys (jwks_uri)', 'userinfo'].map((one): [string, string] => [
      outgoing,
      `upstream log-in: ${one}`,
    ]),
    [outgoing, 'keys of a trusted issuer (jwksUri)'],
    [outgoing, 'keys of a client (jwksUri)'],
  ],
  ['duplicated client authentication', [backEnd, 'refuses two mechanisms at once']],
  ['assertions again', [backEnd, 'H CVE-2020-5300'], [combined, 'used at one endpoint are used at all']],
  ['proofs again, at another server', [combined, 'a proof of an endpoint of ours is used once by both together']],
  [
    'oversized parameters',
    [backEnd, 'too large'],
    [combined, 'is refused when it is too large'],
    [combined, 'too many bytes'],
    [parameters, 'oidcParameterCharsMax'],
    [parameters, 'authorizationRequestCharsMax'],
  ],
  ['repeated parameters', [parameters, 'repeated: %s'], [combined, 'given twice'], [combined, 'duplicated JSON keys']],
  [
    'tables that anybody, or one person, can fill',
    [parameters, 'past it, nothing is stored'],
    [parameters, 'what a form of a page is compared with'],
    [bounds, 'sessionsPerAccountMax'],
    [bounds, 'refreshTokensKeptMax'],
  ],
  ['a stored secret sent elsewhere', ['issuers/login-secret.test.ts', 'is not sent to another issuer']],
  ['ports that there are not', [parameters, 'a redirect URI with a port']],
  ['other methods', [parameters, '%s by %s: 405']],
  ['smuggled scopes', [combined, 'a scope by white space or case']],
  ['algorithm confusion', [backEnd, 'KC CVE-2026-11800']],
  ['a stolen refresh token', [tokens, 'a reused one ends its family'], [combined, 'of another client']],
  ['host-header games', [backEnd, 'host-header games'], [combined, 'host-header games']],
  ['log-in CSRF', [code, 'log-in CSRF']],
  ['log-out and device CSRF', [combined, 'log-out CSRF'], [combined, 'device confirmation CSRF']],
  ['session fixation', [code, 'session fixation'], [combined, 'the signature of a session counts']],
  [
    'brute force',
    [accounts, 'Z CVE-2025-64102'],
    [accounts, 'at the same time'],
    [combined, 'a device code that is guessed'],
  ],
  ['enumeration by text, status and time', [accounts, 'the answer is the same'], [combined, 'read the same']],
  [
    'links opened by a mail scanner',
    ['persons/invitation.test.ts', 'mail scanner'],
    ['portal/portal.test.ts', 'mail scanners'],
    ['oidc/pages.test.ts', 'opening a mailed link changes nothing'],
    [combined, 'which scanners of mail send'],
  ],
];

const textOf = (file: string) => readFileSync(join(import.meta.dirname, '../..', file), 'utf8');
/** The names of the tests of a file, and the names in their tables. */
const namesIn = (file: string) =>
  [...textOf(file).matchAll(/^\s*(?:(?:test|describe)(?:\.each\([^)]*\))?\(|\[|\]\)\()\s*(['"`])(.*?)\1,/gm)].map(
    ([, , name]) => name as string,
  );

describe('the list', () => {
  test('has all 41', () => {
    const numbers = new Set(attacks.map(([number]) => number));
    expect([...numbers]).toEqual(Array.from({ length: 41 }, (_, i) => i + 1));
  });

  test.each(attacks)('%i. %s: %s has its test', (_number, _what, source, ...tests) => {
    const bare = source.replace(/^(KC|Z|H) /, '');
    for (const [file, name] of tests) {
      expect(textOf(file), file).toContain(bare);
      expect(
        namesIn(file).filter((one) => one.includes(name)),
        `${file}: ${name}`,
      ).not.toEqual([]);
    }
  });
});

test.each(kinds)('%s has its tests', (_what, ...tests) => {
  for (const [file, name] of tests)
    expect(
      namesIn(file).filter((one) => one.includes(name)),
      `${file}: ${name}`,
    ).not.toEqual([]);
});

const server = await createOidcServer();
const tenant = await server.tenant();
const email = 'alice@example.org';
await createAccount(server, tenant, email);
const secret = (await server.register(tenant, 'web', {
  ...webSpec,
  redirectUris: [callback, 'https://app.test/cb', 'http://localhost:9/cb'],
})) as string;
await server.register(tenant, 'app', {
  ...webSpec,
  applicationType: 'native',
  tokenEndpointAuthMethod: 'none',
  redirectUris: ['http://127.0.0.1/cb'],
});
const config = await server.discover(tenant, 'web', oc.ClientSecretBasic(secret));
const app = await server.discover(tenant, 'app', oc.None());

describe('at the authorization endpoint', () => {
  test.each([
    ['user information (KC CVE-2026-7504)', 'https://app.test@evil.test/cb'],
    ['several @ (KC CVE-2026-7504)', 'https://app.test@app.test@evil.test/cb'],
    ['a path parameter beside dots (KC CVE-2026-3872)', 'https://app.test/cb/..;/evil'],
    ['localhost as a prefix (KC CVE-2024-8883)', 'http://localhost.evil.test:9/cb'],
    ['127.0.0.1 as a prefix (KC CVE-2024-8883)', 'http://127.0.0.1.evil.test:9/cb'],
    ['a host that only begins so (KC#48430)', 'https://app.test.evil/cb'],
    ['a scheme that is a program (KC CVE-2026-9086)', 'JavaScript:alert(1)'],
    ['a document as an address (KC CVE-2026-9086)', 'data:text/html,<script>alert(1)</script>'],
    ['a query added (H CVE-2020-15233)', 'http://127.0.0.1:9/cb?to=https://evil.test'],
  ])('%s leads to a page and nowhere else, whoever the client is', async (_what, uri) => {
    for (const client of [config, app]) {
      const { page } = await begin(server, client, { redirect_uri: uri });
      expect([page.status, page.left]).toEqual([400, undefined]);
      expect(page.headers.get('location') ?? page.headers.get('refresh')).toBeNull();
      expect(page.text).toContain('<h1>');
      expect(page.text).not.toContain(uri);
    }
  });

  test('an app on a device gets its answer at the port that it chose: the refusals above are not of everything', async () => {
    const { page } = await begin(server, app, { redirect_uri: 'http://127.0.0.1:51004/cb' });
    expect(page.status).toBe(200);
    expect(page.text).toContain('name="password"');
  });
});

test('Z CVE-2025-64103: a password is told as one factor, whatever is asked for', async () => {
  const wanted = { acr_values: 'urn:accord:passkey', claims: '{"id_token":{"acr":null,"amr":null}}' };
  const { grant } = await logIn(server, config, { email, parameters: wanted });
  expect((await grant()).claims()).toMatchObject({ acr: 'urn:accord:password', amr: ['pwd'] });
});
