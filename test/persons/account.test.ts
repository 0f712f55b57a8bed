/** The page of one's own account: what it shows and ends, of its own person only. */
import { describe, expect, test, vi } from 'vitest';
import {
  identityProof,
  linkIdentity,
  listIdentities,
  listPasskeys,
  logInWithIdentity,
  passkeyRegistrationOptions,
  registerPasskey,
  setAccountEnabled,
} from '../../server/accounts/index.ts';
import { limits } from '../../server/core/limits.ts';
import { beginSession } from '../../server/portal/index.ts';
import { Authenticator } from '../accounts/authenticator.ts';
import { Browser } from '../helpers/browser.ts';
import { accountServer, idsOf, password } from './own-account.ts';

const { server, cars, tenant, clock, account, accounts, logIn, person } = await accountServer();
const isLogIn = (page: { url: string }) => page.url.includes('/oidc/interaction/');
/** What a token of the person is answered. */
const statusOf = async (token: string) =>
  (await server.app.inject({ url: `/${tenant}/consents/me`, headers: { authorization: `Bearer ${token}` } }))
    .statusCode;

describe('the page', () => {
  test('is reached over a log-in at the issuer, and shows whose it is', async () => {
    const { page, email } = await person();
    expect([page.status, page.url]).toEqual([200, account]);
    expect(page.text).toContain(`${email} confirmed`);
    expect(page.text).toContain('This device');
    expect(page.text).not.toContain('Passkeys need');
  });

  test('takes a name, another one, and none', async () => {
    const { browser } = await person();
    const form = await browser.get(`${account}/name`);
    const refused = await browser.submit(form, '/name', { name: 'n'.repeat(limits.accountNameCharsMax + 1) });
    expect([refused.status, refused.html]).toEqual([400, expect.stringContaining('id="name-error"')]);
    const named = await browser.submit(form, '/name', { name: ' Alice B. ' });
    expect([named.url, named.text]).toEqual([`${account}?notice=saved`, expect.stringContaining('Alice B.')]);
    expect((await browser.get(`${account}/name`)).html).toContain('value="Alice B."');
    expect((await browser.submit(form, '/name', { name: '' })).text).not.toContain('Alice');
  });

  test('is not stored or framed, runs no script, and posts to the service alone', async () => {
    const { browser } = await person();
    const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const { headers } = await server.app.inject({ url: account, headers: { cookie } });
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY' });
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['content-security-policy']).toContain("form-action 'self'");
    expect(headers['content-security-policy']).not.toContain('script-src');
  });

  test.each([
    ['nl', 'Waar je bent ingelogd'],
    ['fr', 'Où vous êtes connecté'],
  ])('is in the language of the browser: %s', async (language, words) => {
    const { browser } = await person();
    const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const { body } = await server.app.inject({ url: account, headers: { cookie, 'accept-language': language } });
    expect(body).toContain(`<html lang="${language}">`);
    expect(body).toContain(words);
  });

  test('says what was done by words that it knows, and leads nowhere else', async () => {
    const { browser, show } = await person();
    expect((await browser.get(`${account}?notice=ended`)).text).toContain('It was ended.');
    for (const word of ['<b>evil</b>', 'constructor', '__proto__'])
      expect((await browser.get(`${account}?notice=${encodeURIComponent(word)}`)).html).not.toMatch(/class="notice/);
    for (const to of ['https://evil.example', '//evil.example', 'constructor', '/portal'])
      expect((await browser.get(`${account}/log-in?to=${encodeURIComponent(to)}`)).url).toBe(account);
    expect((await show()).status).toBe(200);
  });

  test("members' own tenant has none", async () => {
    expect((await new Browser(server).get('/portal/account')).status).toBe(404);
  });

  test('logging out ends this session and the log-in at the issuer, without another question', async () => {
    const { browser, page, show } = await person();
    const before = browser.cookies;
    const out = await browser.submit(page, '/log-out');
    expect([out.url, out.text]).toEqual([`${account}/logged-out`, expect.stringContaining('You are logged out')]);
    expect(isLogIn(await show())).toBe(true);
    // Neither the cookie of the page nor that of the issuer is worth anything now.
    browser.replaceCookies(before);
    expect(isLogIn(await show())).toBe(true);
  });
});

describe('sessions', () => {
  test('are ended one by one, with the tokens of the account', async () => {
    const { email, id, show, end } = await person();
    const other = new Browser(server);
    await logIn(email, other);
    const token = await server.user(tenant, id);
    expect(await statusOf(token)).toBe(200);
    const [theirs = '', ...rest] = idsOf(await show(), '/sessions/end');
    expect(rest).toEqual([]);
    expect((await end('/sessions/end', { id: theirs })).text).toContain('It was ended.');
    expect(isLogIn(await other.get(account))).toBe(true);
    expect(await statusOf(token)).toBe(401);
    expect(idsOf(await show(), '/sessions/end')).toEqual([]);
    expect((await end('/sessions/end', { id: theirs })).status).toBe(404);
  });

  test('are ended all but this one', async () => {
    const { email, id, show, end } = await person();
    const others = [new Browser(server), new Browser(server)];
    for (const browser of others) await logIn(email, browser);
    // One that began by signing up for an invitation.
    await beginSession(accounts, tenant, { id, epoch: 1 }, clock.now());
    expect(idsOf(await show(), '/sessions/end')).toHaveLength(3);
    await end('/sessions/end-others', {});
    expect(idsOf(await show(), '/sessions/end')).toEqual([]);
    for (const browser of others) expect(isLogIn(await browser.get(account))).toBe(true);
  });

  test('that ended answer no invitation either: its page asks who it is, and accepting waits for a log-in', async () => {
    const { email, id, end } = await person();
    const other = new Browser(server);
    await logIn(email, other);
    const { requestToken, invitationId } = await cars.invite();
    const answer = `/${tenant}/invitation/answer`;
    const opened = await other.get(`/${tenant}/invitation`);
    const before = await other.submit(opened, '/invitation/open', { code: requestToken });
    expect([before.url, before.text]).toEqual([answer, expect.stringContaining(email)]);
    await end('/sessions/end-others', {});
    const after = await other.get(answer);
    expect(after.text).not.toContain(email);
    expect(after.html).not.toContain('value="accept"');
    // The form of before is still open.
    expect(isLogIn(await other.submit(before, answer, { decision: 'accept' }))).toBe(true);
    expect(await cars.relationshipsOf(id)).toEqual([]);
    expect((await cars.backend('GET', `/sharing/invitations/${invitationId}`)).body.status).toBe('pending');
  });

  test('of a session that began by signing up, one is ended by its id', async () => {
    const { id, show, end } = await person();
    await beginSession(accounts, tenant, { id, epoch: 1 }, clock.now());
    const [theirs = ''] = idsOf(await show(), '/sessions/end');
    expect((await end('/sessions/end', { id: theirs })).text).toContain('It was ended.');
    expect(idsOf(await show(), '/sessions/end')).toEqual([]);
  });

  test('Z CVE-2024-39683: of others are neither shown nor ended', async () => {
    const [alice, bob] = [await person(), await person()];
    await logIn(bob.email);
    const [theirs = ''] = idsOf(await bob.show(), '/sessions/end');
    expect(theirs).not.toBe('');
    expect(idsOf(await alice.show(), '/sessions/end')).toEqual([]);
    expect((await alice.end('/sessions/end', { id: theirs })).status).toBe(404);
    expect(idsOf(await bob.show(), '/sessions/end')).toEqual([theirs]);
  });

  test('a session of the page ends with the log-in at the issuer that it came from', async () => {
    const { browser, show } = await person();
    const end = await browser.get(`/${tenant}/oidc/end-session`);
    const kept = browser.cookies.filter(({ name }) => name.includes('own_session'));
    await browser.submit(end, '/end-session/confirm', { logout: 'yes' });
    browser.replaceCookies(kept);
    expect(isLogIn(await show())).toBe(true);
  });

  test('at most accountItemsMax are read at once, and all others are ended all the same', async () => {
    const { id, show, end } = await person();
    for (let i = 0; i <= limits.accountItemsMax; i++)
      await beginSession(accounts, tenant, { id, epoch: 1 }, clock.now());
    expect(idsOf(await show(), '/sessions/end')).toHaveLength(limits.accountItemsMax);
    await end('/sessions/end-others', {});
    expect(idsOf(await show(), '/sessions/end')).toEqual([]);
  });
});

describe('the password', () => {
  const next = 'another good pass phrase';

  test('is changed by whoever knows the current one: other sessions end, this one goes on', async () => {
    const { id, email, browser, show } = await person();
    const other = new Browser(server);
    await logIn(email, other);
    const token = await server.user(tenant, id);
    expect(await statusOf(token)).toBe(200);
    const wrong = await browser.submit(await show(), '/account/password', { currentPassword: 'no', password: next });
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('This password is not right.')]);
    const without = await browser.submit(wrong, '/account/password', { currentPassword: '', password: next });
    expect([without.status, without.text]).toEqual([400, expect.stringContaining('This password is not right.')]);
    const weak = await browser.submit(without, '/account/password', {
      currentPassword: password,
      password: 'password1',
    });
    expect([weak.status, weak.text]).toEqual([400, expect.stringContaining('too well known')]);
    expect((await other.get(account)).url).toBe(account);
    const before = browser.cookies.find(({ name }) => name.includes('own_session'))?.value;
    const waits = vi.spyOn(server.services.oidc, 'waitForRevision');
    const done = await browser.submit(weak, '/account/password', { currentPassword: password, password: next });
    // It answers when this server refuses tokens that were issued before.
    expect(waits).toHaveBeenCalledWith(tenant, server.services.snapshots.get(tenant)?.revision);
    waits.mockRestore();
    expect([done.url, done.text]).toEqual([`${account}?notice=saved`, expect.stringContaining('It was saved.')]);
    expect(browser.cookies.find(({ name }) => name.includes('own_session'))?.value).not.toBe(before);
    expect(await statusOf(token)).toBe(401);
    const asked = await other.get(account);
    expect(isLogIn(asked)).toBe(true);
    expect((await other.submit(asked, '/log-in', { email, password })).status).toBe(401);
    expect((await other.submit(asked, '/log-in', { email, password: next })).url).toBe(account);
  });
});

describe('what would harm if somebody else did it', () => {
  test('needs a recent log-in (portalRecentLogInMs), which proves the person anew', async () => {
    const { email, id, browser, show } = await person();
    const page = await show();
    const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(page.html) ?? [];
    const key = await passkeyOf(id);
    clock.shiftMs += limits.portalRecentLogInMs;
    const changes = { currentPassword: password, password: 'another good pass phrase' };
    for (const [path, fields] of [
      ['/password', changes],
      ['/passkeys/end', { id: key, confirmed: '1' }],
      ['/passkeys/new', { credential: '{}' }],
      ['/log-ins/end', { id: 'x', confirmed: '1' }],
      ['/log-ins/link', { upstream: 'x' }],
    ] as const)
      expect([path, isLogIn(await browser.post(account + path, { csrf, ...fields }))]).toEqual([path, true]);
    expect(await listPasskeys(accounts, tenant, id)).toHaveLength(1);
    const later = await show();
    expect(later.html).not.toContain('name="currentPassword"');
    const form = await browser.get(`${account}/passkeys/new`);
    expect(isLogIn(form)).toBe(true);
    expect(form.html).toContain(email);
    clock.shiftMs -= limits.portalRecentLogInMs;
    const gone = await browser.submit(form, '/log-in', { email, password });
    expect([gone.url, gone.text]).toEqual([`${account}/passkeys/new`, expect.stringContaining('Add a passkey')]);
    // The password is still the one of before.
    expect((await logIn(email)).url).toBe(account);
  });
});

/** Adds one, as the person would. @returns its id */
async function passkeyOf(id: string): Promise<string> {
  const response = new Authenticator('http://accord.test').create(
    await passkeyRegistrationOptions(accounts, tenant, id),
  );
  return (await registerPasskey(accounts, tenant, { account: id, response, name: 'Phone' })).id;
}

describe('passkeys', () => {
  test('are added with a name and removed, which is asked for before', async () => {
    const { id, browser, show, end } = await person();
    const form = await browser.get(`${account}/passkeys/new`);
    expect(form.text).toContain('Passkeys need JavaScript');
    const options = JSON.parse(
      (/data-options="([^"]*)"/.exec(form.html)?.[1] ?? '').replaceAll('&quot;', '"').replaceAll('&#39;', "'"),
    );
    const credential = JSON.stringify(new Authenticator('http://accord.test').create(options));
    const refused = await browser.submit(form, '/passkeys/new', { credential: '{' });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('That did not work')]);
    const added = await browser.submit(form, '/passkeys/new', { credential, name: ' Blue key ' });
    expect(added.text).toContain('Your passkey was added.');
    expect(added.text).toContain('Blue key');
    // A challenge is answered once.
    expect((await browser.submit(form, '/passkeys/new', { credential })).status).toBe(400);
    const [key = ''] = idsOf(added, '/passkeys/end');
    const asked = await browser.submit(added, '/passkeys/end');
    expect(asked.text).toContain('Remove the passkey Blue key?');
    expect(await listPasskeys(accounts, tenant, id)).toHaveLength(1);
    await end('/passkeys/end', { id: key });
    expect(idsOf(await show(), '/passkeys/end')).toEqual([]);
  });

  test('are renamed; a name that is refused is said at its field', async () => {
    const { id, browser, show } = await person();
    const key = await passkeyOf(id);
    const at = `${account}/passkeys/name`;
    expect((await show()).html).toContain(`${at}?id=${key}`);
    const form = await browser.get(`${at}?id=${key}`);
    for (const name of [' ', 'a\u0007b', 'n'.repeat(limits.passkeyNameCharsMax + 1)]) {
      const refused = await browser.submit(form, '/passkeys/name', { name });
      expect([refused.status, refused.html]).toEqual([400, expect.stringContaining('id="name-error"')]);
    }
    const longest = 'n'.repeat(limits.passkeyNameCharsMax);
    const renamed = await browser.submit(form, '/passkeys/name', { name: ` ${longest} ` });
    expect([renamed.url, renamed.text]).toEqual([`${account}?notice=saved`, expect.stringContaining(longest)]);
  });

  test('of others are not found', async () => {
    const [alice, bob] = [await person(), await person()];
    const key = await passkeyOf(bob.id);
    expect((await alice.browser.get(`${account}/passkeys/name?id=${key}`)).status).toBe(404);
    expect((await alice.end('/passkeys/name', { id: key, name: 'Mine' })).status).toBe(404);
    expect(await listPasskeys(accounts, tenant, bob.id)).toMatchObject([{ name: 'Phone' }]);
    expect((await alice.end('/passkeys/end', { id: key, confirmed: '1' })).status).toBe(404);
    expect(await listPasskeys(accounts, tenant, bob.id)).toHaveLength(1);
  });
});

describe('linked log-ins', () => {
  const idp = 'https://idp.example';
  const enabled = { isEnabled: () => true };

  /** Somebody who came from another issuer and has no password, in a browser that is logged in. */
  async function withoutPassword() {
    const open = await server.tenant({ login: { selfRegistration: 'open' } });
    const identity = { issuer: idp, subject: 'carol', email: 'carol@example.com', emailVerified: true };
    const made = await logInWithIdentity(accounts, open, { identity, ...enabled });
    if (!('account' in made)) throw new Error(JSON.stringify(made));
    const browser = new Browser(server);
    const value = await beginSession(accounts, open, made.account, clock.now());
    browser.replaceCookies([{ name: 'accord_own_session', value, path: `/${open}` }]);
    return { browser, id: made.account.id, at: `/${open}/account`, open };
  }

  test('are shown by the host of the issuer, and unlinked after that was asked for', async () => {
    const { id, browser, show, end } = await person();
    const identity = { issuer: idp, subject: 'alice' };
    const { token } = await identityProof(accounts, tenant, { account: id, identity });
    await linkIdentity(accounts, tenant, { token, account: id, ...enabled });
    const page = await show();
    expect(page.text).toContain('idp.example');
    const [own = ''] = idsOf(page, '/log-ins/end');
    expect((await browser.submit(page, '/log-ins/end')).text).toContain('Unlink idp.example?');
    const stranger = await person();
    expect((await stranger.end('/log-ins/end', { id: own, confirmed: '1' })).status).toBe(404);
    expect(await listIdentities(accounts, tenant, id)).toHaveLength(1);
    expect((await end('/log-ins/end', { id: own })).text).toContain('The log-in is not linked any more.');
    expect(await listIdentities(accounts, tenant, id)).toEqual([]);
    // No issuer can be linked here.
    expect((await end('/log-ins/link', { upstream: 'acme' })).status).toBe(404);
  });

  test('the last way to log in stays, and whoever has no password chooses a first one', async () => {
    const { browser, id, at, open } = await withoutPassword();
    const page = await browser.get(at);
    expect(page.html).not.toContain('name="currentPassword"');
    const asked = await browser.submit(page, '/log-ins/end');
    const refused = await browser.submit(asked, '/log-ins/end', { confirmed: '1' });
    expect([refused.url, refused.text]).toEqual([
      `${at}?notice=last_way`,
      expect.stringContaining('This is your only way to log in.'),
    ]);
    expect(await listIdentities(accounts, open, id)).toHaveLength(1);
    const done = await browser.submit(refused, '/account/password', { password });
    expect(done.text).toContain('It was saved.');
    expect(done.html).toContain('name="currentPassword"');
    expect((await browser.submit(await browser.get(at), '/log-ins/end')).text).toContain('Unlink');
  });
});

describe('attacks', () => {
  test('a form of another site, without its token, or of another session is refused (CSRF)', async () => {
    const [{ browser, page, show }, other] = [await person(), await person()];
    const tokenOf = ({ html }: { html: string }) => /name="csrf" value="([^"]*)"/.exec(html)?.[1] ?? '';
    const csrf = tokenOf(page);
    for (const path of [
      ...['/log-out', '/password', '/sessions/end', '/sessions/end-others', '/passkeys/new', '/passkeys/end'],
      ...['/name', '/passkeys/name'],
      ...['/log-ins/end', '/log-ins/link', '/clients/end', '/shares/end', '/relationships/end', '/consents/end'],
    ]) {
      for (const [fields, headers] of [
        [{}, {}],
        [{ csrf: 'x' }, {}],
        [{ csrf: tokenOf(other.page) }, {}],
        [{ csrf }, { 'sec-fetch-site': 'cross-site' }],
        [{ csrf }, { 'sec-fetch-site': 'same-site' }],
      ] as const)
        expect([path, (await browser.post(account + path, { ...fields, confirmed: '1' }, headers)).status]).toEqual([
          path,
          403,
        ]);
      expect(isLogIn(await new Browser(server).post(account + path, { csrf, confirmed: '1' }))).toBe(true);
    }
    expect((await show()).url).toBe(account);
  });

  test('a session that was planted before the log-in is not the one after it (session fixation)', async () => {
    const [attacker, victim] = [await person(), await person()];
    const planted = attacker.browser.cookies.filter(({ name }) => name.includes('own_session'));
    const browser = new Browser(server);
    browser.replaceCookies(planted);
    const asked = await browser.get(`${account}/log-in?again=1`);
    const page = await browser.submit(asked, '/log-in', { email: victim.email, password });
    expect(page.text).toContain(victim.email);
    const after = browser.cookies.filter(({ name }) => name.includes('own_session'));
    expect(after).toHaveLength(1);
    expect(after[0]?.value).not.toBe(planted[0]?.value);
    // Two of the name: one may be planted by a neighbour.
    browser.replaceCookies([...after, { ...(planted[0] as (typeof planted)[0]), path: account }]);
    expect(isLogIn(await browser.get(account))).toBe(true);
  });

  test('of an account that was disabled, nothing is shown or done', async () => {
    const { id, browser, page, show, email } = await person();
    await logIn(email);
    const csrf = /name="csrf" value="([^"]*)"/.exec((await show()).html)?.[1] ?? '';
    await setAccountEnabled(accounts, tenant, { id, enabled: false }, { actor: 'member:test' });
    expect(isLogIn(await show())).toBe(true);
    const answer = await browser.post(`${account}/password`, {
      csrf,
      currentPassword: password,
      password: 'x'.repeat(20),
    });
    expect(isLogIn(answer)).toBe(true);
    expect(page.url).toBe(account);
  });

  test("another tenant's session is worth nothing", async () => {
    const { browser } = await person();
    const other = await server.tenant();
    browser.replaceCookies(browser.cookies.map((one) => ({ ...one, path: one.path.replace(tenant, other) })));
    expect(isLogIn(await browser.get(`/${other}/account`))).toBe(true);
  });
});
