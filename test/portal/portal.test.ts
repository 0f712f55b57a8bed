/** /portal: a member accepts an invitation, logs in, invites others, and copies the token for the Config API. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { ensurePortalTenant } from '../../server/portal/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { Browser, type Page } from '../helpers/browser.ts';
import { createTestServer } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { configClient } from '../policies/config-client.ts';
import { makeBundle } from './bundle.ts';
import { enrolling, password, type Role } from './enrolling.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock, { directory: makeBundle() });
const { services } = server;
await ensurePortalTenant(services);
await services.snapshots.refresh('portal');

const { newAddress, invited, logIn, ...enrol } = enrolling(server);

/** `home`: the tenant's first page that needs no web application. */
async function enrolled(tenant: string, role: Role = 'security-admin') {
  const { home: landed, ...person } = await enrol.enrolled(tenant, role);
  return { ...person, landed, home: await person.browser.get(`/portal/tenants/${tenant}`) };
}

const tokenOn = (page: Page) => /eyJ[\w-]+\.[\w-]+\.[\w-]+/.exec(page.text)?.[0] ?? '';

describe('a member invitation', () => {
  test('leads from its link over a password to the tenant', async () => {
    const tenant = await server.tenant({ displayName: 'Team & Sons' });
    const { page, landed, home, email } = await enrolled(tenant);
    expect(page.status).toBe(200);
    expect(page.text).toContain('Team & Sons');
    expect([landed.status, landed.url]).toEqual([200, `/portal/t/${tenant}`]);
    expect(home.url).toBe(`/portal/tenants/${tenant}/members`);
    expect(home.text).toMatch(/^Members – Team & Sons – Accord .*These people administer Team & Sons\./);
    expect(home.text).toContain(email);
  });

  test('keeps the form when the name is refused', async () => {
    const { token } = await invited(await server.tenant(), 'config-editor');
    const browser = new Browser(server);
    await browser.post('/portal/invitations/open', { token });
    const form = await browser.get('/portal/invitations/enrol');
    const refused = await browser.submit(form, '/portal/invitations/enrol', { displayName: 'A\u0007nn', password });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('Use one line of at most')]);
  });

  test('is not used up by opening its link, whoever does (mail scanners)', async () => {
    const tenant = await server.tenant();
    const { token } = await invited(tenant, 'config-editor');
    for (let i = 0; i < 3; i++) {
      const page = await new Browser(server).post('/portal/invitations/open', { token });
      expect(page.status).toBe(200);
    }
    expect((await new Browser(server).get(`/portal/invitations?x#${token}`)).status).toBe(200);
  });

  test('works once, and says so afterwards', async () => {
    const tenant = await server.tenant();
    const { token } = await enrolled(tenant);
    const page = await new Browser(server).post('/portal/invitations/open', { token });
    expect(page.status).toBe(410);
  });

  test.each([
    ['', 400],
    ['nonsense', 400],
    [`t0000.${'x'.repeat(43)}`, 404],
  ])('refuses the code %j with a page', async (token, status) => {
    const page = await new Browser(server).post('/portal/invitations/open', { token });
    expect(page.status).toBe(status);
    expect(page.html).toContain('<!doctype html>');
  });

  test('refuses a weak password beside its field, and then takes a good one', async () => {
    const tenant = await server.tenant();
    const browser = new Browser(server);
    const { token } = await invited(tenant, 'config-editor');
    await browser.post('/portal/invitations/open', { token });
    const form = await browser.get('/portal/invitations/enrol');
    expect(form.text).not.toContain('share something');
    const weak = await browser.submit(form, '/enrol', { password: 'password1' });
    expect([weak.status, weak.text]).toEqual([400, expect.stringContaining('too well known')]);
    const home = await browser.submit(weak, '/enrol', { password });
    expect(home.url).toBe(`/portal/t/${tenant}`);
  });

  test('of somebody who has a log-in asks for it, and the link alone does not replace the password', async () => {
    const [first, second] = [await server.tenant(), await server.tenant()];
    const { email } = await enrolled(first);
    const { token } = await invited(second, 'support', email);
    const browser = new Browser(server);
    await browser.post('/portal/invitations/open', { token });
    const form = await browser.get('/portal/invitations/enrol');
    const asked = await browser.submit(form, '/enrol', { password: 'another correct horse staple' });
    expect(asked.url).toContain('/portal/oidc/interaction/');
    const wrong = await browser.submit(asked, '/log-in', { email, password: 'another correct horse staple' });
    expect(wrong.status).toBe(401);
    const question = await browser.submit(wrong, '/log-in', { email, password });
    expect(question.url).toBe('/portal/invitations/accept');
    const home = await browser.submit(question, '/portal/invitations/accept', { decision: 'accept' });
    expect(home.url).toBe(`/portal/t/${second}`);
    const choice = await browser.get('/portal/tenants');
    expect(choice.text).toContain(first);
    expect(choice.text).toContain(second);
  });

  test('is not taken from a page of another site (log-in CSRF)', async () => {
    const tenant = await server.tenant();
    const { token } = await invited(tenant, 'support');
    const browser = new Browser(server);
    const page = await browser.post('/portal/invitations/open', { token }, { 'sec-fetch-site': 'cross-site' });
    expect(page.status).toBe(403);
    expect(browser.cookies).toEqual([]);
  });

  test.each([
    ['https://evil.example', 403],
    ['null', 403],
    [undefined, 403],
    ['http://accord.test', 200],
  ])(
    'is taken from a browser without Sec-Fetch-Site only with our Origin: %j is %i (log-in CSRF)',
    async (origin, status) => {
      const tenant = await server.tenant();
      const { token } = await invited(tenant, 'support');
      const answer = await server.app.inject({
        method: 'POST',
        url: '/portal/invitations/open',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...(origin === undefined ? {} : { origin }) },
        payload: `token=${token}`,
      });
      expect(answer.statusCode).toBe(status);
      expect(answer.headers['set-cookie'] === undefined).toBe(status === 403);
    },
  );

  test('that is put off says that its link still works', async () => {
    const tenant = await server.tenant();
    const { token } = await invited(tenant, 'config-viewer');
    const browser = new Browser(server);
    const page = await browser.post('/portal/invitations/open', { token });
    const later = await browser.submit(page, '/portal/invitations/accept', { decision: 'later' });
    expect([later.status, later.text]).toEqual([200, expect.stringContaining('Nothing was decided')]);
    expect((await browser.post('/portal/invitations/open', { token })).text).toContain('You are invited');
  });

  test('for another address than that of the log-in is not accepted', async () => {
    const [first, second] = [await server.tenant(), await server.tenant()];
    const { browser } = await enrolled(first);
    const { token } = await invited(second, 'security-admin');
    const page = await browser.post('/portal/invitations/open', { token });
    expect(page.html).not.toContain('value="accept"');
    const taken = await browser.submit(page, '/portal/invitations/accept', { decision: 'accept' });
    expect(taken.status).toBe(403);
  });
});

describe('a token for the Config API', () => {
  test('is made at the page of tokens, shown once, works, is listed, and ends when it is revoked', async () => {
    const tenant = await server.tenant();
    const { browser } = await enrolled(tenant);
    const page = await browser.get(`/portal/tenants/${tenant}/tokens`);
    const made = await browser.submit(page, '/tokens');
    const token = tokenOn(made);
    const call = () =>
      server.app.inject({ url: `/tenants/${tenant}/members`, headers: { authorization: `Bearer ${token}` } });
    expect((await call()).statusCode).toBe(200);
    const again = await browser.get(`/portal/tenants/${tenant}/tokens`);
    expect(tokenOn(again)).toBe('');
    const id = /name="id" value="([^"]*)"/.exec(again.html)?.[1] ?? '';
    await browser.submit(again, '/tokens/revoke', { id });
    expect((await call()).statusCode).toBe(401);
  });

  test('needs a log-in of the last ten minutes', async () => {
    const tenant = await server.tenant();
    const { browser, email } = await enrolled(tenant);
    clock.advance(limits.portalRecentLogInMs - 1000);
    const page = await browser.get(`/portal/tenants/${tenant}/tokens`);
    expect(tokenOn(await browser.submit(page, '/tokens'))).not.toBe('');
    clock.advance(1000);
    expect(tokenOn(await browser.submit(page, '/tokens'))).toBe('');
    const late = await browser.get(`/portal/tenants/${tenant}/tokens`);
    const again = /href="([^"]*again=1[^"]*)"/.exec(late.html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const back = await logIn(browser, email, password, again);
    expect(back.url).toBe(`/portal/tenants/${tenant}/tokens`);
    expect(tokenOn(await browser.submit(back, '/tokens'))).not.toBe('');
  });

  test('is not made of a log-in long ago that goes on silently in a new session', async () => {
    const tenant = await server.tenant();
    const { browser, email, home } = await enrolled(tenant);
    await browser.submit(home, '/portal/log-out');
    await logIn(browser, email);
    const make = async () =>
      tokenOn(await browser.submit(await browser.get(`/portal/tenants/${tenant}/tokens`), '/tokens'));
    expect(await make()).not.toBe('');
    const page = await browser.get(`/portal/tenants/${tenant}/tokens`);
    clock.advance(limits.portalRecentLogInMs);
    browser.replaceCookies(browser.cookies.filter(({ name }) => name !== 'accord_portal_session'));
    const silent = await browser.get(`/portal/tenants/${tenant}/tokens`);
    expect(silent.url).toBe(`/portal/tenants/${tenant}/tokens`);
    const csrf = /name="csrf" value="([^"]*)"/.exec(silent.html)?.[1] ?? '';
    expect(tokenOn(await browser.post(page.url, { csrf }))).toBe('');
  });

  test('ends with the next request when its member is removed', async () => {
    const tenant = await server.tenant();
    const admin = await enrolled(tenant);
    const editor = await enrolled(tenant, 'config-editor');
    const token = tokenOn(
      await editor.browser.submit(await editor.browser.get(`/portal/tenants/${tenant}/tokens`), '/tokens'),
    );
    const call = () =>
      server.app.inject({ url: `/tenants/${tenant}/policies`, headers: { authorization: `Bearer ${token}` } });
    expect((await call()).statusCode).toBe(200);
    const members = await admin.browser.get(`/portal/tenants/${tenant}/members`);
    const list = (await (await configClient(server, tenant, 'security-admin'))('GET', '/members')).body.members;
    const { id } = list.find((one: { email: string }) => one.email === editor.email);
    await admin.browser.submit(members, '/members/remove', { id });
    expect((await call()).statusCode).toBe(401);
    expect((await editor.browser.get(`/portal/tenants/${tenant}/tokens`)).status).toBe(404);
  });
});

describe('members at the portal', () => {
  test('invite others and withdraw it; the last security admin stays', async () => {
    const tenant = await server.tenant();
    const { browser } = await enrolled(tenant);
    const members = await browser.get(`/portal/tenants/${tenant}/members`);
    expect(members.html).not.toContain('/members/remove"'); // nobody else is there to be removed
    const form = await browser.get(`/portal/tenants/${tenant}/invitations/new`);
    const wrong = await browser.submit(form, '/invitations', { email: 'nobody', role: 'support' });
    expect(wrong.status).toBe(400);
    const email = newAddress();
    const sent = await browser.submit(form, '/invitations', { email, role: 'config-editor' });
    expect(sent.text).toContain(`http://accord.test/portal/invitations#${tenant}.`);
    const twice = await browser.submit(form, '/invitations', { email, role: 'config-editor' });
    expect(twice.status).toBe(409);
    const list = await browser.get(`/portal/tenants/${tenant}/invitations`);
    expect(list.text).toContain(email);
    const id = /name="id" value="([^"]*)"/.exec(list.html)?.[1] ?? '';
    await browser.submit(list, '/invitations/withdraw', { id });
    const token = /#([\w.-]+)/.exec(sent.text)?.[1] ?? '';
    expect((await new Browser(server).post('/portal/invitations/open', { token })).status).toBe(410);
    const own = (await (await configClient(server, tenant, 'security-admin'))('GET', '/members')).body.members;
    expect(own.some((one: { role: string }) => one.role === 'security-admin')).toBe(true);
  });

  test('without the role see no members and invite nobody', async () => {
    const tenant = await server.tenant();
    const { browser, home } = await enrolled(tenant, 'config-viewer');
    expect(home.url).toBe(`/portal/tenants/${tenant}/tokens`);
    const csrf = /name="csrf" value="([^"]*)"/.exec(home.html)?.[1] ?? '';
    for (const path of ['members', 'invitations', 'invitations/new'])
      expect([path, (await browser.get(`/portal/tenants/${tenant}/${path}`)).status]).toEqual([path, 403]);
    const posted = await browser.post(`/portal/tenants/${tenant}/invitations`, {
      csrf,
      email: 'a@b.example',
      role: 'support',
    });
    expect(posted.status).toBe(403);
  });

  test('of one tenant find no other there', async () => {
    const [tenant, other] = [await server.tenant(), await server.tenant()];
    const { browser } = await enrolled(tenant);
    for (const code of [other, 'nowhere', 'portal'])
      expect([code, (await browser.get(`/portal/tenants/${code}/tokens`)).status]).toEqual([code, 404]);
  });

  test('log out, and in again by their password', async () => {
    const tenant = await server.tenant();
    const { browser, email, home } = await enrolled(tenant);
    const before = browser.cookies;
    await browser.submit(home, '/portal/log-out');
    expect((await browser.get(`/portal/tenants/${tenant}/tokens`)).url).toContain('/portal/oidc/interaction/');
    // The cookie of before is worth nothing.
    const thief = new Browser(server);
    thief.replaceCookies(before);
    expect((await thief.get('/portal')).url).toContain('/portal/oidc/interaction/');
    const back = await logIn(browser, email);
    expect(back.url).toBe(`/portal/tenants/${tenant}/members`);
    // Who came by the issuer is logged out there, too, and not asked again.
    const after = browser.cookies;
    const out = await browser.submit(back, '/portal/log-out');
    expect([out.url, out.text]).toEqual(['/portal/logged-out', expect.stringContaining('You are logged out')]);
    browser.replaceCookies(after);
    expect((await browser.get('/portal')).url).toContain('/portal/oidc/interaction/');
  });

  test('who log out at the issuer are out, and get no token', async () => {
    const tenant = await server.tenant();
    const { browser, email, home } = await enrolled(tenant);
    await browser.submit(home, '/portal/log-out');
    const back = await logIn(browser, email);
    expect(back.url).toBe(`/portal/tenants/${tenant}/members`);
    const page = await browser.get(`/portal/tenants/${tenant}/tokens`);
    const before = browser.cookies;
    await browser.submit(await browser.get('/portal/oidc/end-session'), '/confirm', { logout: 'yes' });
    browser.replaceCookies(before);
    const made = await browser.submit(page, '/tokens');
    expect([made.url.includes('/portal/oidc/interaction/'), tokenOn(made)]).toEqual([true, '']);
    expect((await browser.get('/portal')).url).toContain('/portal/oidc/interaction/');
    const left = await asAdmin(
      server.db.adminUrl,
      `select s.id from accord.page_session s join accord.account a on a.tenant = s.tenant and a.id = s.account where a.email = $1`,
      [email],
    );
    expect(left).toEqual([]);
  });

  test('who log in again, or enrol, end the session of before', async () => {
    const tenant = await server.tenant();
    const { browser, email, home } = await enrolled(tenant);
    const enrolling = browser.cookies;
    await logIn(browser, email, password, '/portal/log-in?again=1');
    const first = browser.cookies;
    await logIn(browser, email, password, '/portal/log-in?again=1');
    await browser.submit(home, '/portal/log-out');
    const other = await enrolled(tenant);
    const kept = other.browser.cookies;
    const { token } = await invited(await server.tenant(), 'support');
    await other.browser.post('/portal/invitations/open', { token });
    await other.browser.submit(await other.browser.get('/portal/invitations/enrol'), '/enrol', { password });
    for (const cookies of [enrolling, first, kept]) {
      const thief = new Browser(server);
      thief.replaceCookies(cookies.filter(({ name }) => name === 'accord_portal_session'));
      expect((await thief.get('/portal')).url).toContain('/portal/oidc/interaction/');
    }
  });

  test('whose account is disabled are out at once', async () => {
    const tenant = await server.tenant();
    const { browser, email } = await enrolled(tenant);
    await asAdmin(
      server.db.adminUrl,
      `update accord.account set enabled = false where tenant = 'portal' and email = $1`,
      [email],
    );
    expect((await browser.get('/portal')).url).toContain('/portal/oidc/interaction/');
  });

  test('are logged out after pageSessionTtlMs', async () => {
    const tenant = await server.tenant();
    const { browser } = await enrolled(tenant);
    clock.advance(limits.pageSessionTtlMs - 60_000);
    expect((await browser.get('/portal')).url).toBe('/portal');
    clock.advance(60_000);
    expect((await browser.get('/portal')).url).toContain('/portal/oidc/interaction/');
  });
});

describe('bounds', () => {
  test('a form has at most portalFormBytesMax', async () => {
    const post = (bytes: number) => {
      const token = 'x'.repeat(bytes - 'token='.length);
      return new Browser(server).post('/portal/invitations/open', { token });
    };
    expect((await post(limits.portalFormBytesMax)).status).toBe(400);
    expect((await post(limits.portalFormBytesMax + 1)).status).toBe(413);
  });

  test('a log-in under way is kept for portalLogInMs', async () => {
    const tenant = await server.tenant();
    const { email } = await enrolled(tenant);
    for (const [passed, url] of [
      [limits.portalLogInMs - 1000, '/portal'],
      [limits.portalLogInMs, '/portal/log-in/callback'],
    ] as const) {
      const browser = new Browser(server);
      const page = await browser.get('/portal');
      clock.advance(passed);
      const done = await browser.submit(page, '/log-in', { email, password });
      expect(done.url.split('?')[0]).toBe(url);
    }
  });

  test('a page lists portalListItemsMax members', async () => {
    const tenant = await server.tenant();
    const { browser } = await enrolled(tenant);
    await asAdmin(
      server.db.adminUrl,
      `insert into accord.member (tenant, email, role) select $1, 'z' || n || '@team.example', 'support' from generate_series(1, $2) n`,
      [tenant, limits.portalListItemsMax],
    );
    const { html } = await browser.get(`/portal/tenants/${tenant}/members`);
    expect(html.match(/@team\.example/g)?.length).toBeGreaterThanOrEqual(limits.portalListItemsMax);
    expect(html.match(/>z\d+@team\.example/g)).toHaveLength(limits.portalListItemsMax - 1);
  });
});

describe('attacks', () => {
  test('a form of another site is refused (CSRF)', async () => {
    const tenant = await server.tenant();
    const { browser, home } = await enrolled(tenant);
    const csrf = /name="csrf" value="([^"]*)"/.exec(home.html)?.[1] ?? '';
    const url = `/portal/tenants/${tenant}/tokens`;
    for (const [fields, headers] of [
      [{}, {}],
      [{ csrf: 'x' }, {}],
      [{ csrf }, { 'sec-fetch-site': 'cross-site' }],
    ] as const)
      expect((await browser.post(url, fields, headers)).status).toBe(403);
  });

  test.each([
    'https://evil.example',
    '//evil.example',
    '/portal/../evil',
    '/portal/tenants/a/tokens/../..',
    '@evil.example',
    'user@evil.example',
    '/portal/t/demo/%2e%2e/%2e%2e/%2e%2e/evil',
    '/portal/t/demo\\..\\evil',
    'javascript:alert(1)',
  ])('the log-in does not lead to %s afterwards (open redirect)', async (to) => {
    const tenant = await server.tenant();
    const { browser, email, home } = await enrolled(tenant);
    await browser.submit(home, '/portal/log-out');
    const back = await logIn(browser, email, password, `/portal/log-in?to=${encodeURIComponent(to)}`);
    expect(back.url).toBe('/portal');
  });

  test('an answer of the issuer in another browser, or a second time, begins no session (log-in CSRF)', async () => {
    const tenant = await server.tenant();
    const { email } = await enrolled(tenant);
    const [attacker, victim] = [new Browser(server), new Browser(server)];
    const page = await attacker.get('/portal');
    const kept = attacker.cookies;
    await attacker.submit(page, '/log-in', { email, password });
    await victim.get('/portal/log-in');
    const forged = await victim.get(
      '/portal/log-in/callback?code=x&state=y&iss=http%3A%2F%2Faccord.test%2Fportal%2Foidc',
    );
    expect(forged.status).toBe(400);
    expect(victim.cookies.some(({ name }) => name === 'accord_page_session')).toBe(false);
    const again = new Browser(server);
    again.replaceCookies(kept);
    expect((await again.get('/portal/log-in/callback?code=x&state=y')).status).toBe(400);
  });

  test("the portal's own tenant answers nothing but its authorization server", async () => {
    for (const [method, url] of [
      ['POST', '/authz/portal'],
      ['GET', '/portal/consents/me'],
      ['GET', '/tenants/portal/policies'],
      ['GET', '/tenants/portal/members'],
      ['GET', '/portal/actors/user/x/relationships'],
    ] as const) {
      const headers = { authorization: 'Bearer x' };
      const { statusCode } = await server.app.inject({
        method,
        url,
        headers,
        ...(method === 'POST' ? { payload: {} } : {}),
      });
      expect([url, statusCode]).toEqual([url, 404]);
    }
    expect((await server.app.inject('/portal/oidc/.well-known/openid-configuration')).json().issuer).toBe(
      'http://accord.test/portal/oidc',
    );
  });
});
