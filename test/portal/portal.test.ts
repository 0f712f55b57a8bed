/** /portal: a member accepts an invitation, logs in and out, and gets a token for the Config API. */
import { describe, expect, test, vi } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { ensurePortalTenant } from '../../server/portal/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { Browser } from '../helpers/browser.ts';
import { createTestServer } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { makeBundle } from './bundle.ts';
import { cookiesOf, enrolling, password } from './enrolling.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock, { directory: makeBundle() });
const { services } = server;
await ensurePortalTenant(services);
await services.snapshots.refresh('portal');

const { enrolled, invited, logIn, logOut } = enrolling(server);

const own = { 'x-accord-portal': '1', 'sec-fetch-site': 'same-origin' };

/** A portal token, as the page of the settings makes it. */
async function makeToken(browser: Browser, tenant: string) {
  const headers = { ...own, cookie: cookiesOf(browser) };
  const made = await server.app.inject({ method: 'POST', url: `/tenants/${tenant}/portal-tokens`, headers });
  return { status: made.statusCode, code: (made.json() as { code?: string }).code };
}

async function tenantsOf(browser: Browser): Promise<string[]> {
  const answer = await server.app.inject({ url: '/portal/session', headers: { ...own, cookie: cookiesOf(browser) } });
  return (answer.json() as { tenants: { code: string }[] }).tenants.map(({ code }) => code);
}

describe('a member invitation', () => {
  test('leads from its link over a password to the tenant', async () => {
    const tenant = await server.tenant({ displayName: 'Team & Sons' });
    const { page, home, browser } = await enrolled(tenant);
    expect(page.status).toBe(200);
    expect(page.text).toContain('Team & Sons');
    expect([home.status, home.url]).toEqual([200, `/portal/t/${tenant}`]);
    expect(await tenantsOf(browser)).toEqual([tenant]);
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
    expect((await tenantsOf(browser)).sort()).toEqual([first, second].sort());
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

  test('to an address whose domain has other letters is accepted by the log-in of that address', async () => {
    const [first, second] = [await server.tenant(), await server.tenant()];
    const { browser, email } = await enrolled(first, 'security-admin', 'Jan@münchen.example');
    expect(email).toBe('Jan@münchen.example');
    const { token } = await invited(second, 'support', email);
    const page = await browser.post('/portal/invitations/open', { token });
    const home = await browser.submit(page, '/portal/invitations/accept', { decision: 'accept' });
    expect([home.status, home.url]).toEqual([200, `/portal/t/${second}`]);
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
  test('needs a log-in of the last ten minutes', async () => {
    const tenant = await server.tenant();
    const { browser, email } = await enrolled(tenant);
    clock.advance(limits.portalRecentLogInMs - 1000);
    expect((await makeToken(browser, tenant)).status).toBe(201);
    clock.advance(1000);
    expect(await makeToken(browser, tenant)).toEqual({ status: 403, code: 'recent_log_in_needed' });
    const settings = `/portal/t/${tenant}/settings/token`;
    const again = `/portal/log-in?again=1&to=${encodeURIComponent(settings)}`;
    expect((await logIn(browser, email, password, again)).url).toBe(settings);
    expect((await makeToken(browser, tenant)).status).toBe(201);
  });

  test('is not made of a log-in long ago that goes on silently in a new session', async () => {
    const tenant = await server.tenant();
    const { browser, email } = await enrolled(tenant);
    await logOut(browser);
    await logIn(browser, email);
    expect((await makeToken(browser, tenant)).status).toBe(201);
    clock.advance(limits.portalRecentLogInMs);
    browser.replaceCookies(browser.cookies.filter(({ name }) => name !== 'accord_portal_session'));
    expect((await browser.get('/portal')).url).toBe('/portal');
    expect((await makeToken(browser, tenant)).code).toBe('recent_log_in_needed');
  });
});

describe('members at the portal', () => {
  test('log out, and in again by their password', async () => {
    const tenant = await server.tenant();
    const { browser, email } = await enrolled(tenant);
    const before = browser.cookies;
    await logOut(browser);
    expect((await browser.get(`/portal/t/${tenant}`)).url).toContain('/portal/oidc/interaction/');
    // The cookie of before is worth nothing.
    const thief = new Browser(server);
    thief.replaceCookies(before);
    expect((await thief.get('/portal')).url).toContain('/portal/oidc/interaction/');
    expect((await logIn(browser, email)).url).toBe('/portal');
    // Who came by the issuer is logged out there, too, and not asked again.
    const after = browser.cookies;
    const out = await logOut(browser);
    expect([out.url, out.text]).toEqual(['/portal/logged-out', expect.stringContaining('You are logged out')]);
    browser.replaceCookies(after);
    expect((await browser.get('/portal')).url).toContain('/portal/oidc/interaction/');
  });

  test('who log out at the issuer are out, and get no token', async () => {
    const tenant = await server.tenant();
    const { browser, email } = await enrolled(tenant);
    await logOut(browser);
    expect((await logIn(browser, email)).url).toBe('/portal');
    const before = browser.cookies;
    await browser.submit(await browser.get('/portal/oidc/end-session'), '/confirm', { logout: 'yes' });
    browser.replaceCookies(before);
    expect((await makeToken(browser, tenant)).status).toBe(401);
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
    const { browser, email } = await enrolled(tenant);
    const enrolling = browser.cookies;
    await logIn(browser, email, password, '/portal/log-in?again=1');
    const first = browser.cookies;
    await logIn(browser, email, password, '/portal/log-in?again=1');
    await logOut(browser);
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

  test('a person chooses from portalListItemsMax tenants, the first by their codes', async () => {
    const tenant = await server.tenant();
    const { browser, email } = await enrolled(tenant);
    const add = (from: number, to: number) =>
      asAdmin(
        server.db.adminUrl,
        `insert into accord.portal_membership (tenant, account, code)
          select tenant, id, 'a' || n from accord.account, generate_series($2::int, $3::int) n
          where tenant = 'portal' and email = $1`,
        [email, from, to],
      );
    await add(1, limits.portalListItemsMax - 1);
    expect(await tenantsOf(browser)).toEqual([tenant]);
    await add(limits.portalListItemsMax, limits.portalListItemsMax);
    expect(await tenantsOf(browser)).toEqual([]);
  });
});

describe('attacks', () => {
  test('a form of another site is refused (CSRF)', async () => {
    const browser = new Browser(server);
    const { token } = await invited(await server.tenant(), 'support');
    await browser.post('/portal/invitations/open', { token });
    const url = '/portal/invitations/enrol';
    const csrf = /name="csrf" value="([^"]*)"/.exec((await browser.get(url)).html)?.[1] ?? '';
    expect(csrf).not.toBe('');
    for (const [fields, headers] of [
      [{}, {}],
      [{ csrf: 'x' }, {}],
      [{ csrf }, { 'sec-fetch-site': 'cross-site' }],
    ] as const)
      expect((await browser.post(url, { ...fields, password }, headers)).status).toBe(403);
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
    const { browser, email } = await enrolled(tenant);
    await logOut(browser);
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
    const looked = vi.spyOn(services.oidc.providers, 'of');
    const forged = await victim.get(
      '/portal/log-in/callback?code=x&state=y&iss=http%3A%2F%2Faccord.test%2Fportal%2Foidc',
    );
    expect(forged.status).toBe(400);
    expect(victim.cookies.some(({ name }) => name === 'accord_page_session')).toBe(false);
    const again = new Browser(server);
    again.replaceCookies(kept);
    expect((await again.get('/portal/log-in/callback?code=x&state=y')).status).toBe(400);
    // No code is looked up for whoever sends one.
    expect(looked).not.toHaveBeenCalled();
    looked.mockRestore();
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
