/** Reading events by requests: pages, waiting, the stream, who may, and what is refused. */
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { expect, onTestFinished, test } from 'vitest';
import { decisionMade, eventOf } from '../../server/authz/events.ts';
import { limits } from '../../server/core/limits.ts';
import type { CloudEvent } from '../../server/events/index.ts';
import { follow } from '../../server/events/reading.ts';
import { endUnread } from '../../server/http/fastify.ts';
import { sealWaiting } from '../../server/ledger/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { numbered } from '../helpers/emitted.ts';
import { createTestServer } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { configClient } from '../policies/config-client.ts';
import { sharingTenant } from '../relationships/sharing.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
await server.app.listen({ port: 0, host: '127.0.0.1' });
const { port } = server.app.server.address() as AddressInfo;
type Page = { events: CloudEvent[]; after: number; last: number };

async function streaming() {
  const cars = await sharingTenant(server);
  const token = await server.client(cars.tenant, 'events:read');
  await numbered(server);
  const url = `/tenants/${cars.tenant}/event-stream/events`;
  const get = async (query = '', headers: Record<string, string> = {}) => {
    const response = await server.app.inject({
      url: `${url}${query}`,
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
    return { status: response.statusCode, body: response.json() as Page & { code?: string; detail?: string } };
  };
  const { last } = (await get('?limit=1')).body;
  return { ...cars, get, url, token, last };
}

test('events are read from a number on, with the change itself', async () => {
  const { relate, get, last, tenant, backend } = await streaming();
  await relate('user/alice', 'drives', 'car/1');
  await backend('DELETE', '/relationships?fromType=user&fromId=alice');
  await numbered(server);
  const { status, body } = await get(`?after=${last}`);
  expect([status, body.after, body.last]).toEqual([200, last + 2, last + 2]);
  const [made, deleted] = body.events;
  expect(made).toEqual({
    ...{ specversion: '1.0', id: expect.stringMatching(/^[0-9a-f-]{36}$/), source: `http://accord.test/${tenant}` },
    ...{ type: 'RELATIONSHIP_CREATED', time: new Date(clock.now()).toISOString(), datacontenttype: 'application/json' },
    ...{ subject: 'car/1', partitionkey: 'car/1', sequence: String(last + 1).padStart(16, '0') },
    data: {
      ...{ requestor: 'client:backend', relationshipType: 'drives' },
      ...{ from: { type: 'user', id: 'alice' }, to: { type: 'car', id: '1' } },
    },
  });
  expect(deleted).toMatchObject({
    type: 'RELATIONSHIPS_DELETED',
    data: { fromType: 'user', fromId: 'alice', deleted: 1 },
  });
  expect((await get(`?after=${last + 2}`)).body).toEqual({ events: [], after: last + 2, last: last + 2 });
  // From the beginning, page by page, all are there once.
  const all: CloudEvent[] = [];
  for (let after = 0, more = true; more; ) {
    const page: Page = (await get(`?after=${after}&limit=2`)).body;
    all.push(...page.events);
    [after, more] = [page.after, page.after < page.last];
  }
  expect(all.map(({ sequence }) => Number(sequence))).toEqual(Array.from({ length: last + 2 }, (_, i) => i + 1));
});

test('entities, imports, decisions and ledger entries are events, as their schemas say', async () => {
  const { tenant, backend, get, last, policy } = await streaming();
  const clockOf = new Date(clock.now() + 1000).toISOString();
  const config = await configClient(server, tenant);
  await config('PUT', '/consent-definitions/terms', { body: {} });
  await config('PUT', '/consent-definitions/terms/versions/1', { body: { optInConfig: { type: 'direct' } } });
  await config('PUT', '/consent-definitions/terms/versions/1/documents/en/a', { body: { effectiveDate: clockOf } });
  await asAdmin(
    server.db.adminUrl,
    `update accord.tenant set spec = jsonb_set(spec, '{decisionLog}', '{"mode": "all"}') where tenant = $1`,
    [tenant],
  );
  await policy('car:read', 'package p\noutcome := "allow"');
  await server.services.snapshots.refresh(tenant);
  clock.advance(2000);
  await backend('PUT', '/resources/car/9', { body: { color: 'red' } });
  const line = (n: number) =>
    `{"from":{"type":"user","id":"u${n}"},"relationshipType":"drives","to":{"type":"car","id":"9"}}\n`;
  const lines = Array.from({ length: limits.importEventItemsMax + 1 }, (_, n) => line(n)).join('');
  const imported = await backend('POST', '/relationships/import', { raw: lines, type: 'application/x-ndjson' });
  expect([imported.status, imported.body.created]).toEqual([200, limits.importEventItemsMax + 1]);
  await backend('DELETE', '/resources/car/9');
  await backend('POST', '/consents', {
    body: { userId: 'alice', name: 'terms', version: '1', document: { version: 'a', language: 'en' } },
  });
  await server.app.inject({
    ...{
      method: 'POST',
      url: `/authz/${tenant}`,
      headers: { authorization: `Bearer ${await server.client(tenant, 'authz:evaluate')}` },
    },
    payload: { subject: { type: 'user', id: 'alice' }, action: 'car:read', resource: { type: 'car', id: '9' } },
  });
  await server.services.authz.log.close();
  await sealWaiting(server.services.ledger);
  await numbered(server);
  const { events } = (await get(`?after=${last}&limit=1000`)).body;
  const types = server.services.events.types;
  for (const { type, data } of events)
    expect([...Value.Errors(types.get(type)?.data as TSchema, data)], type).toEqual([]);
  const of = (type: string) => events.filter((one) => one.type === type).map(({ data }) => data);
  expect(of('ENTITY_UPDATED')).toMatchObject([{ entity: { type: 'car', id: '9' }, attributes: { color: 'red' } }]);
  expect(of('ENTITY_DELETED')).toMatchObject([{ entity: { type: 'car', id: '9' } }]);
  expect(of('RELATIONSHIPS_IMPORTED').map(({ relationships }) => (relationships as object[]).length)).toEqual([
    limits.importEventItemsMax,
    1,
  ]);
  expect(of('DECISION')).toMatchObject([{ requestor: 'client:backend', action: 'car:read', outcome: 'allow' }]);
  expect(of('REGISTER_EVENT')).toMatchObject([
    { requestor: 'client:backend', type: 'registered', userId: 'alice', sequence: 1 },
  ]);
  expect(of('CONFIGURATION_CHANGED')).toContainEqual(
    expect.objectContaining({ kind: 'policy', name: 'car:read', action: 'put' }),
  );
  expect(events.filter(({ type }) => /CONSENT_REG|REGISTER/.test(type)).map(({ subject }) => subject)).toEqual([
    'consents/alice',
    'consents/alice',
  ]);
});

test('a decision has at most eventBodyBytesMax; a longer one comes without its request', () => {
  const record = (chars: number) => ({
    ...{ tenant: 't', at: 0, caller: 'client:c', policyNumber: 1, revision: 1, durationUs: 1, requestId: 'r' },
    request: { action: 'a:b', context: { text: 'x'.repeat(chars) } },
    answer: { outcome: 'deny' as const },
  });
  const bytes = (chars: number) => Buffer.byteLength(JSON.stringify(eventOf(record(chars)).data));
  const room = limits.eventBodyBytesMax - bytes(0);
  expect(bytes(room)).toBe(limits.eventBodyBytesMax);
  const { data } = eventOf(record(room + 1));
  expect(data).toMatchObject({ action: 'a:b', outcome: 'deny' });
  expect(data).not.toHaveProperty('request');
  expect([...Value.Errors(decisionMade.data, data)]).toEqual([]);
});

test('only the types that are asked for are answered, by name or beginning; others are passed over', async () => {
  const { tenant, relate, get, last } = await streaming();
  const scanned = limits.eventsScannedMax;
  await asAdmin(
    server.db.adminUrl,
    `insert into accord.event_inbox (tenant, time, type, key, body) select $1, now(), 'OTHER', 'k', '{}' from generate_series(1, $2::int)`,
    [tenant, scanned],
  );
  await numbered(server);
  await relate('user/alice', 'drives', 'car/1');
  await numbered(server);
  const page = (await get(`?after=${last}&types=RELATIONSHIP_CREATED`)).body;
  expect(page).toEqual({ events: [], after: last + scanned, last: last + scanned + 1 });
  const found = (await get(`?after=${page.after}&types=RELATIONSHIP_CREATED`)).body;
  expect(found.events.map(({ type }) => type)).toEqual(['RELATIONSHIP_CREATED']);
  // Who waits goes on by itself.
  const waited = (await get(`?after=${last}&types=POLICY_*,RELATIONSHIP_*&wait=30`)).body;
  expect(waited.events).toEqual(found.events);
  const unknown = await get('?types=RELATIONSHIP_CREATED,NOTHING_*');
  expect([unknown.status, unknown.body.detail]).toEqual([400, expect.stringContaining('NOTHING_*')]);
  const many = (count: number) => get(`?types=${Array.from({ length: count }, () => 'POLICY_*').join(',')}`);
  expect((await many(limits.eventTypesAskedMax)).status).toBe(200);
  expect((await many(limits.eventTypesAskedMax + 1)).status).toBe(400);
});

test('who waits is answered when something happens', async () => {
  const { relate, get, last } = await streaming();
  const waiting = get(`?after=${last}&wait=30`);
  await relate('user/alice', 'drives', 'car/1');
  const { body } = await waiting;
  expect(body.events.map(({ type }) => type)).toEqual(['RELATIONSHIP_CREATED']);
  expect((await get(`?after=${last}&wait=0`)).body.events).toEqual(body.events);
});

test('limits: eventsPageMax of a page, eventWaitMsMax of waiting', async () => {
  const { get } = await streaming();
  const statuses = async (...queries: string[]) => Promise.all(queries.map(async (query) => (await get(query)).status));
  const [most, wait] = [limits.eventsPageMax, limits.eventWaitMsMax / 1000];
  expect(await statuses(`?limit=${most}`, `?limit=${most + 1}`, '?limit=0')).toEqual([200, 400, 400]);
  expect(await statuses(`?wait=${wait}`, `?wait=${wait + 1}`)).toEqual([200, 400]);
  expect(await statuses('?after=-1', '?after=x', '?before=1')).toEqual([400, 400, 400]);
});

test('limits: eventPageBytesMax of the data of a page, at least one event; the next page goes on', async () => {
  const { get, last, tenant } = await streaming();
  const data = JSON.stringify({ text: 'x'.repeat(60 * 1024) });
  const most = Math.floor(
    limits.eventPageBytesMax / Buffer.byteLength(JSON.stringify({ text: 'x'.repeat(60 * 1024) })),
  );
  await asAdmin(
    server.db.adminUrl,
    `insert into accord.event_inbox (tenant, time, type, key, body)
      select $1, now(), case when i % 2 = 0 then 'DECISION' else 'POLICY_UPDATED' end, 'k', $2::jsonb from generate_series(1, 40) i`,
    [tenant, data],
  );
  await numbered(server);
  const sizes: number[] = [];
  let after = last;
  for (let page = await get(`?limit=1000&after=${after}`); page.body.events.length > 0; ) {
    sizes.push(page.body.events.length);
    after = page.body.after;
    page = await get(`?limit=1000&after=${after}`);
  }
  expect(sizes).toEqual([most, most, 40 - 2 * most]);
  const some = (await get(`?limit=1000&types=DECISION&after=${last}`)).body;
  expect([some.events.length, some.after]).toEqual([most, last + 2 * most + 1]);
  expect((await get(`?limit=1&types=*&after=${last}`)).body).toMatchObject({ after: last + 1 });
});

test('an answer that nobody takes is ended', async () => {
  const ended = new Promise<string>((resolve) => {
    const unread = createServer((_request, raw) => {
      raw.once('close', () => resolve('closed'));
      raw.write('x'.repeat(64 * 1024 * 1024));
      endUnread({ raw }, 300);
    });
    unread.listen(0, '127.0.0.1', () => {
      const socket = connect((unread.address() as AddressInfo).port, '127.0.0.1', () => {
        socket.pause();
        socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      });
      socket.on('error', () => {});
      onTestFinished(() => {
        socket.destroy();
        unread.close();
      });
    });
  });
  expect(await ended).toBe('closed');
});

test('a number that is no longer kept, or not there yet, is refused with the number to go on from', async () => {
  const { get, last, tenant } = await streaming();
  expect(await get(`?after=${last + 1}`)).toMatchObject({
    ...{ status: 409, body: { code: 'events_ahead', detail: `The newest event has the number ${last}.` } },
  });
  await asAdmin(server.db.adminUrl, 'update accord.event_counter set removed = 3 where tenant = $1', [tenant]);
  expect(await get('?after=2')).toMatchObject({
    status: 410,
    body: { code: 'events_gone', detail: expect.stringContaining('Begin after 3') },
  });
  const kept = await get('?limit=1');
  expect([kept.status, Number(kept.body.events[0]?.sequence), kept.body.after]).toEqual([200, 4, 4]);
});

test('only a client of the tenant with events:read may read them', async () => {
  const { url, tenant } = await streaming();
  const [other, viewer] = [await server.tenant(), await configClient(server, tenant, 'config-viewer')];
  const tokens = {
    'events:read of another tenant': await server.client(other, 'events:read'),
    'another scope': await server.client(tenant, 'consents:read'),
    user: await server.user(tenant, 'alice'),
    member: await server.member(tenant, 'security-admin'),
  };
  for (const [who, token] of Object.entries(tokens)) {
    const { statusCode } = await server.app.inject({ url, headers: { authorization: `Bearer ${token}` } });
    expect([401, 403], who).toContain(statusCode);
  }
  const admin = await server.client(tenant, 'pg:tenant:admin');
  expect((await server.app.inject({ url, headers: { authorization: `Bearer ${admin}` } })).statusCode).toBe(200);
  const { status, body } = await viewer('GET', '/event-stream/event-types');
  expect(status).toBe(200);
  const policy = body.types.find(({ name }: { name: string }) => name === 'POLICY_UPDATED');
  expect(policy).toMatchObject({ schema: { type: 'object', required: ['requestor', 'name', 'number'] } });
  const client = await server.app.inject({
    url: `/tenants/${tenant}/event-stream/event-types`,
    headers: { authorization: `Bearer ${admin}` },
  });
  expect(client.statusCode).toBe(401);
});

/** A stream of server-sent events: its text as it comes. */
async function open(url: string, token: string, headers: Record<string, string> = {}) {
  const response = await fetch(`http://127.0.0.1:${port}${url}`, {
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream', ...headers },
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    response,
    /** Resolves when the text matches, or the stream has ended. */
    async until(wanted: RegExp) {
      while (!wanted.test(text)) {
        const { done, value } = (await reader?.read()) ?? { done: true };
        if (done) break;
        text += value;
      }
      return text;
    },
    end: () => reader?.cancel(),
  };
}

test('a stream sends events as they come; Last-Event-ID resumes it', async () => {
  const { relate, url, token, last } = await streaming();
  const stream = await open(`${url}?after=${last - 1}`, token);
  expect([stream.response.status, stream.response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  await stream.until(new RegExp(`^id: ${last}\ndata: .*"CONFIGURATION_CHANGED".*\n\n`, 'm'));
  await relate('user/alice', 'drives', 'car/1');
  expect(await stream.until(new RegExp(`id: ${last + 1}\ndata: .*"RELATIONSHIP_CREATED".*\n\n`))).toContain(
    'retry: 1000',
  );
  await stream.end();
  await relate('user/bob', 'drives', 'car/1');
  await numbered(server);
  const again = await open(url, token, { 'last-event-id': String(last + 1) });
  const text = await again.until(/\ndata: .*\n\n/);
  expect([...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))).toEqual([last + 2]);
  await again.end();
  const bad = await open(url, token, { 'last-event-id': 'x' });
  expect(bad.response.status).toBe(400);
});

test('a stream of types says how far it has looked, and goes on from there', async () => {
  const { relate, url, token, last } = await streaming();
  await relate('user/alice', 'drives', 'car/1');
  await relate('user/bob', 'drives', 'car/1');
  await numbered(server);
  const types = 'types=RELATIONSHIPS_DELETED';
  const stream = await open(`${url}?after=${last}&${types}`, token);
  // An id without data: it is no event, and Last-Event-ID nevertheless (WHATWG HTML 9.2.6).
  expect(await stream.until(/^id: /m)).toBe(`retry: 1000\n\nid: ${last + 2}\n\n`);
  await stream.end();
  const found = await open(`${url}?after=${last}&types=RELATIONSHIP_CREATED`, token);
  const ids = [...(await found.until(new RegExp(`^id: ${last + 2}\\ndata: .*\\n\\n`, 'm'))).matchAll(/^id: (\d+)$/gm)];
  expect(ids.map(([, id]) => Number(id))).toEqual([last + 1, last + 2]);
  await found.end();
});

test('a stream ends after eventStreamMsMax, because its token may be refused meanwhile', async () => {
  const { relate, tenant, last } = await streaming();
  const { database, readers } = server.services.events;
  let skipped = 0;
  const own = { now: clock.now, monotonic: () => performance.now() + skipped };
  const asked = { tenant, after: last, types: undefined, limit: 10 };
  const pages = follow({ database, readers, clock: own }, asked, new AbortController().signal);
  const next = async () => {
    for (;;) {
      const { value, done } = await pages.next();
      if (done) return 'ended';
      if (value.events.length > 0) return value.after;
    }
  };
  await relate('user/alice', 'drives', 'car/1');
  expect(await next()).toBe(last + 1);
  skipped = limits.eventStreamMsMax / 2;
  await relate('user/bob', 'drives', 'car/1');
  expect(await next()).toBe(last + 2);
  skipped = limits.eventStreamMsMax;
  expect(await next()).toBe('ended');
});
