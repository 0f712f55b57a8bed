/** The sharing page's server: its document, the session as the caller of the management APIs, and each way in which that is refused. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { putTenant } from '../../server/tenants/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { Browser } from '../helpers/browser.ts';
import { manifestWriter, tenantSpec } from '../helpers/server.ts';
import { ownersMay } from '../invitations/inviting.ts';
import { configClient } from '../policies/config-client.ts';
import { makeBundle } from '../portal/bundle.ts';
import { accountServer } from './own-account.ts';

const directory = join(mkdtempSync(join(tmpdir(), 'accord-sharing-')), 'dist');
const login = {
  selfRegistration: 'invitation' as const,
  sharingPage: true,
  brand: { logo: 'https://img.example/logo.svg', colours: { primary: '#0a7a3c' } },
};
const displayName = 'Cars "<b>" & __ACCORD_BASE__';
const site = await accountServer({ login, displayName, allowedOrigins: ['https://app.example'] }, { directory });
const { server, tenant, cars, person, define, clock } = site;
const { backend, policy, user } = cars;

type Person = Awaited<ReturnType<typeof person>>;
type Headers = Record<string, string>;
const own: Headers = { 'x-accord-account': '1', 'sec-fetch-site': 'same-origin' };
const cookieOf = ({ browser }: Pick<Person, 'browser'>) =>
  `accord_own_session=${browser.cookies.find(({ name }) => name === 'accord_own_session')?.value ?? ''}`;

type Asked = { headers?: Headers; body?: object; at?: string };

/** A request of the page of somebody; `at`: another tenant. */
async function ask(cookie: string, method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, asked: Asked = {}) {
  const { headers = own, body, at = tenant } = asked;
  const response = await server.app.inject({
    ...{ method, url: `/${at}${path}`, headers: { ...headers, ...(cookie === '' ? {} : { cookie }) } },
    ...(body === undefined ? {} : { payload: body }),
  });
  return { status: response.statusCode, body: response.body === '' ? undefined : response.json() };
}

async function owner() {
  const alice = await person();
  const car = { type: 'car', id: `car-${randomBytes(4).toString('hex')}` };
  const body = { relationshipType: 'is_owner_of', to: car };
  expect((await backend('POST', `/actors/user/${alice.id}/relationships`, { body })).status).toBe(201);
  return { alice, cookie: cookieOf(alice), car };
}
const inviting = (car: object, email: string, more: object = {}) => ({
  ...{ relationshipType: 'drives', to: car, invitee: { contact: { type: 'email', value: email } }, delivery: 'mail' },
  ...more,
});

for (const verb of ['invitation:create', 'invitation:revoke', 'invitation:resend', 'delete'])
  await policy(`user:drives:car:${verb}`, ownersMay());
await policy('user:relationships:list', 'package p\noutcome := "allow" if input.subject.id == input.resource.id');
await server.services.snapshots.refresh(tenant);

test('the page is that of the account while the application is not built', async () => {
  const alice = await person();
  expect((await alice.browser.get(`/${tenant}/account/sharing`)).url).toBe(`/${tenant}/account`);
});

describe('the document', () => {
  beforeAll(() => {
    makeBundle(directory);
  });

  test('has a strict policy, a nonce of its own, and the tenant in its look', async () => {
    const alice = await person();
    const url = `/${tenant}/account/sharing/consents`;
    const page = await server.app.inject({ url, headers: { cookie: cookieOf(alice) } });
    const [, nonce = ''] = /name="csp-nonce" content="([^"]+)"/.exec(page.body) ?? [];
    expect(nonce).toMatch(/^[\w+/]{22}==$/);
    expect(page.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' https://img.example data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types default`,
    });
    expect(page.body).toContain(`name="accord-tenant" content="${tenant}"`);
    expect(page.body).not.toContain('<b>');
    const [, brand = ''] = /name="accord-brand" content="([^"]+)"/.exec(page.body) ?? [];
    const read = JSON.parse(
      brand.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
    );
    expect(read).toMatchObject({ name: displayName, logo: 'https://img.example/logo.svg' });
    expect(read.colours.light).toMatchObject({ fill: '#0a7a3c', onFill: '#ffffff' });
  });

  test('is for who is logged in: others come back to the same page after the log-in', async () => {
    const { email } = await person();
    const back = await site.logIn(email, new Browser(server), `/${tenant}/account/sharing/invitations`);
    expect([back.status, back.url]).toEqual([200, `/${tenant}/account/sharing/invitations`]);
  });

  test('is linked from the page of the account', async () => {
    const { page } = await person();
    expect(page.html).toContain(`/${tenant}/account/sharing"`);
    expect(page.text).toContain('Shares, invitations and consents');
  });
});

describe('a request of the page', () => {
  test('is the person, as its token would be', async () => {
    const { alice, cookie, car } = await owner();
    expect(await ask(cookie, 'GET', '/account/sharing/session')).toMatchObject({
      status: 200,
      body: { email: alice.email, emailVerified: true, actor: { type: 'user', id: alice.id } },
    });
    const byToken = await (await user(alice.id))('GET', `/actors/user/${alice.id}/relationships`);
    const bySession = await ask(cookie, 'GET', `/actors/user/${alice.id}/relationships`);
    expect(bySession).toMatchObject({ status: 200, body: byToken.body });
    expect((await ask(cookie, 'POST', '/sharing/invitations', { body: inviting(car, 'bob@example.com') })).status).toBe(
      200,
    );
    const [entry] = await asAdmin(
      server.db.adminUrl,
      `select actor from accord.audit_entry where tenant = $1 and object_kind = 'invitation' order by at desc limit 1`,
      [tenant],
    );
    expect(entry).toEqual({ actor: `user:user:${alice.id}` });
  });

  test('may what the person may, and no more', async () => {
    const [{ alice, cookie }, other] = [await owner(), await owner()];
    const invited = inviting(other.car, 'bob@example.com');
    expect((await ask(cookie, 'POST', '/sharing/invitations', { body: invited })).status).toBe(403);
    expect((await ask(cookie, 'GET', `/actors/user/${other.alice.id}/relationships`)).status).toBe(403);
    // What only back ends may call takes no session.
    for (const path of ['/consents?userId=bob', '/relationships/export', '/consents/events'])
      expect((await ask(cookie, 'GET', path)).status).toBe(401);
    expect((await ask(cookie, 'GET', `/sharing/invitations?actions=true`)).body.invitations).toEqual([]);
    const body = { relationshipType: 'is_owner_of', to: other.car };
    expect((await ask(cookie, 'POST', `/actors/user/${alice.id}/relationships`, { body })).status).toBe(403);
  });

  test('of another person has nothing of this one', async () => {
    const [{ alice, cookie, car }, other] = [await owner(), await owner()];
    const made = await ask(cookie, 'POST', '/sharing/invitations', { body: inviting(car, 'bob@example.com') });
    const { invitationId } = made.body;
    expect((await ask(other.cookie, 'DELETE', `/sharing/invitations/${invitationId}`)).status).toBe(403);
    expect((await ask(other.cookie, 'GET', `/sharing/invitations/${invitationId}`)).status).toBe(403);
    const { given, own: mine } = (await ask(cookie, 'GET', '/sharing/shares')).body;
    expect([given, mine.length]).toEqual([[], 1]);
    expect((await ask(other.cookie, 'DELETE', `/sharing/shares/${mine[0].id}`)).status).toBe(404);
    const notHers = inviting(car, 'bob@example.com', { invitor: { type: 'user', id: alice.id } });
    expect((await ask(other.cookie, 'POST', '/sharing/invitations', { body: notHers })).status).toBe(403);
  });
});

describe('no request of the page is', () => {
  const paths = ['/sharing/shares', '/sharing/invitations', '/consents/me', '/account/sharing/session'];
  const refused: Record<string, Headers> = {
    'one without the header': { 'sec-fetch-site': 'same-origin' },
    'one with another value of the header': { ...own, 'x-accord-account': 'yes' },
    'one with the header of the portal': { 'x-accord-portal': '1', 'sec-fetch-site': 'same-origin' },
    'one of another site': { ...own, 'sec-fetch-site': 'cross-site' },
    'one of another host of the site': { ...own, 'sec-fetch-site': 'same-site' },
    'one that a person typed': { ...own, 'sec-fetch-site': 'none' },
    'one of another origin, of a browser that says no more': {
      'x-accord-account': '1',
      origin: 'https://evil.example',
    },
  };
  test.each(Object.entries(refused))('%s', async (_, headers) => {
    const cookie = cookieOf(await person());
    for (const path of paths) expect([path, (await ask(cookie, 'GET', path, { headers })).status]).toEqual([path, 401]);
    const body = { name: 'x', version: '1', document: { version: '1', language: 'en' } };
    expect((await ask(cookie, 'POST', '/consents', { headers, body })).status).toBe(401);
  });

  test('one without a cookie, or with a value that nobody has', async () => {
    for (const cookie of ['', 'accord_own_session=x', `accord_own_session=${randomBytes(32).toString('base64url')}`])
      for (const path of paths) expect([path, (await ask(cookie, 'GET', path)).status]).toEqual([path, 401]);
  });

  test('one of another tenant', async () => {
    const cookie = cookieOf(await person());
    const at = await server.tenant({ login });
    for (const path of paths) expect([path, (await ask(cookie, 'GET', path, { at })).status]).toEqual([path, 401]);
    expect((await ask(cookie, 'GET', '/consents/me', { at: 'portal' })).status).toBe(404);
    expect((await ask(cookie, 'GET', '/consents/me', { at: 'nowhere' })).status).toBe(404);
  });

  test('one at the APIs of back ends and members', async () => {
    const cookie = cookieOf(await person());
    const paths = [`/tenants/${tenant}/policies`, `/authz/${tenant}`, `/${tenant}/access/v1/evaluation`];
    for (const url of paths) {
      const method = url.startsWith('/tenants') ? 'GET' : 'POST';
      const headers = { ...own, cookie };
      const answer = await server.app.inject({ method, url, headers, ...(method === 'POST' ? { payload: {} } : {}) });
      expect([url, answer.statusCode]).toEqual([url, 401]);
    }
  });

  test('one with an Authorization header, which is never passed over', async () => {
    const cookie = cookieOf(await person());
    for (const authorization of ['Bearer x', 'Basic x', ''])
      expect((await ask(cookie, 'GET', '/consents/me', { headers: { ...own, authorization } })).status).toBe(401);
  });

  test('one after the session has ended, by log-out, by time or with the account', async () => {
    const [left, late, disabled] = [await person(), await person(), await person()];
    const cookies = [left, late, disabled].map(cookieOf) as [string, string, string];
    for (const cookie of cookies) expect((await ask(cookie, 'GET', '/consents/me')).status).toBe(200);
    await left.browser.submit(await left.show(), '/log-out');
    expect((await ask(cookies[0], 'GET', '/consents/me')).status).toBe(401);
    const disable = 'update accord.account set enabled = false where tenant = $1 and email = $2';
    await asAdmin(server.db.adminUrl, disable, [tenant, disabled.email]);
    expect((await ask(cookies[2], 'GET', '/consents/me')).status).toBe(401);
    clock.shiftMs += limits.pageSessionTtlMs;
    expect((await ask(cookies[1], 'GET', '/consents/me')).status).toBe(401);
    clock.shiftMs -= limits.pageSessionTtlMs;
  });

  test('one that CORS would let a page of an allowed origin send', async () => {
    const preflight = await server.app.inject({
      ...{ method: 'OPTIONS', url: `/${tenant}/sharing/shares` },
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'x-accord-account',
      },
    });
    expect(preflight.headers['access-control-allow-headers']).toBeDefined();
    expect(String(preflight.headers['access-control-allow-headers']).toLowerCase()).not.toContain('x-accord');
    expect(preflight.headers['access-control-allow-credentials']).toBeUndefined();
  });

  test('one of a tenant that does not want the page', async () => {
    const alice = await person();
    const cookie = cookieOf(alice);
    await putTenant(server.services.tenants, manifestWriter, tenant, tenantSpec({ displayName }));
    await server.services.snapshots.refresh(tenant);
    for (const path of paths) expect([path, (await ask(cookie, 'GET', path)).status]).toEqual([path, 401]);
    expect((await alice.browser.get(`/${tenant}/account/sharing`)).status).toBe(404);
    expect((await alice.show()).html).not.toContain('/account/sharing');
    await putTenant(server.services.tenants, manifestWriter, tenant, tenantSpec({ login, displayName }));
    await server.services.snapshots.refresh(tenant);
    expect((await ask(cookie, 'GET', '/consents/me')).status).toBe(200);
  });
});

describe('shares, offers and received invitations', () => {
  test('what may be shared is offered, an invitation of it is accepted by its address, seen by both, and taken back', async () => {
    const [{ alice, cookie, car }, bob] = [await owner(), await person()];
    const { offers } = (await ask(cookie, 'GET', '/sharing/offers')).body;
    expect(offers).toEqual([
      { relationshipType: 'drives', to: car, acceptorType: 'user', direction: 'acceptor_to_target', ttl: 'P7D' },
    ]);
    await ask(cookie, 'POST', '/sharing/invitations', { body: inviting(car, bob.email) });
    const sent = (await ask(cookie, 'GET', '/sharing/invitations?actions=true')).body.invitations;
    expect(sent).toMatchObject([{ status: 'pending', actions: ['resend', 'revoke'] }]);
    const theirs = cookieOf(bob);
    const received = (await ask(theirs, 'GET', '/sharing/invitations?received=true&actions=true')).body.invitations;
    expect(received).toMatchObject([{ status: 'pending', to: car, actions: ['accept', 'decline'] }]);
    const accept = `/sharing/invitations/${received[0].invitationId}/accept`;
    const relationship = { from: { type: 'user', id: bob.id }, relationshipType: 'drives', to: car };
    for (
      let i = 0;
      i < 2;
      i++ // again, the same
    )
      expect(await ask(theirs, 'POST', accept)).toMatchObject({ status: 200, body: { relationship } });
    expect((await ask(theirs, 'GET', '/sharing/shares')).body).toMatchObject({
      received: [{ what: car, relationshipType: 'drives', canEnd: false }],
      own: [],
      more: false,
    });
    const { given } = (await ask(cookie, 'GET', '/sharing/shares')).body;
    expect(given).toMatchObject([{ what: car, canEnd: true }]);
    expect(JSON.stringify(given)).not.toContain(bob.id);
    expect((await ask(theirs, 'DELETE', `/sharing/shares/${given[0].id}`)).status).toBe(403);
    expect((await ask(cookie, 'DELETE', `/sharing/shares/${given[0].id}`)).status).toBe(204);
    expect((await ask(theirs, 'GET', '/sharing/shares')).body.received).toEqual([]);
    expect(alice.id).not.toBe(bob.id);
  });

  test('have the display names of their types in the language that is asked for', async () => {
    const [{ cookie, car }, bob] = [await owner(), await person()];
    const config = await configClient(server, tenant, 'config-editor');
    const key = '/relationship-types/user:drives:car';
    const before = (await config('GET', key)).body.invitation;
    const body = { invitation: before, displayNames: [{ language: 'nl', name: 'mag rijden met' }] };
    expect((await config('PUT', key, { body })).status).toBe(200);
    await server.services.snapshots.refresh(tenant);
    await ask(cookie, 'POST', '/sharing/invitations', { body: inviting(car, bob.email) });
    const dutch = { relationshipType: 'mag rijden met', type: 'car' };
    const offers = (await ask(cookie, 'GET', '/sharing/offers?language=nl-BE')).body.offers;
    expect(offers).toMatchObject([{ relationshipType: 'drives', displayNames: dutch }]);
    const list = '/sharing/invitations?received=true&language=nl';
    const [received] = (await ask(cookieOf(bob), 'GET', list)).body.invitations;
    expect(received).toMatchObject({ relationshipType: 'drives', displayNames: dutch });
    await ask(cookieOf(bob), 'POST', `/sharing/invitations/${received.invitationId}/accept`);
    const shares = (await ask(cookie, 'GET', '/sharing/shares?language=nl')).body;
    expect(shares.given).toMatchObject([{ displayNames: dutch }]);
    // Without display names, the name without underscores.
    expect(shares.own).toMatchObject([{ displayNames: { relationshipType: 'is owner of', type: 'car' } }]);
    expect((await ask(cookie, 'GET', '/sharing/shares?language=n!')).status).toBe(400);
    const refused = await config('PUT', key, { body: { displayNames: [...body.displayNames, ...body.displayNames] } });
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ pointer: '/displayNames/1' }] } });
  });

  test('an invitation is answered by who has its address, and by nobody else', async () => {
    const [{ cookie, car }, bob, eve] = [await owner(), await person(), await person()];
    const made = await ask(cookie, 'POST', '/sharing/invitations', { body: inviting(car, bob.email) });
    const at = `/sharing/invitations/${made.body.invitationId}`;
    for (const verb of ['accept', 'decline'])
      expect(await ask(cookieOf(eve), 'POST', `${at}/${verb}`)).toMatchObject({
        status: 404,
        body: { code: 'invitation_not_found' },
      });
    const unverified = await (await user(bob.id))('POST', `${at}/accept`);
    expect(unverified).toMatchObject({ status: 403, body: { code: 'invitation_address_unverified' } });
    expect((await backend('POST', `${at}/accept`)).status).toBe(403);
    expect(await ask(cookieOf(bob), 'POST', `${at}/decline`)).toMatchObject({
      status: 200,
      body: { status: 'declined' },
    });
    expect((await ask(cookieOf(bob), 'POST', `${at}/accept`)).status).toBe(410);
  });

  test('who lost the right to invite shares nothing by what was sent before', async () => {
    const [{ alice, cookie, car }, bob] = [await owner(), await person()];
    const made = await ask(cookie, 'POST', '/sharing/invitations', { body: inviting(car, bob.email) });
    await backend('DELETE', `/actors/user/${alice.id}/relationships/is_owner_of/car/${car.id}`);
    const answer = await ask(cookieOf(bob), 'POST', `/sharing/invitations/${made.body.invitationId}/accept`);
    expect(answer).toMatchObject({ status: 410, body: { code: 'invitation_revoked' } });
    expect((await ask(cookie, 'GET', '/sharing/offers')).body.offers).toEqual([]);
  });

  test('a back end has no shares of its own', async () => {
    for (const path of ['/sharing/shares', '/sharing/offers']) expect((await backend('GET', path)).status).toBe(403);
  });
});

test('a consent says what it says, and how long its version counts', async () => {
  const alice = await person();
  await define('trip-data', 'Use of trip data');
  const item = { name: 'trip-data', version: '1', document: { version: '1.0', language: 'en' } };
  expect((await ask(cookieOf(alice), 'POST', '/consents', { body: item })).status).toBe(201);
  const { consents } = (await ask(cookieOf(alice), 'GET', '/consents/me')).body;
  const url = `http://accord.test/${tenant}/consents/documents/trip-data/1/1.0/en`;
  expect(consents).toMatchObject([{ name: 'trip-data', status: 'given', content: { title: 'Use of trip data', url } }]);
  expect(consents[0].endsAt).toBeUndefined();
});

test('sharingOffersMax of what may be offered is looked at, and it is said when there is more', async () => {
  const alice = await person();
  const names = ['drives', 'cleans', 'lends', 'borrows'];
  for (const name of names) await policy(`user:${name}:car:invitation:create`, ownersMay());
  await server.services.snapshots.refresh(tenant);
  const own = async (n: number) => {
    const body = { relationshipType: 'is_owner_of', to: { type: 'car', id: `${alice.id}-${n}` } };
    expect((await backend('POST', `/actors/user/${alice.id}/relationships`, { body })).status).toBe(201);
  };
  const offers = async () => (await ask(cookieOf(alice), 'GET', '/sharing/offers')).body;
  const most = limits.sharingOffersMax / names.length;
  for (let n = 0; n < most; n++) await own(n);
  expect([(await offers()).offers.length, (await offers()).more]).toEqual([limits.sharingOffersMax, false]);
  await own(most);
  expect([(await offers()).offers.length, (await offers()).more]).toEqual([limits.sharingOffersMax, true]);
});
