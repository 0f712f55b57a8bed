/** From a subscription made by HTTP to a signed event at a real endpoint, and what people do about deliveries. */
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { runTasks } from '../../server/room/tasks.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { until, untilPasses } from '../helpers/wait.ts';
import { startEndpoint, untilEvents, untilReceived } from './endpoint.ts';

const server = await createTestServer({ ACCORD_OUTBOUND_ALLOW: '127.0.0.1' });
const { services } = server;
const [delivering] = services.subscriptions.deliveries.tasks;

type Delivery = {
  id: string;
  status: string;
  request?: string;
  event?: { subject?: string };
  attempts: { status?: number; replay: boolean }[];
};

async function subscribe(body: object = {}) {
  const tenant = await server.tenant();
  const tokens = {
    admin: await server.member(tenant, 'security-admin'),
    support: await server.member(tenant, 'support'),
  };
  const endpoint = await startEndpoint();
  const call = async <T>(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    payload?: object,
    token = tokens.admin,
  ) => {
    const answer = await server.app.inject({
      ...{ method, url: `/tenants/${tenant}/event-stream/subscriptions${path}` },
      headers: { authorization: `Bearer ${token}` },
      ...(payload === undefined ? {} : { payload }),
    });
    return { status: answer.statusCode, body: answer.json() as T };
  };
  const made = await call<{ id: string; signingSecret: string }>('POST', '', {
    ...{ endpoint: endpoint.url, eventTypes: ['RELATIONSHIP_*'], maxPerSecond: 1000 },
    ...body,
  });
  expect(made.status).toBe(201);
  const { id, signingSecret } = made.body;
  const deliveries = async (query = '', token = tokens.admin) =>
    (await call<{ deliveries: Delivery[]; cursor?: string }>('GET', `/${id}/deliveries${query}`, undefined, token))
      .body;
  return { ...{ tenant, endpoint, call, id, signingSecret, deliveries, tokens } };
}

type Subscribed = Awaited<ReturnType<typeof subscribe>>;
const untilListed = (deliveries: Subscribed['deliveries'], query: string, count: number) =>
  untilPasses(`${count} deliveries`, async () => expect((await deliveries(query)).deliveries).toHaveLength(count));

async function start(body: object = {}) {
  const subscribed = await subscribe(body);
  const stop = runTasks([delivering as (typeof services.subscriptions.deliveries.tasks)[0]], services.observe);
  return { ...subscribed, stop };
}

/** All lanes are told to look for work, and then some is delivered for another tenant: what must not come would have. */
async function serveOthers() {
  const { tenant, endpoint } = await subscribe();
  for (const round of [1, 2, 3]) {
    services.subscriptions.deliveries.lanes.hint();
    await relate(tenant, `other${round}`);
    await untilReceived(endpoint, round);
  }
}

/** Types, and a relationship of an address. */
async function relate(tenant: string, to: string) {
  const token = await server.member(tenant, 'security-admin');
  const put = (path: string, payload: object) =>
    server.app.inject({
      method: 'PUT',
      url: `/tenants/${tenant}/${path}`,
      headers: { authorization: `Bearer ${token}` },
      payload,
    });
  await put('types/actor-types/user', {});
  void put;
  await asAdmin(
    server.db.adminUrl,
    `insert into accord.event_inbox (tenant, time, type, key, body) values ($1, now(), 'RELATIONSHIP_CREATED', $2, $3)`,
    [
      tenant,
      `car/${to}`,
      { requestor: 'client:x', from: { type: 'user', id: 'ann' }, to: { type: 'car', id: to }, note: 'ann@mail.test' },
    ],
  );
  await services.events.mover.move();
}

/** As many events at once, each of a subject of its own. */
async function relateMany(tenant: string, count: number) {
  await asAdmin(
    server.db.adminUrl,
    `insert into accord.event_inbox (tenant, time, type, key, body)
       select $1, now(), 'RELATIONSHIP_CREATED', 'bus/' || n, jsonb_build_object('requestor', 'client:x') from generate_series(1, $2::int) n`,
    [tenant, count],
  );
  await services.events.mover.move();
}

test('an event reaches the endpoint, signed, and its delivery is listed', async () => {
  const { tenant, endpoint, call, id, signingSecret, deliveries, tokens, stop } = await start();
  try {
    await relate(tenant, 'c1');
    await untilReceived(endpoint, 1);
    const [{ body, headers }] = endpoint.received as [(typeof endpoint.received)[0]];
    expect(new Webhook(signingSecret).verify(body, headers as Record<string, string>)).toMatchObject({
      ...{
        specversion: '1.0',
        type: 'RELATIONSHIP_CREATED',
        partitionkey: 'car/c1',
        source: `http://accord.test/${tenant}`,
      },
    });
    await untilListed(deliveries, '', 1);
    const [one] = (await deliveries('?status=delivered')).deliveries;
    expect(one).toMatchObject({
      status: 'delivered',
      event: { subject: 'car/c1' },
      attempts: [{ status: 204, replay: false }],
    });
    expect(one?.request).toContain('"note": "***"'.replace(' ', ''));
    const masked = (await deliveries('', tokens.support)).deliveries[0];
    expect([masked?.request, masked?.event?.subject]).toEqual([undefined, undefined]);
    expect((await deliveries('?status=failed')).deliveries).toEqual([]);
    const { body: shown } = await call<{ delivery: object }>('GET', `/${id}`);
    expect(shown.delivery).toMatchObject({ state: 'active' });
    // A rotated secret: both sign.
    const rotated = await call<{ signingSecret: string }>('POST', `/${id}/secret/rotate`);
    await untilPasses('both secrets', async () => {
      const count = endpoint.received.length;
      await relate(tenant, `c${count + 1}`);
      await untilReceived(endpoint, count + 1);
      const last = endpoint.received.at(-1) as (typeof endpoint.received)[0];
      for (const secret of [signingSecret, rotated.body.signingSecret])
        new Webhook(secret).verify(last.body, last.headers as Record<string, string>);
    });
  } finally {
    await stop();
  }
});

test('one delivery is retried, a range is replayed, an endpoint is tested; each is audited', async () => {
  const { tenant, endpoint, call, id, deliveries, stop } = await start({ numberOfRetries: 0 });
  try {
    endpoint.answer = ({ key }, response) =>
      response.writeHead(key === 'car/c2' ? 400 : 200).end('ann@mail.test is refused');
    for (const to of ['c1', 'c2', 'c3']) await relate(tenant, to);
    await untilListed(deliveries, '', 3);
    const [failed] = (await deliveries('?status=failed')).deliveries as [Delivery];
    expect(failed).toMatchObject({ status: 'failed', attempts: [{ status: 400, answer: '*** is refused' }] });
    expect((await call('POST', `/${id}/deliveries/999999/retry`)).status).toBe(404);
    expect((await call('POST', `/${id}/deliveries/${failed.id}/retry`)).status).toBe(202);
    await until('the retry', () => endpoint.received.filter(({ key }) => key === 'car/c2').length === 2);
    await untilPasses('its attempt', async () =>
      expect((await deliveries('?status=failed')).deliveries[0]?.attempts).toHaveLength(2),
    );
    endpoint.answer = (_one, response) => response.writeHead(200).end();
    endpoint.received.length = 0;
    expect((await call('POST', `/${id}/replay`, {})).status).toBe(400);
    for (const [pointer, range] of [
      ['/toSequence', { fromSequence: 9, toSequence: 3 }],
      ['/until', { since: '2026-01-02T01:00:00+01:00', until: '2026-01-02T00:00:00Z' }],
    ]) {
      const refused = await call<object>('POST', `/${id}/replay`, range as object);
      expect(refused).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
    }
    expect((await call('POST', `/${id}/replay`, { fromSequence: 1, failedOnly: true })).status).toBe(202);
    await untilPasses('the replay', () => expect(endpoint.received.map(({ key }) => key)).toEqual(['car/c2']));
    await untilListed(deliveries, '?status=failed', 0);
    await untilPasses('the replay before to end', async () =>
      expect(
        (await call('POST', `/${id}/replay`, { since: '2020-01-01T00:00:00Z', eventTypes: ['RELATIONSHIP_CREATED'] }))
          .status,
      ).toBe(202),
    );
    await untilPasses('the replay', () =>
      expect(endpoint.received.map(({ key }) => key).sort()).toEqual(['car/c1', 'car/c2', 'car/c2', 'car/c3']),
    );
    const tested = await call<object>('POST', `/${id}/test`);
    expect(tested.body).toMatchObject({ ok: true, status: 200 });
    expect(JSON.parse(endpoint.received.at(-1)?.body ?? '{}')).toMatchObject({ type: 'TEST' });
    const audited = await asAdmin<{ action: string }>(
      server.db.adminUrl,
      `select action from accord.audit_entry where tenant = $1 and object_kind = 'event_subscription' order by at`,
      [tenant],
    );
    expect(audited.map(({ action }) => action)).toEqual(['put', 'retry', 'replay', 'replay', 'test']);
    const page = await deliveries('?limit=2');
    expect(page.deliveries).toHaveLength(2);
    expect((await deliveries(`?limit=2&cursor=${page.cursor}`)).deliveries).toHaveLength(1);
  } finally {
    await stop();
  }
});

test('a replay tries an event replayAttemptsMax times, touches no health, and reads replayEventsMax at once', async () => {
  const { tenant, endpoint, call, id, stop } = await start();
  try {
    for (let n = 0; n < 3; n++) await relate(tenant, `c${n}`);
    await untilReceived(endpoint, 3);
    endpoint.answer = (_one, response) => response.writeHead(500).end();
    endpoint.received.length = 0;
    expect((await call('POST', `/${id}/replay`, { fromSequence: 1 })).status).toBe(202);
    expect((await call('POST', `/${id}/replay`, { fromSequence: 1 })).status).toBe(409);
    await untilReceived(endpoint, 3 * limits.replayAttemptsMax);
    const replays = () =>
      asAdmin(server.db.adminUrl, 'select failed, delivered, finished_at from accord.event_replay where tenant = $1', [
        tenant,
      ]);
    await untilPasses('the replay to end', async () =>
      expect(await replays()).toMatchObject([{ failed: 3, delivered: 0, finished_at: expect.any(Date) }]),
    );
    expect((await call<{ delivery: object }>('GET', `/${id}`)).body.delivery).toMatchObject({ state: 'active' });
    expect(limits.replayEventsMax).toBeGreaterThan(3);
    expect(endpoint.connections).toBeLessThanOrEqual(limits.deliveryConnectionsMax + limits.replayConnectionsMax);
  } finally {
    await stop();
  }
});

test('once pausing is answered nothing is begun, and what waits says that it is suspended', async () => {
  const { tenant, endpoint, call, id, deliveries, stop } = await start();
  const body = { endpoint: endpoint.url, eventTypes: ['RELATIONSHIP_*'], maxPerSecond: 1000 };
  const stateOf = async () => (await call<{ delivery: { state: string } }>('GET', `/${id}`)).body.delivery.state;
  try {
    // An idle lane, which this server owns: the event of the pause itself wakes it.
    await relate(tenant, 'c0');
    await untilReceived(endpoint, 1);
    expect((await call('PUT', `/${id}`, { ...body, enabled: false })).status).toBe(200);
    await relate(tenant, 'c1');
    await serveOthers();
    expect(endpoint.received).toHaveLength(1);
    expect(await stateOf()).toBe('paused');
    expect((await call('PUT', `/${id}`, { ...body, enabled: true })).status).toBe(200);
    await untilReceived(endpoint, 2);
    await until('it to be active', async () => (await stateOf()) === 'active');
    // A step of many events at an endpoint that is slow: what is on its way goes on, at most one for each connection.
    const paused = Promise.withResolvers<void>();
    const answered = endpoint.received.length + 10;
    endpoint.answer = async (_one, response) => {
      if (endpoint.received.length > answered) await paused.promise;
      response.writeHead(200).end();
    };
    await relateMany(tenant, 60);
    await until('some of the step', () => endpoint.received.length > 10);
    expect((await call('PUT', `/${id}`, { ...body, enabled: false })).status).toBe(200);
    const atOnce = endpoint.received.length;
    paused.resolve();
    await serveOthers();
    expect(endpoint.received.length).toBeLessThanOrEqual(atOnce + limits.deliveryConnectionsMax);
    expect(endpoint.received.length).toBeLessThan(60);
    const listed = async () => (await deliveries('?status=suspended&limit=100')).deliveries;
    const suspended = await until('what is suspended', async () => {
      const some = await listed();
      return some.length > 0 ? some : undefined;
    });
    expect(new Set(suspended.map(({ status }) => status))).toEqual(new Set(['suspended']));
    expect(suspended.every((one) => !('nextAttemptAt' in one))).toBe(true);
    expect((await deliveries('?status=waiting')).deliveries).toEqual([]);
    expect((await call('PUT', `/${id}`, { ...body, enabled: true })).status).toBe(200);
    await untilEvents(endpoint, 62);
  } finally {
    await stop();
  }
});

test('what a subscription that 410 disabled did not send is suspended, and sent when it is enabled again', async () => {
  const { tenant, endpoint, call, id, deliveries, stop } = await start();
  try {
    endpoint.answer = (_one, response) => response.writeHead(410).end();
    await relate(tenant, 'gone');
    await untilPasses('410 to disable it', async () =>
      expect((await call<{ delivery: object }>('GET', `/${id}`)).body.delivery).toMatchObject({ state: 'disabled' }),
    );
    expect((await deliveries()).deliveries).toMatchObject([{ status: 'suspended', attempts: [{ status: 410 }] }]);
    expect((await deliveries('?status=waiting')).deliveries).toEqual([]);
    endpoint.answer = (_one, response) => response.writeHead(200).end();
    const body = { endpoint: endpoint.url, eventTypes: ['RELATIONSHIP_*'], maxPerSecond: 999 };
    expect((await call('PUT', `/${id}`, body)).status).toBe(200);
    await untilListed(deliveries, '?status=delivered', 1);
  } finally {
    await stop();
  }
});

type Replay = {
  replayId: string;
  state: string;
  fromSequence: number;
  toSequence: number;
  atSequence: number;
  delivered: number;
  failed: number;
  startedAt: string;
  endedAt?: string;
};

test('a replay says how far it is, and can be cancelled', async () => {
  const { tenant, endpoint, call, id, tokens, stop } = await start();
  try {
    await relateMany(tenant, limits.replayEventsMax + 30);
    const sent = limits.replayEventsMax + 30;
    await untilReceived(endpoint, sent);
    endpoint.received.length = 0;
    // The last ones are answered when the replay was cancelled.
    const cancelling = Promise.withResolvers<void>();
    endpoint.answer = async (_one, response) => {
      if (endpoint.received.length > limits.replayEventsMax) await cancelling.promise;
      response.writeHead(200).end();
    };
    const began = await call<Replay>('POST', `/${id}/replay`, { fromSequence: 1 });
    const { replayId, toSequence } = began.body;
    expect(began).toMatchObject({
      status: 202,
      body: { state: 'running', fromSequence: 1, atSequence: 0, delivered: 0, failed: 0, failedOnly: false },
    });
    const read = async () => (await call<Replay>('GET', `/${id}/replays/${replayId}`)).body;
    // The first portion is recorded while the second is sent.
    await until('the first portion', async () => (await read()).delivered === limits.replayEventsMax);
    const midway = await read();
    expect(midway).toMatchObject({ state: 'running', failed: 0 });
    expect(midway.atSequence).toBeLessThan(toSequence);
    expect((await call('POST', `/${id}/replays/${replayId}/cancel`, undefined, tokens.support)).status).toBe(403);
    const cancelled = await call<Replay>('POST', `/${id}/replays/${replayId}/cancel`);
    expect(cancelled).toMatchObject({ status: 200, body: { state: 'cancelled', endedAt: expect.any(String) } });
    await services.subscriptions.deliveries.configChanged(tenant); // the one that sends has heard of it
    cancelling.resolve();
    await until('what was sent to be recorded', async () => (await read()).delivered === endpoint.received.length);
    await serveOthers();
    expect(endpoint.received.length).toBeLessThan(sent);
    expect(await read()).toMatchObject({ state: 'cancelled', delivered: endpoint.received.length, failed: 0 });
    // Again is no error and changes nothing; another one may begin.
    expect((await call<Replay>('POST', `/${id}/replays/${replayId}/cancel`)).body).toEqual(await read());
    const second = await call<Replay>('POST', `/${id}/replay`, { fromSequence: toSequence - 1 });
    const list = async (query = '') =>
      (await call<{ replays: Replay[]; cursor?: string }>('GET', `/${id}/replays${query}`)).body;
    await untilPasses('the second replay', async () =>
      expect((await list()).replays).toMatchObject([
        { replayId: second.body.replayId, state: 'finished', atSequence: toSequence, endedAt: expect.any(String) },
        { replayId, state: 'cancelled' },
      ]),
    );
    const first = await list('?limit=1');
    expect(first.replays).toHaveLength(1);
    expect((await list(`?limit=1&cursor=${first.cursor}`)).replays).toMatchObject([{ replayId }]);
    const none = '01a2097e-bd83-766c-b118-05a68f2cd835';
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/cancel'],
    ] as const)
      expect(await call(method, `/${id}/replays/${none}${path}`)).toMatchObject({
        status: 404,
        body: { code: 'replay_not_found' },
      });
    const audited = await asAdmin<{ action: string }>(
      server.db.adminUrl,
      `select action from accord.audit_entry where tenant = $1 and action = 'cancel_replay'`,
      [tenant],
    );
    expect(audited).toHaveLength(1);
  } finally {
    await stop();
  }
});

test('an endpoint that wants a handshake is asked first, and gets nothing until it allows', async () => {
  const { tenant, endpoint, call, id, stop } = await start({ handshake: true });
  try {
    const tested = await call<object>('POST', `/${id}/test`);
    expect(tested.body).toMatchObject({ ok: false, error: 'answered 405 to the request OPTIONS of the handshake' });
    endpoint.options = (response) =>
      response.writeHead(200, { 'webhook-allowed-origin': 'accord.test', 'webhook-allowed-rate': '600' }).end();
    await relate(tenant, 'c1');
    await untilReceived(endpoint, 1);
    expect(endpoint.asked.at(-1)).toMatchObject({
      'webhook-request-origin': 'accord.test',
      'webhook-request-rate': '60000',
    });
  } finally {
    await stop();
  }
});
