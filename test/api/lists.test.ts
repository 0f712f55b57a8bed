/** Every list of the OpenAPI document: pages by limit and cursor, Link rel="next" (RFC 8288), and nothing lost between two pages. */
import { expect, test } from 'vitest';
import { signUp } from '../../server/accounts/index.ts';
import { limits } from '../../server/core/limits.ts';
import { encodeCursor } from '../../server/http/paging.ts';
import { consenting, item } from '../consents/consenting.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { body as offer, WallClock } from '../invitations/inviting.ts';
import { configClient, says } from '../policies/config-client.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const ITEMS = 3;
const each = Array.from({ length: ITEMS }, (_, i) => i + 1);
const { tenant, define, backend } = await consenting(server, clock);
const manager = await configClient(server, tenant, 'security-admin');

async function set(path: string, body: object): Promise<void> {
  const { status, body: answer } = await manager('PUT', path, { body });
  expect([path, status, answer]).toEqual([path, 200, {}]);
}

async function bounce(admin: string, i: number): Promise<void> {
  const post = async (path: string, payload: object) => {
    const headers = { authorization: `Bearer ${admin}` };
    const answer = await server.app.inject({ method: 'POST', url: `/${tenant}/mail${path}`, headers, payload });
    expect([path, answer.statusCode < 300, answer.body]).toEqual([path, true, answer.body]);
    return answer.json();
  };
  const variables = { name: 'Ann', actionUrl: 'https://cars.example/accept', expiresAt: '2099-01-01T00:00:00Z' };
  const to = { type: 'email', value: `ann${i}@example.org` };
  const { messageId } = await post('/messages', { template: 'relationship-invitation', to, variables });
  const isSent = `update accord.mail_message set status = 'sent', content_encrypted = null, settled_at = now()
    where tenant = $1 and status = 'waiting'`;
  await asAdmin(server.db.adminUrl, isSent, [tenant]);
  await post('/bounces', { messageId, kind: 'hard' });
}

async function fill(): Promise<void> {
  const admin = await server.client(tenant, 'pg:tenant:admin');
  const send = async (method: 'POST' | 'PUT', url: string, payload: object) => {
    const headers = { authorization: `Bearer ${admin}` };
    const { statusCode, body } = await server.app.inject({ method, url, headers, payload });
    expect([url, statusCode < 300, body]).toEqual([url, true, body]);
  };
  const post = (path: string, payload: object, base = `/${tenant}`) => send('POST', `${base}${path}`, payload);
  await define('news', { '1 a en': 1000, '1 b en': 1001, '1 c en': 1002, '1 a de': 1000, '1 a nl': 1000 });
  await define('post', { '2 a en': 1000, '3 a en': 1001, '4 a en': 1002 });
  await define('calls', { '1 a en': 1000 });
  clock.advance(2000);
  await server.services.snapshots.refresh(tenant);
  for (const name of ['user', 'group', 'robot']) await set(`/actor-types/${name}`, {});
  for (const name of ['car', 'house', 'boat']) {
    await set(`/resource-types/${name}`, {});
    await set(`/relationship-types/user:drives:${name}`, { invitation: { enabled: true } });
  }
  for (const i of each) {
    await bounce(admin, i);
    await set(`/policies/p${i}`, { rego: says('allow') });
    await set('/policies/p1', { rego: says('deny') });
    await set(`/policy-libraries/l${i}`, { modules: [{ name: 'm', rego: `package l${i}` }] });
    await set(`/policy-data/d${i}`, { value: {} });
    await set(`/clients/c${i}`, { grantTypes: ['client_credentials'] });
    const body = {
      endpoint: 'https://hooks.example',
      eventTypes: ['DECISION'],
      enabled: false,
    };
    await manager('POST', '/event-stream/subscriptions', { body });
    await set('/policy-libraries/l1', { modules: [{ name: 'm', rego: `package l1\nx := ${i}` }] });
    await set('/policy-data/d1', { value: { i } });
    await set(`/trusted-issuers/i${i}`, { issuer: `https://i${i}.example`, sharesActors: true });
    for (const registered of [`actors/user/r${i}`, `resources/car/r${i}`])
      await send('PUT', `/${tenant}/${registered}`, {});
    await post('/actors/user/alice/relationships', { relationshipType: 'drives', to: { type: 'car', id: `${i}` } });
    await post(`/actors/user/u${i}/relationships`, { relationshipType: 'drives', to: { type: 'car', id: 'wide' } });
    await post('/sharing/invitations', offer());
    const email = `m${i}@example.org`;
    expect((await manager('POST', '/members/invitations', { body: { email, role: 'support' } })).status).toBe(201);
    const account = { email, password: 'correct horse battery', invitedEmail: email };
    expect((await signUp(server.services.accounts, tenant, account)).status).toBe('created');
    await post(`/${tenant}`, { action: 'p1' }, '/authz');
  }
  for (const name of ['news', 'post', 'calls'])
    await post('/consents', { ...item(name, name === 'post' ? '4 a en' : '1 a en'), userId: 'alice' });
  await asAdmin(
    server.db.adminUrl,
    `insert into accord.user_consent (tenant, user_id, definition, version, document, language, given_at)
     select $1, 'left' || n, 'post', '2', 'a', 'en', now() from generate_series(1, 3) n`,
    [tenant],
  );
  for (const role of ['config-editor', 'config-viewer'] as const) await server.member(tenant, role);
  await asAdmin(
    server.db.adminUrl,
    `insert into accord.resource (source, kind, namespace, name, uid, tenant, generation, spec_digest, status)
     select 'files/' || n, 'Policy', 'n', 'of each source', n::text, $1, 1, '', '{}' from generate_series(1, 3) n`,
    [tenant],
  );
}

const config = `/tenants/${tenant}`;
const own = `/${tenant}`;
const alice = () => server.user(tenant, 'alice');
const member = () => server.member(tenant, 'security-admin');
const client = () => server.client(tenant, 'pg:tenant:admin');

/** By OpenAPI path: an address of it, who asks, whether it is complete without limit, and whether reading makes it longer. */
const lists: Record<string, { url: string; as: () => Promise<string>; whole?: true; grows?: true }> = {
  '/tenants/{tenant}/policies': { url: `${config}/policies?q=p`, as: member, whole: true },
  '/tenants/{tenant}/policy-libraries': { url: `${config}/policy-libraries`, as: member, whole: true },
  '/tenants/{tenant}/policy-libraries/{package}/revisions': {
    url: `${config}/policy-libraries/l1/revisions`,
    as: member,
  },
  '/tenants/{tenant}/policy-data/{path}/revisions': { url: `${config}/policy-data/d1/revisions`, as: member },
  '/tenants/{tenant}/policy-data': { url: `${config}/policy-data`, as: member, whole: true },
  '/tenants/{tenant}/policies/{policyName}/revisions': { url: `${config}/policies/p1/revisions`, as: member },
  '/tenants/{tenant}/audit': { url: `${config}/audit?kind=policy`, as: member },
  '/tenants/{tenant}/decisions': { url: `${config}/decisions?outcome=deny`, as: member },
  '/tenants/{tenant}/actor-types': { url: `${config}/actor-types`, as: member, whole: true },
  '/tenants/{tenant}/resource-types': { url: `${config}/resource-types`, as: member, whole: true },
  '/tenants/{tenant}/relationship-types': { url: `${config}/relationship-types`, as: member, whole: true },
  '/tenants/{tenant}/trusted-issuers': { url: `${config}/trusted-issuers`, as: member, whole: true },
  '/tenants/{tenant}/clients': { url: `${config}/clients`, as: member, whole: true },
  '/tenants/{tenant}/event-stream/subscriptions': {
    url: `${config}/event-stream/subscriptions`,
    as: member,
    whole: true,
  },
  '/tenants/{tenant}/mail/messages': { url: `${config}/mail/messages`, as: member },
  '/tenants/{tenant}/mail/suppressions': { url: `${config}/mail/suppressions`, as: member },
  '/tenants/{tenant}/resources': { url: `${config}/resources`, as: member, whole: true },
  '/tenants/{tenant}/members': { url: `${config}/members`, as: member },
  '/tenants/{tenant}/members/invitations': { url: `${config}/members/invitations`, as: member },
  '/tenants/{tenant}/accounts': { url: `${config}/accounts?prefix=m`, as: member },
  '/tenants/{tenant}/portal-tokens': { url: `${config}/portal-tokens`, as: member, grows: true },
  '/tenants/{tenant}/consent-definitions': { url: `${config}/consent-definitions`, as: member, whole: true },
  '/tenants/{tenant}/consent-definitions/{name}/versions': {
    url: `${config}/consent-definitions/post/versions`,
    as: member,
    whole: true,
  },
  '/tenants/{tenant}/consent-definitions/{name}/versions/{version}/documents': {
    url: `${config}/consent-definitions/news/versions/1/documents`,
    as: member,
    whole: true,
  },
  '/tenants/{tenant}/consent-definitions/{name}/versions/{version}/documents/{language}': {
    url: `${config}/consent-definitions/news/versions/1/documents/en`,
    as: member,
    whole: true,
  },
  '/{tenant}/consents/me': { url: `${own}/consents/me`, as: alice, whole: true },
  '/{tenant}/consents': { url: `${own}/consents?userId=alice`, as: client },
  '/{tenant}/consents/events': { url: `${own}/consents/events?userId=alice`, as: client, grows: true },
  '/{tenant}/consents/events/me': { url: `${own}/consents/events/me`, as: alice, grows: true },
  '/{tenant}/actors/{type}': { url: `${own}/actors/user?prefix=r`, as: client },
  '/{tenant}/resources/{type}': { url: `${own}/resources/car?prefix=r`, as: client },
  '/{tenant}/actors/{type}/{id}/relationships': {
    url: `${own}/actors/user/alice/relationships`,
    as: client,
    whole: true,
  },
  '/{tenant}/resources/{type}/{id}/relationships': { url: `${own}/resources/car/wide/relationships`, as: client },
  '/tenants/{tenant}/actors/{type}/{id}/relationships': {
    url: `${config}/actors/user/alice/relationships`,
    as: member,
  },
  '/tenants/{tenant}/resources/{type}/{id}/relationships': {
    url: `${config}/resources/car/wide/relationships`,
    as: member,
  },
  '/tenants/{tenant}/sharing/invitations': { url: `${config}/sharing/invitations?toType=car&toId=1`, as: member },
  '/tenants/{tenant}/consents': { url: `${config}/consents?userId=alice`, as: member },
  '/tenants/{tenant}/consents/events': { url: `${config}/consents/events?userId=alice&type=registered`, as: member },
  '/tenants/{tenant}/consent-definitions/{name}/versions/{version}/remaining': {
    url: `${config}/consent-definitions/post/versions/2/remaining`,
    as: member,
  },
  '/tenants/{tenant}/people': { url: `${config}/people?idPrefix=u`, as: member },
  '/tenants/{tenant}/people/{type}/{id}/timeline': {
    url: `${config}/people/user/alice/timeline?kinds=relationship`,
    as: member,
  },
  '/{tenant}/sharing/invitations': { url: `${own}/sharing/invitations?toType=car&toId=1`, as: client },
};

async function get(url: string, token: string) {
  const response = await server.app.inject({ url, headers: { authorization: `Bearer ${token}` } });
  const body = response.json();
  const items = Array.isArray(body) ? body : Object.values(body).find((value) => Array.isArray(value));
  return { status: response.statusCode, link: response.headers.link, body, items: items as unknown[] };
}
const withLimit = (url: string, limit: number) => `${url}${url.includes('?') ? '&' : '?'}limit=${limit}`;

// The decision log is off by default, and written behind the answers.
await asAdmin(
  server.db.adminUrl,
  `update accord.tenant set spec = jsonb_set(spec, '{decisionLog}', '{"mode": "all"}') where tenant = $1`,
  [tenant],
);
await server.services.snapshots.refresh(tenant);
await fill();
await until('the log of decisions', async () => {
  const { items } = await get(`${config}/decisions`, await member());
  return items.length >= ITEMS;
});

test('every list of the OpenAPI document is here, and says how it pages', async () => {
  const document = (await server.app.inject('/openapi.json')).json();
  type Operation = { get?: { parameters?: { name: string; description: string }[] } };
  const limitOf = ({ get: one }: Operation) => one?.parameters?.find(({ name }) => name === 'limit');
  const paged = Object.entries(document.paths as Record<string, Operation>).filter(([, path]) => limitOf(path));
  // Its pages are numbers of events (test/events/reading.test.ts).
  const events = '/tenants/{tenant}/event-stream/events';
  // What is delivered, and replayed, needs an endpoint (test/subscriptions/end-to-end.test.ts).
  const ofEndpoint = ['deliveries', 'replays'].map(
    (list) => `/tenants/{tenant}/event-stream/subscriptions/{id}/${list}`,
  );
  expect(paged.map(([path]) => path).sort()).toEqual([...Object.keys(lists), events, ...ofEndpoint].sort());
  const whole = paged.filter(([, path]) => limitOf(path)?.description.includes('the whole list')).map(([path]) => path);
  expect(whole.sort()).toEqual(
    Object.keys(lists)
      .filter((path) => lists[path]?.whole)
      .sort(),
  );
});

test.each(Object.keys(lists))('%s', async (path) => {
  const { url, as, grows = false } = lists[path] as (typeof lists)[string];
  const token = await as();
  const all = await get(url, token);
  expect([all.status, all.link, all.body.cursor]).toEqual([200, undefined, undefined]);
  expect(all.items.length).toBeGreaterThanOrEqual(ITEMS);
  const found: unknown[] = [];
  for (let next: string | undefined = withLimit(url, 1); next !== undefined; ) {
    const page = await get(next, token);
    expect([next, page.status, page.items.length]).toEqual([next, 200, 1]);
    found.push(...page.items);
    const link = /^<([^>]+)>; rel="next"$/.exec(String(page.link ?? ''))?.[1];
    expect(page.link === undefined).toBe(link === undefined);
    const cursor = link === undefined ? undefined : new URL(link, 'http://x').searchParams.get('cursor');
    if (!Array.isArray(page.body)) expect(page.body.cursor).toBe(cursor ?? undefined);
    next = link;
  }
  if (grows) expect(found.slice(-ITEMS)).toEqual(all.items.slice(-ITEMS));
  else expect(found).toEqual(all.items);
  expect((await get(withLimit(url, limits.pageItemsMax), token)).items.length).toBeGreaterThanOrEqual(ITEMS);
  for (const wrong of [
    withLimit(url, limits.pageItemsMax + 1),
    withLimit(url, 0),
    `${withLimit(url, 1)}&cursor=${encodeCursor('a', 'another')}`,
  ])
    expect([wrong, (await get(wrong, token)).status]).toEqual([wrong, 400]);
});

test('consents/me without limit is complete however long it is, is one entry of the ledger, and goes on from a cursor', async () => {
  const most = limits.pageItemsMax * 2 + 7;
  await asAdmin(
    server.db.adminUrl,
    `insert into accord.user_consent (tenant, user_id, definition, version, document, language, given_at)
     select $1, 'long', 'news', '1', n::text, 'en', now() from generate_series(1, $2) n`,
    [tenant, most],
  );
  const token = await server.user(tenant, 'long');
  const entries = `select count(*)::int as n from accord.ledger_inbox where tenant = $1 and user_id = 'long'`;
  const countEntries = async () => (await asAdmin<{ n: number }>(server.db.adminUrl, entries, [tenant]))[0]?.n;
  const before = (await countEntries()) as number;
  const { body, link } = await get(`${own}/consents/me`, token);
  const ids = body.consents.map(({ id }: { id: string }) => id);
  expect([ids.length, new Set(ids).size, Object.keys(body), link]).toEqual([most, most, ['consents'], undefined]);
  expect(ids).toEqual([...ids].sort().reverse());
  expect(await countEntries()).toBe(before + 1);
  const first = await get(`${own}/consents/me?limit=${limits.pageItemsMax}`, token);
  const rest = await get(`${own}/consents/me?cursor=${first.body.cursor}`, token);
  expect([...first.items, ...rest.items]).toEqual(body.consents);
  const listed = await backend('consents:read')('GET', `?userId=long&limit=${limits.pageItemsMax}`);
  expect(listed.headers.link).toContain('userId=long');
});
