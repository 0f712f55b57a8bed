/** Every write of the OpenAPI document, by a real request: Accord-Revision on its answer, and Location on every 201. */
import { expect, test } from 'vitest';
import { signUp } from '../../server/accounts/index.ts';
import { limits } from '../../server/core/limits.ts';
import { consenting, day, item } from '../consents/consenting.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { body as offer, WallClock } from '../invitations/inviting.ts';
import { configClient, says } from '../policies/config-client.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const { tenant, from } = await consenting(server, clock);

/** `bob`: a user, who has the address that is invited. */
type As = 'member' | 'client' | 'bob' | 'nobody';
type Method = 'PUT' | 'POST' | 'DELETE';
type Sent = { status: number; headers: Record<string, unknown>; body: Record<string, string> };
const sent = new Map<string, Sent>();
/** What is answered to a PUT that is to make what is there. */
const madeTwice = new Map<string, string>();

async function answerTo(as: As, method: Method, url: string, payload?: object | string, more = {}) {
  const token =
    as === 'member'
      ? await server.member(tenant, 'security-admin')
      : as === 'bob'
        ? await server.user(tenant, 'bob', 'bob.builder@example.com')
        : await server.client(tenant, 'pg:tenant:admin');
  return server.app.inject({
    method,
    url,
    headers: {
      ...more,
      ...(as === 'nobody' ? {} : { authorization: `Bearer ${token}` }),
      ...(typeof payload === 'string' ? { 'content-type': 'application/x-ndjson' } : {}),
    },
    ...(payload === undefined ? {} : { payload }),
  });
}

async function send(as: As, method: Method, url: string, payload?: object | string): Promise<Sent> {
  const response = await answerTo(as, method, url, payload);
  const text = response.body;
  const one = { status: response.statusCode, headers: response.headers, body: text === '' ? {} : response.json() };
  expect([method, url, one.status < 300, one.body]).toEqual([method, url, true, one.body]);
  return one;
}

/** Sends it, and keeps the answer under its OpenAPI path. */
async function write(route: string, as: As, url: string, payload?: object | string): Promise<Sent> {
  const one = await send(as, route.split(' ', 1)[0] as Method, url, payload);
  // A later request of the same route may be the one that creates.
  if (!sent.has(route) || one.status === 201) sent.set(route, one);
  if (route.startsWith('PUT /tenants/')) {
    const again = await answerTo(as, 'PUT', url, payload, { 'if-none-match': '*' });
    madeTwice.set(route, again.json().code);
  }
  return one;
}

const C = `/tenants/${tenant}`;
const M = `/${tenant}`;

async function configure(): Promise<void> {
  const put = (path: string, body: object, part = path) =>
    write(`PUT /tenants/{tenant}${part}`, 'member', `${C}${path}`, body);
  await put('/policies/p', { rego: says('allow') }, '/policies/{policyName}');
  await put('/policies/p', { rego: says('deny') }, '/policies/{policyName}');
  const restore = '/tenants/{tenant}/policies/{policyName}/revisions/{number}/restore';
  await write(`POST ${restore}`, 'member', `${C}/policies/p/revisions/1/restore`);
  await put('/actor-types/user', {}, '/actor-types/{type}');
  await put('/resource-types/car', { attributes: {} }, '/resource-types/{type}');
  const shared = { invitation: { enabled: true } };
  await put('/relationship-types/user:drives:car', shared, '/relationship-types/{type}');
  await put('/trusted-issuers/i', { issuer: 'https://i.example', sharesActors: true }, '/trusted-issuers/{name}');
  await put('/clients/c', { grantTypes: ['client_credentials'] }, '/clients/{id}');
  const secrets = '/tenants/{tenant}/clients/{id}/secrets';
  const { body: made } = await write(`POST ${secrets}`, 'member', `${C}/clients/c/secrets`);
  await write(`DELETE ${secrets}/{secretId}`, 'member', `${C}/clients/c/secrets/${(made as { id: string }).id}`);
  const hooks = '/tenants/{tenant}/event-stream/subscriptions';
  const hook = { endpoint: 'https://hooks.example', eventTypes: ['DECISION'], enabled: false };
  await write(`POST ${hooks}`, 'member', `${C}/event-stream/subscriptions`, hook);
  await put('/event-stream/subscriptions/h', hook, '/event-stream/subscriptions/{id}');
  await write(`POST ${hooks}/{id}/secret/rotate`, 'member', `${C}/event-stream/subscriptions/h/secret/rotate`);
  await put('/token-mapping', { actorIdClaimPath: 'sub', defaultActorType: 'user' });
  await put('/branding', { displayName: 'Cars' });
  await write('POST /tenants/{tenant}/keys/rotate', 'member', `${C}/keys/rotate`);
  const modules = [{ name: 'm', rego: 'package a.b' }];
  await put('/policy-libraries/a.b', { modules }, '/policy-libraries/{package}');
  await put('/policy-data/c%2Fd', { value: {} }, '/policy-data/{path}');
  for (const [list, name, param] of [
    ['policy-libraries', 'a.b', 'package'],
    ['policy-data', 'c%2Fd', 'path'],
  ]) {
    const one = `/tenants/{tenant}/${list}/{${param}}/revisions/{number}/restore`;
    await write(`POST ${one}`, 'member', `${C}/${list}/${name}/revisions/1/restore`);
  }
  const definition = '/consent-definitions/{name}';
  const version = `${definition}/versions/{version}`;
  await put('/consent-definitions/news', {}, definition);
  for (const [n, ms] of [
    ['1', 1000],
    ['2', day],
  ] as const) {
    await put(`/consent-definitions/news/versions/${n}`, { optInConfig: { type: 'direct' } }, version);
    const path = `/consent-definitions/news/versions/${n}/documents/en/a`;
    await put(path, { effectiveDate: from(ms) }, `${version}/documents/{language}/{documentVersion}`);
  }
  const end = { startDate: from(2 * day), endDate: from(20 * day), gracePeriod: 'P1D' };
  await put('/consent-definitions/news/versions/1/end-of-life', end, `${version}/end-of-life`);
}

async function agree(): Promise<void> {
  const path = '/{tenant}/consents';
  clock.advance(2000);
  await server.services.snapshots.refresh(tenant);
  const one = { ...item('news', '1 a en'), userId: 'ann' };
  const given = await write(`POST ${path}`, 'client', `${M}/consents`, one);
  await write(`POST ${path}/refusals`, 'client', `${M}/consents/refusals`, one);
  clock.advance(3 * day);
  await server.services.snapshots.refresh(tenant);
  const byMember = { ...item('news', '2 a en'), userId: 'bea', reason: 'on paper' };
  const { body: hers } = await write(`POST /tenants${path}`, 'member', `${C}/consents`, byMember);
  await write(`POST /tenants${path}/{id}/revoke`, 'member', `${C}/consents/${hers.id}/revoke`, { reason: 'by phone' });
  await write(`POST ${path}/invitations`, 'client', `${M}/consents/invitations`, { userId: 'ann', name: 'news' });
  await write(`DELETE ${path}/{id}`, 'client', `${M}/consents/${given.body.id}`);
  await write(`DELETE ${path}/users/{userId}`, 'client', `${M}/consents/users/ann`);
}

async function relate(): Promise<void> {
  const drives = { relationshipType: 'drives', to: { type: 'car', id: '1' } };
  const actor = '/{tenant}/actors/{type}/{id}';
  await write(`PUT ${actor}`, 'client', `${M}/actors/user/alice`, {});
  await write('PUT /{tenant}/resources/{type}/{id}', 'client', `${M}/resources/car/1`, {});
  await write(`POST ${actor}/relationships`, 'client', `${M}/actors/user/alice/relationships`, drives);
  const place = `${M}/actors/user/alice/relationships/drives/car/1`;
  await write(`DELETE ${actor}/relationships/{relationshipType}/{toType}/{toId}`, 'client', place);
  await write(`POST /tenants${actor}/relationships`, 'member', `${C}/actors/user/alice/relationships`, drives);
  const ended = `${C}/actors/user/alice/relationships/drives/car/1`;
  await write(`DELETE /tenants${actor}/relationships/{relationshipType}/{toType}/{toId}`, 'member', ended);
  const line = JSON.stringify({ from: { type: 'user', id: 'bob' }, ...drives });
  await write('POST /tenants/{tenant}/relationships/import', 'member', `${C}/relationships/import`, line);
  await write('POST /{tenant}/relationships/import', 'client', `${M}/relationships/import`, line);
  await write('DELETE /{tenant}/relationships', 'client', `${M}/relationships?fromType=user&fromId=bob`);
  await write(`DELETE ${actor}`, 'client', `${M}/actors/user/alice`);
  await write(`POST ${actor}/erase`, 'client', `${M}/actors/user/alice/erase`);
  await write(`POST /tenants${actor}/erase`, 'member', `${C}/actors/user/alice/erase`);
  await write('DELETE /{tenant}/resources/{type}/{id}', 'client', `${M}/resources/car/1`);
}

async function share(): Promise<void> {
  const path = '/{tenant}/sharing/invitations';
  const url = `${M}/sharing/invitations`;
  const invite = async () => (await write(`POST ${path}`, 'client', url, offer())).body;
  const [first, second, third] = [await invite(), await invite(), await invite()];
  const acceptance = { acceptor: { type: 'user', id: 'bob' }, requestToken: first.requestToken };
  await write(`POST ${path}/accept`, 'client', `${url}/accept`, acceptance);
  sent.set(`POST ${path}/accept again`, await send('client', 'POST', `${url}/accept`, acceptance));
  await write(`POST ${path}/decline`, 'client', `${url}/decline`, { requestToken: second.requestToken });
  clock.advance(2 * limits.invitationResendPauseMs);
  await write(`POST ${path}/{id}/resend`, 'client', `${url}/${third.invitationId}/resend`);
  const { body: mailed } = await write(`POST ${path}`, 'client', url, offer({ delivery: 'mail' }));
  clock.advance(2 * limits.invitationResendPauseMs);
  const one = `${C}/sharing/invitations/${mailed.invitationId}`;
  await write(`POST /tenants${path}`, 'member', `${C}/sharing/invitations`, offer({ reason: 'ticket 1' }));
  await write(`POST /tenants${path}/{id}/resend`, 'member', `${one}/resend`);
  await write(`DELETE /tenants${path}/{id}`, 'member', one);
  await write(`DELETE ${path}/{id}`, 'client', `${url}/${third.invitationId}`);
  for (const verb of ['accept', 'decline'])
    await write(`POST ${path}/{id}/${verb}`, 'bob', `${url}/${(await invite()).invitationId}/${verb}`);
  await send('member', 'PUT', `${C}/policies/user:drives:car:delete`, { rego: says('allow') });
  await server.services.snapshots.refresh(tenant);
  const headers = { authorization: `Bearer ${await server.user(tenant, 'bob')}` };
  const [share] = (await server.app.inject({ url: `${M}/sharing/shares`, headers })).json().received;
  await write('DELETE /{tenant}/sharing/shares/{id}', 'bob', `${M}/sharing/shares/${share.id}`);
}

async function enrol(): Promise<void> {
  const path = '/tenants/{tenant}/members/invitations';
  const url = `${C}/members/invitations`;
  const invite = async (email: string) =>
    (await write(`POST ${path}`, 'member', url, { email, role: 'config-viewer' })).body as { id: string; url: string };
  const used = await invite('a@example.org');
  const token = used.url.slice(used.url.indexOf('#') + 1);
  await write('POST /portal/invitations/redeem', 'nobody', '/portal/invitations/redeem', { token });
  await write(`DELETE ${path}/{id}`, 'member', `${url}/${(await invite('b@example.org')).id}`);
  await server.member(tenant, 'support');
  const removed = await server.member(tenant, 'config-viewer');
  const { sub } = JSON.parse(Buffer.from(removed.split('.')[1] as string, 'base64url').toString());
  await write('DELETE /tenants/{tenant}/members/{id}', 'member', `${C}/members/${sub}`);
  const config = await configClient(server, tenant, 'security-admin');
  const { body } = await config('GET', '/portal-tokens');
  const other = body.portalTokens.find((one: { current: boolean }) => !one.current);
  await write('DELETE /tenants/{tenant}/portal-tokens/{jti}', 'member', `${C}/portal-tokens/${other.jti}`);
}

async function administerAccounts(): Promise<void> {
  const email = 'alice@example.org';
  const given = { email, password: 'correct horse battery', invitedEmail: email };
  const made = await signUp(server.services.accounts, tenant, given);
  const id = 'account' in made ? made.account.id : '';
  const path = '/tenants/{tenant}/accounts/{id}';
  await write(`POST ${path}/reset`, 'member', `${C}/accounts/${id}/reset`);
  await write(`PUT ${path}`, 'member', `${C}/accounts/${id}`, { enabled: false });
  await write(`DELETE ${path}`, 'member', `${C}/accounts/${id}`);
}

async function mail(): Promise<void> {
  const template = '/mail/templates/{name}/{language}';
  const url = `${C}/mail/templates/relationship-invitation/nl`;
  await write(`PUT /tenants/{tenant}${template}`, 'member', url, { subject: 'Hallo', text: '{{ actionUrl }}' });
  await write(`DELETE /tenants/{tenant}${template}`, 'member', url);
  await write('PUT /tenants/{tenant}/mail/settings', 'member', `${C}/mail/settings`, {
    from: 'Cars <cars@cars.example>',
  });
  const variables = { name: 'Ann', actionUrl: 'https://cars.example/accept', expiresAt: from(day) };
  const message = { template: 'relationship-invitation', to: { type: 'email', value: 'ann@example.org' }, variables };
  const { body } = await write('POST /{tenant}/mail/messages', 'client', `${M}/mail/messages`, message);
  const { messageId } = body as { messageId: string };
  const isSent = `update accord.mail_message set status = 'sent', content_encrypted = null, settled_at = now()
    where tenant = $1 and status = 'waiting'`;
  await asAdmin(server.db.adminUrl, isSent, [tenant]);
  await write('POST /{tenant}/mail/bounces', 'client', `${M}/mail/bounces`, { messageId, kind: 'hard' });
  const token = await server.member(tenant, 'security-admin');
  const headers = { authorization: `Bearer ${token}` };
  const list = (await server.app.inject({ url: `${C}/mail/suppressions`, headers })).json();
  const path = '/mail/suppressions';
  await write(`DELETE /tenants/{tenant}${path}/{id}`, 'member', `${C}${path}/${list.suppressions[0].id}`);
}

async function remove(): Promise<void> {
  await write('DELETE /{tenant}/relationships', 'client', `${M}/relationships?fromType=user`);
  for (const [list, name, param] of [
    ['policies', 'p', 'policyName'],
    ['relationship-types', 'user:drives:car', 'type'],
    ['resource-types', 'car', 'type'],
    ['actor-types', 'user', 'type'],
    ['trusted-issuers', 'i', 'name'],
    ['clients', 'c', 'id'],
    ['event-stream/subscriptions', 'h', 'id'],
    ['policy-libraries', 'a.b', 'package'],
    ['policy-data', 'c%2Fd', 'path'],
  ]) {
    await write(`DELETE /tenants/{tenant}/${list}/{${param}}`, 'member', `${C}/${list}/${name}`);
  }
}

/** They write nothing but what is sent once more, or refuse everybody. */
const reads =
  /^POST (\/authz\/|.*\/access\/v1\/|.*\/policies\/\{policyName\}\/(test|replay)$|.*\/decisions\/\{id\}\/explain$|.*\/preview$|.*\/mail\/test$|.*\/subscriptions\/\{id\}\/(test|replay|replays\/\{replay\}\/cancel|deliveries\/\{delivery\}\/retry)$|\/tenants\/\{tenant\}\/(graphql|policy-format|tokens\/check)$|\/tenants\/\{tenant\}\/portal-tokens$)/;

// Its token mapping is written through the API too.
await asAdmin(server.db.adminUrl, `update accord.tenant set owner = '{"source": "api"}' where tenant = $1`, [tenant]);
await configure();
await agree();
await relate();
await share();
await enrol();
await administerAccounts();
await mail();
await remove();

test('every write of the OpenAPI document was sent', async () => {
  const document = (await server.app.inject('/openapi.json')).json();
  const routes = Object.entries(document.paths as Record<string, object>).flatMap(([path, operations]) =>
    Object.keys(operations)
      .filter((method) => ['put', 'post', 'delete', 'patch'].includes(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(routes.filter((route) => !reads.test(route) && !sent.has(route))).toEqual([]);
});

test('each PUT of configuration makes nothing that is there, where the caller says so', async () => {
  const document = (await server.app.inject('/openapi.json')).json();
  type Operations = { put?: { parameters?: { name: string }[] } };
  const takes = (header: string) =>
    Object.entries(document.paths as Record<string, Operations>)
      .filter(([, { put }]) => put?.parameters?.some(({ name }) => name === header))
      .map(([path]) => `PUT ${path}`);
  const routes = takes('if-match');
  expect(routes.length).toBeGreaterThan(15);
  expect(takes('if-none-match')).toEqual(routes);
  expect(routes.map((route) => [route, madeTwice.get(route)])).toEqual(
    routes.map((route) => [route, 'precondition_failed']),
  );
});

test('each answers Accord-Revision', () => {
  const without = [...sent].filter(([, { headers }]) => !/^[cr]\d+$/.test(String(headers['accord-revision'])));
  expect(without.map(([route]) => route)).toEqual([]);
});

test('each 201 has a Location, of this tenant', () => {
  const created = [...sent].filter(([, { status }]) => status === 201);
  expect(created.map(([route]) => route).sort()).toEqual([
    'POST /tenants/{tenant}/actors/{type}/{id}/relationships',
    'POST /tenants/{tenant}/clients/{id}/secrets',
    'POST /tenants/{tenant}/consents',
    'POST /tenants/{tenant}/event-stream/subscriptions',
    'POST /tenants/{tenant}/members/invitations',
    'POST /tenants/{tenant}/sharing/invitations',
    'POST /{tenant}/actors/{type}/{id}/relationships',
    'POST /{tenant}/consents',
    'POST /{tenant}/consents/invitations',
    'POST /{tenant}/consents/refusals',
    'PUT /tenants/{tenant}/event-stream/subscriptions/{id}',
  ]);
  for (const [route, { headers }] of created)
    expect([route, headers.location]).toEqual([route, expect.stringMatching(new RegExp(`^(/tenants)?/${tenant}/`))]);
});

test('the Location of what only the ledger has leads to it', async () => {
  const token = await server.client(tenant, 'consents:read');
  for (const path of ['refusals', 'invitations']) {
    const { location } = (sent.get(`POST /{tenant}/consents/${path}`) as Sent).headers as { location: string };
    const response = await server.app.inject({ url: location, headers: { authorization: `Bearer ${token}` } });
    expect([path, response.statusCode]).toEqual([path, 200]);
  }
});
