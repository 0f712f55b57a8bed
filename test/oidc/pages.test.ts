/** What people do besides logging in by password: signing up, forgotten passwords, passkeys; and the pages that mails lead to. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as oc from 'openid-client';
import { afterAll, expect, test } from 'vitest';
import { requestPasswordReset } from '../../server/accounts/index.ts';
import { limits } from '../../server/core/limits.ts';
import { startOutbox } from '../../server/mail/index.ts';
import { begin, createAccount, logIn, password, webSpec } from './logging-in.ts';
import { audience, Browser, createOidcServer } from './relying-party.ts';

const server = await createOidcServer();
const { register, discover } = server;
const tenant = await server.tenant({ login: { selfRegistration: 'open', languages: ['nl', 'en'] } });
const closed = await server.tenant();
const open = async (at: string) =>
  discover(at, 'web', oc.ClientSecretBasic((await register(at, 'web', webSpec)) as string));
const config = await open(tenant);

const directory = await mkdtemp(join(tmpdir(), 'accord-outbox-'));
afterAll(() => rm(directory, { recursive: true }));
/** The link of the mail that was sent last. */
async function mailedLink(): Promise<string> {
  const paths: string[] = [];
  await startOutbox(server.services, directory, ({ path }) => paths.push(path))();
  return /^http\S+$/m.exec(await readFile(paths.at(-1) as string, 'utf8'))?.[0] ?? '';
}

/** A page without what each has of its own. */
const alike = (text: string, email: string) =>
  text
    .replaceAll(email, 'ADDRESS')
    .replace(/interaction\/[\w-]+/g, 'interaction/UID')
    .replace(/name="(csrf|pending)" value="[\w-]{43}"/g, 'name="$1"');

test('somebody signs up by the mailed link and the password, and logs in; later it chooses another password', async () => {
  const email = 'walker@example.org';
  const begun = await begin(server, config, { audience });
  const form = await begun.browser.open(`${begun.page.url}/sign-up`);
  await begun.browser.submit(form, '/sign-up', { email, password });
  const link = await mailedLink();
  const stranger = new Browser(server);
  const asked = await stranger.open(link);
  expect(asked.text).toMatch(new RegExp(`<input[^>]*value="${email}"`));
  const wrong = await stranger.submit(asked, '/account/verify', { password: 'not the password' });
  expect([wrong.status, wrong.text]).toEqual([401, expect.stringContaining(`value="${email}"`)]);
  expect((await stranger.submit(asked, '/account/verify', { password: '' })).status).toBe(400);
  const { browser } = begun;
  const done = await browser.submit(await browser.open(link), '/account/verify', { password });
  expect([done.status, done.text]).toEqual([200, expect.stringContaining('Your account is ready')]);
  // What it shows is worth nothing to another browser.
  expect((await stranger.submit(done, '/verified')).status).toBe(400);
  const first = await browser.submit(done, '/verified');
  expect(first.left?.searchParams.get('code')).toBeTruthy();
  const forgot = await begin(server, config);
  await forgot.browser.submit(await forgot.browser.open(`${forgot.page.url}/reset`), '/reset', { email });
  const reset = await mailedLink();
  const page = await stranger.open(reset);
  expect(page.text).toContain(`for ${email}`);
  const { access_token: token } = await begun.grant(first.left);
  const decide = () =>
    fetch(`${server.origin}/authz/${tenant}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"subject":{"type":"user","id":"a"},"action":"x","resource":{"type":"car","id":"1"}}',
    });
  expect((await decide()).status).toBe(403);
  expect((await stranger.submit(page, '/account/reset', { password: 'short' })).text).toContain('id="password-error"');
  const changed = await stranger.submit(page, '/account/reset', { password: 'another good password' });
  expect([changed.status, changed.text]).toEqual([
    200,
    expect.stringContaining(`href="${server.baseUrl}/${tenant}/account"`),
  ]);
  expect((await decide()).status).toBe(401);
  expect((await stranger.submit(page, '/account/reset', { password: 'another good password' })).status).toBe(410);
  expect((await stranger.open(reset)).status).toBe(410);
  const old = await begin(server, config, {}, { jar: begun.browser.jar });
  expect(old.page.text).toContain('name="password"'); // its session ended
  expect((await old.browser.submit(old.page, '/log-in', { email, password })).status).toBe(401);
});

test('somebody who opens the mailed link in another browser goes on at its account, without the password again', async () => {
  const email = 'elsewhere@example.org';
  const { browser, page } = await begin(server, config);
  await browser.submit(await browser.open(`${page.url}/sign-up`), '/sign-up', { email, password });
  const other = new Browser(server);
  const done = await other.submit(await other.open(await mailedLink()), '/account/verify', { password });
  // Neither without the page's token nor in a browser that has not shown it.
  for (const [by, changed] of [
    [other, { csrf: '' }],
    [new Browser(server), {}],
  ] as const)
    expect((await by.submit(done, '/account/verified', changed)).text).not.toContain(email);
  const account = await other.submit(done, '/account/verified');
  expect([account.url.pathname, account.text]).toEqual([`/${tenant}/account`, expect.stringContaining(email)]);
});

test('a log-in that waits for the person to go on is over when the password was changed meanwhile', async () => {
  const email = 'waiting@example.org';
  const { browser, page } = await begin(server, config);
  await browser.submit(await browser.open(`${page.url}/sign-up`), '/sign-up', { email, password });
  const ready = await browser.submit(await browser.open(await mailedLink()), '/account/verify', { password });
  const other = await begin(server, config);
  await other.browser.submit(await other.browser.open(`${other.page.url}/reset`), '/reset', { email });
  const reset = await other.browser.open(await mailedLink());
  const changed = await other.browser.submit(reset, '/account/reset', { password: 'another good password' });
  expect(changed.status).toBe(200);
  const late = await browser.submit(ready, '/verified');
  // It is this step that refuses it, and none behind it.
  expect([late.status, late.left, late.url.pathname]).toEqual([400, undefined, expect.stringMatching(/\/verified$/)]);
});

test('the mail of a sign-up is sent again', async () => {
  const email = 'slow@example.org';
  const { browser, page } = await begin(server, config);
  const signedUp = await browser.submit(await browser.open(`${page.url}/sign-up`), '/sign-up', { email, password });
  const first = await mailedLink();
  const again = await browser.submit(signedUp, '/sign-up', { again: '1' });
  expect([again.status, again.text]).toEqual([200, expect.stringContaining('It was sent again')]);
  const second = await mailedLink();
  expect(second).not.toBe(first);
  expect((await browser.submit(await browser.open(second), '/account/verify', { password })).status).toBe(200);
});

test('the mail of a reset is sent again; the page of its link leads back to the log-in', async () => {
  const email = 'forgetful@example.org';
  await createAccount(server, tenant, email);
  const forgot = await begin(server, config);
  const asked = await forgot.browser.submit(await forgot.browser.open(`${forgot.page.url}/reset`), '/reset', { email });
  const one = await mailedLink();
  expect((await forgot.browser.submit(asked, '/reset', { again: '1' })).text).toContain('It was sent again');
  const link = await mailedLink();
  expect(link).not.toBe(one);
  const changed = await forgot.browser.submit(await forgot.browser.open(link), '/account/reset', {
    password: 'another good password',
  });
  expect(changed.text).toContain(`href="${forgot.page.url}"`);
});

test('somebody signs up, and is told the same whether the address has an account', async () => {
  const taken = 'taken@example.org';
  await createAccount(server, tenant, taken);
  const texts: string[] = [];
  for (const email of ['new@example.org', taken]) {
    const { browser, page } = await begin(server, config);
    const form = await browser.open(`${page.url}/sign-up`);
    const sent = await browser.submit(form, '/sign-up', { email, password, displayName: 'N' });
    expect(sent.status).toBe(200);
    texts.push(alike(sent.text, email));
  }
  expect(texts[0]).toBe(texts[1]);
});

test('an unsuitable password is said at its field', async () => {
  const { browser, page } = await begin(server, config);
  const form = await browser.open(`${page.url}/sign-up`);
  const short = await browser.submit(form, '/sign-up', { email: 'a@example.org', password: 'short' });
  expect(short.status).toBe(400);
  expect(short.text).toContain('id="password-error"');
});

test('a name that is refused is said at its field, and what was typed stays; none is needed', async () => {
  const { browser, page } = await begin(server, config);
  const typed = { email: 'named@example.org', password };
  const form = await browser.open(`${page.url}/sign-up`);
  for (const displayName of ['A\u0007nn', 'n'.repeat(limits.accountNameCharsMax + 1)]) {
    const refused = await browser.submit(form, '/sign-up', { ...typed, displayName });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('id="displayName-error"')]);
    expect(refused.text).toContain(`value="${typed.email}"`);
    expect(refused.text).toContain(`at most ${limits.accountNameCharsMax} characters`);
  }
  expect((await browser.submit(form, '/sign-up', { ...typed, displayName: ' ' })).text).toContain('Check your mail');
});

test('a tenant without open sign-up has no such page', async () => {
  const { browser, page } = await begin(server, await open(closed));
  expect(page.text).not.toContain('/sign-up');
  expect((await browser.open(`${page.url}/sign-up`)).status).toBe(403);
});

test('Z GHSA-pvm5-9frx-264r: a forgotten password is answered the same for every address', async () => {
  const texts: string[] = [];
  for (const email of ['taken@example.org', 'nobody@example.org']) {
    const { browser, page } = await begin(server, config);
    const form = await browser.open(`${page.url}/reset`);
    const sent = await browser.submit(form, '/reset', { email });
    texts.push(alike(sent.text, email));
  }
  expect(texts[0]).toBe(texts[1]);
});

test('what is no address is said at its field when a password is forgotten', async () => {
  const { browser, page } = await begin(server, config);
  const inLogIn = await browser.submit(await browser.open(`${page.url}/reset`), '/reset', { email: 'bob@' });
  const alone = await browser.open(`${server.origin}/${tenant}/account/reset`);
  for (const asked of [inLogIn, await browser.submit(alone, '/account/reset', { email: 'bob@' })])
    expect([asked.status, asked.text]).toEqual([400, expect.stringContaining('id="email-error"')]);
});

test('a NUL in a form is refused with the field that has it', async () => {
  const { browser, page } = await begin(server, config);
  const refused = await browser.submit(page, '/log-in', { email: 'bob\0@example.org', password });
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('/email: The text contains a NUL')]);
});

test('a network that asked for too many mails is told so, and how long to wait', async () => {
  const { browser, page } = await begin(server, await open(closed));
  const form = await browser.open(`${page.url}/reset`);
  for (let i = 0; i < limits.accountMailsNetworkFreeMax; i++)
    await requestPasswordReset(server.services.accounts, closed, { email: `${i}@example.org`, network: '127.0.0.1' });
  const asked = await browser.submit(form, '/reset', { email: 'somebody@example.org' });
  expect([asked.status, asked.text]).toEqual([429, expect.stringContaining('Try again in 1 minute.')]);
  expect(asked.headers.get('retry-after')).toBe('60');
});

test('the passkey page has a script of its own and no other; what proves nothing is refused', async () => {
  const { browser, page } = await begin(server, config);
  const form = await browser.open(`${page.url}/passkey`);
  expect(page.text).not.toContain('/passkey'); // not where the host is an IP address
  expect(form.headers.get('content-security-policy')).toContain("script-src 'self'");
  expect(form.text).toContain('data-options=');
  for (const credential of ['', '{', 'null', '7', '"id"', '[]', '{"id":7}', '{"id":"x"}', '{"id":"\\u0000"}'])
    expect((await browser.submit(form, '/passkey', { credential })).status).toBe(401);
});

test('opening a mailed link changes nothing; a wrong one leads to a page', async () => {
  const browser = new Browser(server);
  const at = `${server.origin}/${tenant}/account`;
  for (const path of ['verify', 'reset'])
    for (const token of ['a'.repeat(43), 'zzz', ''])
      if (path === 'verify' || token !== '')
        expect((await browser.open(`${at}/${path}?token=${token}`)).text).toContain('This link does not work any more');
  expect((await browser.open(at)).text).toContain('name="email"');
});

test('pages speak the language that is asked for, of those that the tenant has', async () => {
  const { page } = await begin(server, config, { ui_locales: 'nl' });
  expect(page.text).toContain('lang="nl"');
  const french = await begin(server, config, { ui_locales: 'fr' });
  expect(french.page.text).not.toContain('<html lang="fr"');
});

test('a person logs in with an address in another case', async () => {
  const { done } = await logIn(server, config, { email: 'TAKEN@example.org' });
  expect(done.left?.searchParams.get('code')).toBeTruthy();
});
