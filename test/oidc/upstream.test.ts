/** Logging in by another issuer, and what others do with it. */
import * as oc from 'openid-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listIdentities, setAccountEnabled } from '../../server/accounts/index.ts';
import { limits } from '../../server/core/limits.ts';
import { apiOwner } from '../../server/core/ownership.ts';
import { deleteIssuer } from '../../server/issuers/index.ts';
import { begin, createAccount, password, webSpec } from './logging-in.ts';
import { Browser, createOidcServer, type Visited } from './relying-party.ts';
import { startUpstream, type UpstreamServer } from './upstreams.ts';

/** What is waited for is not waited for. */
let aheadMs = 0;
const clock = { now: () => Date.now() + aheadMs, monotonic: () => performance.now() };
afterEach(() => {
  aheadMs = 0;
});
const server = await createOidcServer({}, { clock });
const idp = await startUpstream();
const { services } = server;

async function tenantWith(login: 'open' | 'invitation' | 'none' = 'open', upstream: UpstreamServer = idp) {
  const tenant = await server.tenant({ login: { selfRegistration: login } });
  await upstream.trust(server, tenant);
  const secret = (await server.register(tenant, 'web', webSpec)) as string;
  return { tenant, config: await server.discover(tenant, 'web', oc.ClientSecretBasic(secret)) };
}

let count = 0;
const someone = (verified = true) => {
  const [id, email] = [`sub-${++count}`, `person${count}@example.org`];
  idp.persons.set(id, { email, email_verified: verified, name: `Person ${count}` });
  return { id, email };
};

const { tenant, config } = await tenantWith();

/** Presses the button. @returns where the other issuer is asked */
async function press(page: Visited, browser: Browser, name = 'idp'): Promise<URL> {
  const gone = await browser.submit(page, '/upstream', { upstream: name });
  if (gone.left === undefined) throw new Error(`${gone.status} ${gone.text}`);
  return gone.left;
}

/** All of it, up to the application or the page that says why not. */
async function logInBy(
  user: string,
  {
    with: of = config,
    change = (url: URL, _when: 'there' | 'back') => url,
    parameters = {} as Record<string, string>,
  } = {},
) {
  const begun = await begin(server, of, parameters);
  const there = change(await press(begun.page, begun.browser), 'there');
  const back = change(await idp.visit(there, user), 'back');
  return { ...begun, back, done: await begun.browser.open(back) };
}

const subOf = async ({ grant, done }: Awaited<ReturnType<typeof logInBy>>) =>
  (await grant(done.left as URL)).claims() as oc.IDToken;

describe('somebody logs in by another issuer', () => {
  test('makes an account with the verified address the first time, and finds it again', async () => {
    const { id, email } = someone();
    const begun = await begin(server, config);
    expect(begun.page.text).toContain('Continue with The Other');
    const first = await subOf(
      await logInBy(id, { parameters: { claims: '{"id_token":{"amr":null,"acr":null,"auth_time":null}}' } }),
    );
    expect(first).toMatchObject({ amr: ['fed'], acr: 'urn:accord:upstream', auth_time: expect.any(Number) });
    expect((await subOf(await logInBy(id))).sub).toBe(first.sub);
    expect(await listIdentities(services.accounts, tenant, first.sub)).toMatchObject([
      { issuer: idp.issuer, subject: id },
    ]);
    // Its address has changed there: it is still the same account.
    idp.persons.set(id, { email: `new-${email}`, email_verified: true });
    expect((await subOf(await logInBy(id))).sub).toBe(first.sub);
  });

  test('auth_time is when the other issuer asked, not now', async () => {
    const { id } = someone();
    const before = Math.floor(Date.now() / 1000);
    const begun = await begin(server, config, { claims: '{"id_token":{"auth_time":null}}' });
    const there = await press(begun.page, begun.browser);
    const done = await begun.browser.open(await idp.visit(there, id));
    const { auth_time: at } = (await begun.grant(done.left as URL)).claims() as oc.IDToken;
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
  });

  test('an application that wants the person to be asked anew has it asked there', async () => {
    const { id } = someone();
    const seen: URL[] = [];
    const change = (url: URL, when: string) => {
      if (when === 'there') seen.push(url);
      return url;
    };
    const done = await logInBy(id, { parameters: { prompt: 'login' }, change });
    expect(seen[0]?.searchParams.get('prompt')).toBe('login');
    expect(seen[0]?.searchParams.get('max_age')).toBe('0');
    expect((await subOf(done)).sub).toBeTruthy();
  });

  test('signs its tokens with ES256, and reads the address from userinfo', async () => {
    const other = await startUpstream({ alg: 'ES256' });
    const own = await tenantWith('open', other);
    other.persons.set('eve', { email: 'eve@example.org', email_verified: true });
    const begun = await begin(server, own.config);
    const done = await begun.browser.open(await other.visit(await press(begun.page, begun.browser), 'eve'));
    expect(done.left?.searchParams.get('code')).toBeTruthy();
    expect(other.requests).toContain('GET /me');
  });
});

describe('an account that has the address', () => {
  let person: { id: string; email: string };
  let account: string;
  beforeEach(async () => {
    person = someone();
    account = await createAccount(server, tenant, person.email);
  });

  test('is linked after both sides are proved, and then found by either', async () => {
    const asked = await logInBy(person.id);
    expect([asked.done.status, asked.done.left]).toEqual([200, undefined]);
    expect(asked.done.text).toContain('There is an account with your email address');
    expect(asked.done.text).toContain(person.email);
    const wrong = await asked.browser.submit(asked.done, '/log-in', { email: person.email, password: 'not it at all' });
    expect(wrong.status).toBe(401);
    expect(await listIdentities(services.accounts, tenant, account)).toEqual([]);
    const done = await asked.browser.submit(asked.done, '/log-in', { email: person.email, password });
    expect((await subOf({ ...asked, done })).sub).toBe(account);
    expect(await listIdentities(services.accounts, tenant, account)).toMatchObject([{ subject: person.id }]);
    expect((await subOf(await logInBy(person.id))).sub).toBe(account);
  });

  test('is not linked by the proof of another account', async () => {
    const email = `other-${person.email}`;
    const other = await createAccount(server, tenant, email);
    const asked = await logInBy(person.id);
    const done = await asked.browser.submit(asked.done, '/log-in', { email, password });
    expect((await subOf({ ...asked, done })).sub).toBe(other);
    for (const one of [account, other]) expect(await listIdentities(services.accounts, tenant, one)).toEqual([]);
  });

  test('is not linked by a log-in that another browser, or another tab, began (25: proof not bound)', async () => {
    await logInBy(person.id);
    const { browser, page } = await begin(server, config);
    expect((await browser.submit(page, '/log-in', { email: person.email, password })).left).toBeDefined();
    expect(await listIdentities(services.accounts, tenant, account)).toEqual([]);
  });

  test('is not linked when ten minutes have passed (identityLinkTtlMs)', async () => {
    const asked = await logInBy(person.id);
    aheadMs = limits.identityLinkTtlMs + 1;
    await asked.browser.submit(asked.done, '/log-in', { email: person.email, password });
    expect(await listIdentities(services.accounts, tenant, account)).toEqual([]);
  });

  test('is neither told of nor found by an address that is not verified there (23)', async () => {
    idp.persons.set(person.id, { email: person.email, email_verified: false });
    const { done } = await logInBy(person.id);
    expect([done.status, done.text]).toEqual([403, expect.stringContaining('not confirmed there')]);
    idp.persons.set('stranger', { email: 'nobody@example.org', email_verified: false });
    expect((await logInBy('stranger')).done.text).toContain('not confirmed there');
  });
});

describe('attacks', () => {
  test('log-in CSRF: an answer that another browser asked for', async () => {
    const { id } = someone();
    const attacker = await begin(server, config);
    const back = await idp.visit(await press(attacker.page, attacker.browser), id);
    const victim = await begin(server, config);
    for (const browser of [victim.browser, new Browser(server)]) {
      const done = await browser.open(back);
      expect([done.status, done.left]).toEqual([400, undefined]);
    }
    // Without the way over the callback: the victim's own log-in has not asked for it.
    const direct = await victim.browser.open(new URL(`${victim.page.url}/upstream${back.search}`));
    expect([direct.status, direct.left, direct.text]).toEqual([
      400,
      undefined,
      expect.stringContaining('did not work'),
    ]);
  });

  test('replay: an answer is used once (26)', async () => {
    const { id, email } = someone();
    await createAccount(server, tenant, email);
    const { back, browser, page } = await logInBy(id);
    const again = await browser.open(back);
    expect([again.status, again.left]).toEqual([400, undefined]);
    // The same without the way over the callback, as who loads the page anew.
    const reloaded = await browser.open(new URL(`${page.url}/upstream${back.search}`));
    expect([reloaded.status, reloaded.text]).toEqual([400, expect.stringContaining('did not work')]);
    const other = someone();
    const done = await logInBy(other.id);
    expect((await done.browser.open(done.back)).status).toBe(400);
  });

  test('replay in parallel: one of several at once', async () => {
    const { id, email } = someone();
    await createAccount(server, tenant, email);
    const { page, browser } = await begin(server, config);
    const back = await idp.visit(await press(page, browser), id);
    const all = await Promise.all(Array.from({ length: 5 }, () => browser.open(back)));
    expect(all.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
  });

  const changed = (when: 'there' | 'back', how: (query: URLSearchParams) => void) => (url: URL, now: string) => {
    if (now === when) how(url.searchParams);
    return url;
  };
  test.each([
    ['another nonce', changed('there', (query) => query.set('nonce', 'another'))],
    ['iss of another issuer (mix-up)', changed('back', (query) => query.set('iss', 'https://evil.example'))],
    ['no iss, although it is announced', changed('back', (query) => query.delete('iss'))],
    ['a code of somebody else', changed('back', (query) => query.set('code', 'x'.repeat(43)))],
    ['a parameter twice', changed('back', (query) => query.append('code', 'another'))],
  ])('%s is refused, and the page says what to do', async (_name, change) => {
    const { id } = someone();
    const { done } = await logInBy(id, { change });
    expect([done.status, done.left]).toEqual([400, undefined]);
    expect(done.text).toContain('did not work');
  });

  test('a code that somebody made up is refused, and the issuer is not discovered anew for it', async () => {
    const discoveries = () => idp.requests.filter((one) => one.includes('/.well-known/')).length;
    await logInBy(someone().id);
    const before = discoveries();
    for (const code of ['made-up', '', 'x'.repeat(43)]) {
      const { done } = await logInBy(someone().id, { change: changed('back', (query) => query.set('code', code)) });
      expect([code, done.status]).toEqual([code, 400]);
    }
    await logInBy(someone().id);
    expect(discoveries()).toBe(before);
  });

  test('another PKCE challenge is refused by the exchange', async () => {
    const { id } = someone();
    const { done } = await logInBy(id, {
      change: changed('there', (query) => query.set('code_challenge', 'x'.repeat(43))),
    });
    expect([done.status, done.left]).toEqual([400, undefined]);
  });

  test('an ID token that the keys of the issuer do not verify', async () => {
    const [own, stranger] = [await tenantWith(), await startUpstream()];
    await idp.trust(server, own.tenant, 'idp', {}, `${stranger.issuer}/jwks`);
    const { page, browser } = await begin(server, own.config);
    const done = await browser.open(await idp.visit(await press(page, browser), someone().id));
    expect([done.status, done.left]).toEqual([400, undefined]);
    expect(stranger.requests).toContain('GET /jwks');
  });

  test('another state, none, or a long one begins nothing', async () => {
    const { id } = someone();
    for (const state of ['x', '', 'x'.repeat(limits.upstreamStateCharsMax + 1)]) {
      const { done } = await logInBy(id, { change: changed('back', (query) => query.set('state', state)) });
      expect([done.status, done.left]).toEqual([400, undefined]);
    }
  });

  test("another issuer's answer at this one's address is not taken (mix-up)", async () => {
    const own = await tenantWith();
    const evil = await startUpstream();
    await evil.trust(server, own.tenant, 'evil');
    evil.persons.set('victim', { email: 'victim@example.org', email_verified: true });
    const { page, browser } = await begin(server, own.config);
    const back = await evil.visit(await press(page, browser, 'evil'), 'victim');
    back.pathname = back.pathname.replace('/evil/', '/idp/');
    expect((await browser.open(back)).status).toBe(400);
  });

  test('a form without its token, of another site, or for an issuer that is not there', async () => {
    const { page, browser } = await begin(server, config);
    const post = (body: Record<string, string>, headers: Record<string, string> = {}) =>
      fetch(`${page.url}/upstream`, {
        method: 'POST',
        headers: {
          ...{ cookie: browser.jar.header(page.url.pathname), 'content-type': 'application/x-www-form-urlencoded' },
          ...headers,
        },
        body: new URLSearchParams(body).toString(),
      });
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    expect((await post({ upstream: 'idp' })).status).toBe(403);
    expect((await post({ upstream: 'idp', csrf }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    for (const upstream of ['nobody', '__proto__', '../idp', 'x'.repeat(1000)])
      expect((await post({ upstream, csrf })).status).toBe(404);
  });
});

describe('what an issuer can be like', () => {
  test('down: the page says so, and another way to log in is left', async () => {
    const { page, browser } = await begin(server, (await tenantWith()).config);
    idp.state.answers = false;
    const down = await browser.submit(page, '/upstream', { upstream: 'idp' });
    idp.state.answers = true;
    expect([down.status, down.text]).toEqual([502, expect.stringContaining('cannot be reached now')]);
    expect(down.text).toContain('name="password"');
    expect(server.observations).toContainEqual(
      expect.objectContaining({ kind: 'upstream_log_in_failed', failure: 'unavailable', issuer: idp.issuer }),
    );
  });

  test('down when somebody comes back', async () => {
    const { id } = someone();
    const { page, browser } = await begin(server, config);
    const back = await idp.visit(await press(page, browser), id);
    idp.state.answers = false;
    const down = await browser.open(back);
    idp.state.answers = true;
    expect(down.status).toBe(502);
  });

  test('its keys were rotated while somebody logged in, and since the last log-in', async () => {
    const { id } = someone();
    await logInBy(id);
    const { page, browser } = await begin(server, config);
    const back = await idp.visit(await press(page, browser), id);
    await idp.rotate();
    expect((await browser.open(back)).left?.searchParams.get('code')).toBeTruthy();
  });

  test('it says that the person cancelled', async () => {
    const { page, browser } = await begin(server, config);
    const there = await press(page, browser);
    const back = new URL(there.searchParams.get('redirect_uri') as string);
    back.search = new URLSearchParams({
      ...{ error: 'access_denied', state: there.searchParams.get('state') as string, iss: idp.issuer },
    }).toString();
    const done = await browser.open(back);
    expect([done.status, done.text]).toEqual([400, expect.stringContaining('You did not log in there')]);
  });

  test('it was deleted, or its client was replaced, while somebody logged in (27)', async () => {
    const own = await tenantWith();
    const { id } = someone();
    const writer = { owner: apiOwner, actor: 'member:test' };
    for (const end of [
      () => idp.trust(server, own.tenant, 'idp', { clientId: 'another' }),
      () => deleteIssuer(services.issuers, writer, own.tenant, 'idp'),
    ]) {
      await idp.trust(server, own.tenant);
      const { page, browser } = await begin(server, own.config);
      const back = await idp.visit(await press(page, browser), id);
      await end();
      await services.snapshots.refresh(own.tenant);
      const done = await browser.open(back);
      expect([done.status, done.text]).toEqual([403, expect.stringContaining('not offered any more')]);
    }
    const { page } = await begin(server, own.config);
    expect(page.text).not.toContain('The Other');
  });

  test('its client has no secret: PKCE alone', async () => {
    const own = await tenantWith();
    await idp.trust(server, own.tenant, 'idp', { hasSecret: false });
    const { page, browser } = await begin(server, own.config);
    const back = await idp.visit(await press(page, browser), someone().id);
    // This issuer wants one, and says so.
    expect((await browser.open(back)).status).toBe(502);
  });
});

describe('who may', () => {
  test('sign-up is by invitation only: an unknown person gets no account, and is told what to do', async () => {
    const own = await tenantWith('invitation');
    const { done } = await logInBy(someone().id, { with: own.config });
    expect([done.status, done.text]).toEqual([403, expect.stringContaining('Ask for an invitation')]);
  });

  test('a disabled account does not log in by it', async () => {
    const { id } = someone();
    const { sub } = await subOf(await logInBy(id));
    await setAccountEnabled(services.accounts, tenant, { id: sub, enabled: false }, { actor: 'member:test' });
    const { done } = await logInBy(id);
    expect([done.status, done.text]).toEqual([403, expect.stringContaining('does not give access here')]);
    await setAccountEnabled(services.accounts, tenant, { id: sub, enabled: true }, { actor: 'member:test' });
    expect((await subOf(await logInBy(id))).sub).toBe(sub);
  });

  test('it takes longer than upstreamLogInTtlMs', async () => {
    const { id } = someone();
    const { page, browser } = await begin(server, config);
    const back = await idp.visit(await press(page, browser), id);
    aheadMs = limits.upstreamLogInTtlMs + 1;
    expect((await browser.open(back)).status).toBe(400);
  });
});
