/** Deliveries to real endpoints: in order, signed, tried again, and bounded whatever the endpoint does. */
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { systemClock } from '../../server/core/clock.ts';
import { limits } from '../../server/core/limits.ts';
import { type DeliverySettings, resetHealth } from '../../server/subscriptions/lanes/index.ts';
import { until, untilPasses } from '../helpers/wait.ts';
import { startEndpoint, type TestEndpoint, untilEvents, untilReceived } from './endpoint.ts';
import { createLanesTest } from './lanes.ts';

const { server, settings, worker, subscribe, emit, admin, changed, serveOthers } = await createLanesTest();
const { database } = server.services;
const laneOf = async (tenant: string) =>
  (
    await admin<{
      cursor: string;
      failures: number;
      trips: number;
      disabled_reason: string | null;
      blocked_until: Date | null;
      failing_since: Date | null;
    }>('select * from accord.event_lane where tenant = $1', [tenant])
  )[0];
const openOf = (tenant: string) =>
  admin<{ sequence: string; attempts: number; step: number; next_at: Date }>(
    'select * from accord.delivery_open where tenant = $1 order by sequence',
    [tenant],
  );
const attemptsOf = (tenant: string) =>
  admin<{ sequence: string; number: number; status: number; error: string | null; answer: string | null; ms: number }>(
    'select * from accord.delivery_attempt where tenant = $1 order by at, number',
    [tenant],
  );
const reset = (tenant: string, subscription: string) =>
  database.tenant(tenant, (tx) => resetHealth(tx, tenant, subscription));
async function dueNow(tenant: string, subscription: string) {
  await reset(tenant, subscription);
  await changed(tenant);
}
const untilOpen = (tenant: string, count: number) =>
  untilPasses(`${count} events that are open`, async () => expect(await openOf(tenant)).toHaveLength(count));
const untilAttempts = (tenant: string, count: number) =>
  untilPasses(`${count} attempts`, async () => expect(await attemptsOf(tenant)).toHaveLength(count));
const untilLane = (what: string, tenant: string, lane: object) =>
  untilPasses(what, async () => expect(await laneOf(tenant)).toMatchObject(lane));
/** Numbers of each key in the order in which they came, of the first receipt of each. */
function orderOf({ received }: TestEndpoint): Map<string, number[]> {
  const seen = new Set<string>();
  const order = new Map<string, number[]>();
  for (const { id, key, sequence } of received) {
    if (seen.has(id)) continue;
    seen.add(id);
    order.set(key, [...(order.get(key) ?? []), sequence]);
  }
  return order;
}
function expectOrdered(endpoint: TestEndpoint, count: number) {
  const order = orderOf(endpoint);
  expect([...order.values()].flat()).toHaveLength(count);
  for (const numbers of order.values()) expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
}

test('events come in the order of each key, once, signed by each secret', async () => {
  const [tenant, endpoint] = [await server.tenant(), await startEndpoint()];
  const id = await subscribe(tenant, endpoint.url);
  const own = settings.get(`${tenant}/${id}`) as NonNullable<ReturnType<typeof settings.get>>;
  const secrets = [...own.signingSecrets, `whsec_${Buffer.alloc(32, 7).toString('base64')}`];
  settings.set(`${tenant}/${id}`, { ...own, signingSecrets: secrets });
  worker();
  await emit(
    tenant,
    Array.from({ length: 300 }, (_, n) => `k${n % 7}`),
  );
  await untilReceived(endpoint, 300);
  expectOrdered(endpoint, 300);
  const [one] = endpoint.received as [TestEndpoint['received'][0]];
  for (const secret of secrets) new Webhook(secret).verify(one.body, one.headers as Record<string, string>);
  expect(() =>
    new Webhook(`whsec_${Buffer.alloc(32, 8).toString('base64')}`).verify(one.body, one.headers as never),
  ).toThrow();
  await untilAttempts(tenant, 300);
  expect(endpoint.connections).toBeLessThanOrEqual(limits.deliveryConnectionsMax);
});

test('only what matches is sent, and the cursor moves over the rest', async () => {
  const [tenant, endpoint] = [await server.tenant(), await startEndpoint()];
  await subscribe(tenant, endpoint.url, { types: new Set(['NOTE', 'OTHER']), matches: ({ type }) => type === 'NOTE' });
  worker();
  await emit(tenant, ['a'], 'OTHER');
  await emit(tenant, ['a'], 'NOTE');
  await emit(tenant, ['a', 'b'], 'MORE');
  await untilReceived(endpoint, 1);
  await untilPasses('the cursor', async () => {
    const [counter] = await admin<{ last: string }>('select last from accord.event_counter where tenant = $1', [
      tenant,
    ]);
    expect((await laneOf(tenant))?.cursor).toBe(counter?.last);
  });
});

test('an endpoint that fails every third time gets everything, in the order of each key', async () => {
  const tenant = await server.tenant();
  let count = 0;
  const endpoint = await startEndpoint((_one, response) => response.writeHead(count++ % 3 === 0 ? 500 : 204).end());
  const id = await subscribe(tenant, endpoint.url);
  worker();
  await emit(
    tenant,
    Array.from({ length: 60 }, (_, n) => `k${n % 5}`),
  );
  const taken = () => new Set(endpoint.received.filter((_, n) => n % 3 !== 0).map((one) => one.id)).size;
  let seen = 0;
  await until('60 events', async () => {
    // Nothing came since: what is open waits.
    if (endpoint.received.length === seen) await dueNow(tenant, id);
    seen = endpoint.received.length;
    return taken() === 60;
  });
  expectOrdered(endpoint, 60);
  await untilOpen(tenant, 0);
});

test('a failed event holds up its key only, and is tried by the schedule until its retries are over', async () => {
  const tenant = await server.tenant();
  let isBad = true;
  const endpoint = await startEndpoint(({ key }, response) =>
    response.writeHead(isBad && key === 'bad' ? 500 : 204).end('no@body.test says no'),
  );
  const id = await subscribe(tenant, endpoint.url, { numberOfRetries: 1 });
  // It stands still until the schedule was looked at: how late this machine is, is no part of it.
  let stillAt: number | undefined = systemClock.now();
  worker({ clock: { now: () => stillAt ?? systemClock.now(), monotonic: () => systemClock.monotonic() } });
  await emit(tenant, ['bad', 'good', 'bad', 'good']);
  await untilOpen(tenant, 2);
  const [head, behind] = (await openOf(tenant)) as [
    Awaited<ReturnType<typeof openOf>>[0],
    Awaited<ReturnType<typeof openOf>>[0],
  ];
  expect([head.attempts, head.step, behind.attempts, behind.step]).toEqual([1, 1, 0, 0]);
  const waits = head.next_at.getTime() - (stillAt as number);
  expect(waits).toBeGreaterThan(1000);
  expect(waits).toBeLessThanOrEqual(5000);
  expect(behind.next_at.getTime()).toBeGreaterThanOrEqual(head.next_at.getTime());
  expect(endpoint.received.map(({ key }) => key).sort()).toEqual(['bad', 'good', 'good']);
  const failed = (await attemptsOf(tenant)).find(({ status }) => status === 500);
  expect(failed).toMatchObject({ error: 'answered 500', answer: '*** says no', number: 1 });
  stillAt = undefined;
  // The second attempt was its last: what waits behind it has its turn.
  await dueNow(tenant, id);
  await until('the last attempt of one, and the first of the next', () => {
    return endpoint.received.filter(({ key }) => key === 'bad').length === 3;
  });
  isBad = false;
  await dueNow(tenant, id);
  await untilOpen(tenant, 0);
  expectOrdered(endpoint, 4);
});

test('what comes after a failed event of its key waits for it, and others do not', async () => {
  const tenant = await server.tenant();
  let isBad = true;
  const endpoint = await startEndpoint(({ key }, response) =>
    response.writeHead(isBad && key === 'bad' ? 500 : 204).end(),
  );
  const id = await subscribe(tenant, endpoint.url);
  worker();
  await emit(tenant, ['bad']);
  await untilOpen(tenant, 1);
  await emit(tenant, ['bad', 'good']);
  await untilOpen(tenant, 2);
  await until('the good one', () => endpoint.received.some(({ key }) => key === 'good'));
  // The first may have been tried again meanwhile.
  expect(new Set(endpoint.received.flatMap((one) => (one.key === 'bad' ? [one.id] : []))).size).toBe(1);
  isBad = false;
  await until('both', async () => {
    await dueNow(tenant, id);
    return (await openOf(tenant)).length === 0;
  });
  expectOrdered(endpoint, 3);
});

test('an endpoint that hangs holds up no other lane', async () => {
  const [slow, quick] = [await server.tenant(), await server.tenant()];
  const over = Promise.withResolvers<void>();
  const hanging = await startEndpoint((_one, response) => void over.promise.then(() => response.writeHead(204).end()));
  const endpoint = await startEndpoint();
  await subscribe(slow, hanging.url);
  await subscribe(quick, endpoint.url);
  worker({ requestMs: 600_000 });
  await emit(
    slow,
    Array.from({ length: 50 }, (_, n) => `k${n}`),
  );
  await untilReceived(hanging, limits.deliveryConnectionsMax);
  await emit(quick, ['a']);
  await untilReceived(endpoint, 1);
  expect(await attemptsOf(slow)).toEqual([]);
  over.resolve();
  await untilReceived(hanging, 50);
});

test('an endpoint that hangs is given up after deliveryTimeoutMs, and deliveryFailuresMax of these block it', async () => {
  const [tenant, hanging] = [await server.tenant(), await startEndpoint(() => {})];
  await subscribe(tenant, hanging.url);
  worker({ requestMs: 300 });
  await emit(
    tenant,
    Array.from({ length: 50 }, (_, n) => `k${n}`),
  );
  await untilAttempts(tenant, limits.deliveryFailuresMax);
  for (const { status, error, ms } of await attemptsOf(tenant)) {
    expect({ status, error }).toEqual({ status: 0, error: 'no complete answer within 300 ms' });
    expect(ms).toBeGreaterThanOrEqual(299);
  }
  const lane = await laneOf(tenant);
  expect(lane?.failures).toBeGreaterThanOrEqual(limits.deliveryFailuresMax);
  const blockedMs = (lane?.blocked_until?.getTime() ?? 0) - Date.now();
  expect(blockedMs).toBeLessThanOrEqual(limits.deliveryBlockedMsMin);
});

test('an answer byte by byte is given up in time, and one of gigabytes is not read beyond deliveryAnswerBytesMax', async () => {
  const [dripping, flooding] = [await server.tenant(), await server.tenant()];
  const drip = await startEndpoint((_one, response) => {
    response.writeHead(200);
    // Bytes that come again and again, of an answer that never ends.
    const timer = setInterval(() => response.write('x'), 50);
    response.on('close', () => clearInterval(timer));
  });
  let written = 0;
  const flood = await startEndpoint((_one, response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(65_536, 'x');
    const push = () => {
      while (!response.destroyed && written < 1e9) {
        written += chunk.length;
        if (!response.write(chunk)) return response.once('drain', push);
      }
      return undefined;
    };
    push();
  });
  await subscribe(dripping, drip.url);
  await subscribe(flooding, flood.url);
  worker({ requestMs: 2000 });
  await Promise.all([emit(dripping, ['a']), emit(flooding, ['a'])]);
  const attempted = (tenant: string) => until('an attempt', async () => (await attemptsOf(tenant))[0]);
  expect(await attempted(flooding)).toMatchObject({ status: 200 });
  expect(written).toBeLessThan(50e6);
  expect(written).toBeGreaterThan(limits.deliveryAnswerBytesMax);
  expect(await attempted(dripping)).toMatchObject({ status: 0 });
});

test('redirects, also to loopback, are not followed; a refused address and a closed port are told', async () => {
  const tenants = await Promise.all([server.tenant(), server.tenant(), server.tenant()]);
  const [redirected, refused, closed] = tenants as [string, string, string];
  const target = await startEndpoint();
  const endpoint = await startEndpoint((_one, response) => response.writeHead(302, { location: target.url }).end());
  await subscribe(redirected, endpoint.url);
  await subscribe(refused, 'http://10.1.2.3/hook');
  await subscribe(closed, 'http://127.0.0.1:9/hook');
  worker();
  await Promise.all(tenants.map((tenant) => emit(tenant, ['a'])));
  const errorOf = (tenant: string) => until('an attempt', async () => (await attemptsOf(tenant))[0]?.error);
  expect(await errorOf(redirected)).toBe('answered 302 (redirects are not followed)');
  expect(await errorOf(refused)).toContain('is not public');
  expect(await errorOf(closed)).toMatch(/ECONNREFUSED|bad port/);
  expect(target.received).toEqual([]);
});

test('410 disables the subscription, with an event; a change of it enables it again', async () => {
  const tenant = await server.tenant();
  const endpoint = await startEndpoint((_one, response) => response.writeHead(410).end());
  const id = await subscribe(tenant, endpoint.url);
  const delivering = worker();
  await emit(tenant, ['a', 'b']);
  await untilLane('410 to disable it', tenant, { disabled_reason: 'gone' });
  const told = () => admin(`select from accord.event where tenant = $1 and type = 'SUBSCRIPTION_DISABLED'`, [tenant]);
  await server.services.events.mover.move();
  await until('the event', async () => (await told()).length === 1);
  const before = endpoint.received.length;
  await emit(tenant, ['c']);
  await serveOthers(delivering);
  expect(endpoint.received).toHaveLength(before);
  endpoint.answer = (_one, response) => response.writeHead(200).end();
  await dueNow(tenant, id);
  await untilEvents(endpoint, 4);
});

test('a lane that somebody changed goes by that before its next event, although nobody told its server', async () => {
  const tenant = await server.tenant();
  const endpoint = await startEndpoint();
  const id = await subscribe(tenant, endpoint.url);
  const key = `${tenant}/${id}`;
  const delivering = worker();
  await emit(tenant, ['a']);
  await until('its attempt', async () => (await attemptsOf(tenant)).length > 0);
  settings.set(key, { ...(settings.get(key) as DeliverySettings), enabled: false });
  await reset(tenant, id);
  const before = endpoint.received.length; // two where the first answer was late
  await emit(tenant, ['b']);
  await serveOthers(delivering);
  expect(endpoint.received).toHaveLength(before);
  settings.set(key, { ...(settings.get(key) as DeliverySettings), enabled: true });
  await reset(tenant, id);
  await untilEvents(endpoint, 2);
});

test('Retry-After of a 429 is obeyed by the whole lane', async () => {
  const tenant = await server.tenant();
  let isBusy = true;
  const endpoint = await startEndpoint((_one, response) =>
    isBusy ? response.writeHead(429, { 'retry-after': '60' }).end() : response.writeHead(200).end(),
  );
  const id = await subscribe(tenant, endpoint.url);
  const delivering = worker();
  const began = Date.now();
  await emit(
    tenant,
    Array.from({ length: 40 }, (_, n) => `k${n}`),
  );
  const blocked = await until('the lane to be blocked', async () => (await laneOf(tenant))?.blocked_until);
  expect(blocked.getTime() - began).toBeGreaterThan(59_000);
  const sent = endpoint.received.length;
  expect(sent).toBeLessThanOrEqual(limits.deliveryConnectionsMax * 2);
  isBusy = false;
  await serveOthers(delivering);
  expect(endpoint.received).toHaveLength(sent);
  await dueNow(tenant, id);
  await untilOpen(tenant, 0);
  expect(new Set(endpoint.received.map((one) => one.id)).size).toBe(40);
});

test('after deliveryFailingMsMax of failure the subscription is disabled; one that is well again is told of', async () => {
  const [dead, ill] = [await server.tenant(), await server.tenant()];
  let isIll = true;
  const [never, later] = [
    await startEndpoint((_one, response) => response.writeHead(500).end()),
    await startEndpoint((_one, response) => response.writeHead(isIll ? 500 : 200).end()),
  ];
  await subscribe(dead, never.url);
  await subscribe(ill, later.url);
  worker();
  await Promise.all(
    [dead, ill].map((tenant) =>
      emit(
        tenant,
        Array.from({ length: 20 }, (_, n) => `k${n}`),
      ),
    ),
  );
  for (const tenant of [ill, dead]) await untilLane('the endpoint to be blocked', tenant, { trips: 1 });
  isIll = false;
  await admin(
    `update accord.event_lane set blocked_until = null, version = version + 1,
      failing_since = case when tenant = $1 then now() - make_interval(secs => $2) else failing_since end`,
    [dead, limits.deliveryFailingMsMax / 1000],
  );
  for (const tenant of [dead, ill]) await changed(tenant);
  const types = async (tenant: string) =>
    (
      await admin<{ type: string }>(`select type from accord.event where tenant = $1 and type like 'SUBSCRIPTION%'`, [
        tenant,
      ])
    ).map(({ type }) => type);
  await untilLane('failing to disable it', dead, { disabled_reason: 'failing' });
  await untilOpen(ill, 0);
  expect(new Set(later.received.map((one) => one.id)).size).toBeGreaterThanOrEqual(20);
  await server.services.events.mover.move();
  await untilPasses('both to be told', async () =>
    expect([await types(dead), await types(ill)]).toEqual([['SUBSCRIPTION_DISABLED'], ['SUBSCRIPTION_RECOVERED']]),
  );
});

test('two workers share the lanes, one is stopped in the middle: nothing is lost, and order is kept', async () => {
  const tenants = await Promise.all(Array.from({ length: 4 }, () => server.tenant()));
  const endpoints = await Promise.all(
    // Later, so that several requests are on their way when a worker stops.
    tenants.map(() => startEndpoint((_one, response) => void setTimeout(() => response.writeHead(204).end(), 2))),
  );
  await Promise.all(tenants.map((tenant, n) => subscribe(tenant, (endpoints[n] as TestEndpoint).url)));
  const first = worker();
  worker();
  for (let round = 0; round < 5; round++) {
    await Promise.all(
      tenants.map((tenant) =>
        emit(
          tenant,
          Array.from({ length: 60 }, (_, n) => `k${n % 9}`),
        ),
      ),
    );
    if (round === 2) await first.stop();
  }
  for (const endpoint of endpoints) {
    await untilEvents(endpoint, 300);
    expectOrdered(endpoint, 300);
  }
});

test('a worker that lost its lane writes nothing: the fence', async () => {
  const tenant = await server.tenant();
  const held = Promise.withResolvers<void>();
  const endpoint = await startEndpoint((_one, response) => void held.promise.then(() => response.writeHead(204).end()));
  await subscribe(tenant, endpoint.url);
  const { deliveries } = worker();
  await emit(tenant, ['a']);
  await untilReceived(endpoint, 1);
  const before = await laneOf(tenant);
  // Another server is the owner by now.
  await admin(
    `update accord.event_lane set owner = gen_random_uuid(), owned_until = now() + interval '1 h' where tenant = $1`,
    [tenant],
  );
  held.resolve();
  await until('the worker to give the lane up', () => deliveries.lanes.size === 0);
  expect([await attemptsOf(tenant), (await laneOf(tenant))?.cursor]).toEqual([[], before?.cursor]);
  // When that one dies too, the event is sent again, with the same id.
  await admin('update accord.event_lane set owned_until = now() where tenant = $1', [tenant]);
  deliveries.lanes.hint();
  await untilAttempts(tenant, 1);
  expect(endpoint.received.map(({ id }) => id)).toEqual([endpoint.received[0]?.id, endpoint.received[0]?.id]);
});

test('maxPerSecond is kept', async () => {
  const [tenant, endpoint] = [await server.tenant(), await startEndpoint()];
  await subscribe(tenant, endpoint.url, { maxPerSecond: 100 });
  worker();
  const began = performance.now();
  await emit(
    tenant,
    Array.from({ length: 60 }, (_, n) => `k${n}`),
  );
  await untilReceived(endpoint, 60);
  // Ten at once, and the others 10 ms apart.
  expect(performance.now() - began).toBeGreaterThan(490);
});

test('a worker that ends while requests wait for their turn records those that were sent', async () => {
  const [tenant, endpoint] = [await server.tenant(), await startEndpoint()];
  await subscribe(tenant, endpoint.url, { maxPerSecond: 2 });
  await emit(
    tenant,
    Array.from({ length: 20 }, (_, n) => `k${n}`),
  );
  // As after an outage: all of them are to be sent again.
  await admin(
    `insert into accord.delivery_open (tenant, subscription, sequence, at, attempts, step, next_at)
      select l.tenant, subscription, sequence, e.at, 1, 1, now() from accord.event_lane l join accord.event e using (tenant)
      where l.tenant = $1 and sequence > l.cursor`,
    [tenant],
  );
  await admin(
    'update accord.event_lane l set cursor = c.last from accord.event_counter c where c.tenant = l.tenant and l.tenant = $1',
    [tenant],
  );
  const first = worker();
  await until('the third request', () => endpoint.received.length > 2);
  const sent = endpoint.received.length;
  await first.stop();
  expect(endpoint.received.length).toBeLessThanOrEqual(sent + 1);
  expect(await attemptsOf(tenant)).toHaveLength(endpoint.received.length);
  worker();
  const before = endpoint.received.length;
  await until('two more requests', () => endpoint.received.length > before + 1);
  const ids = endpoint.received.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test('a worker that ends while one request hangs records the others of the step, and they are not sent again', async () => {
  const [tenant, endpoint] = [await server.tenant(), await startEndpoint()];
  endpoint.answer = ({ key }, response) => void (key !== 'hangs' && response.writeHead(204).end());
  await subscribe(tenant, endpoint.url);
  await emit(tenant, ['a', 'b', 'hangs', 'c', 'hangs', 'd']);
  const first = worker();
  await untilReceived(endpoint, 5);
  await first.stop();
  expect((await attemptsOf(tenant)).map(({ status }) => status)).toEqual([204, 204, 204, 204]);
  expect(await openOf(tenant)).toMatchObject([{ attempts: 0 }, { attempts: 0 }]);
  endpoint.answer = (_one, response) => void response.writeHead(204).end();
  endpoint.received.length = 0;
  worker();
  await untilOpen(tenant, 0);
  expect(endpoint.received.map(({ key }) => key)).toEqual(['hangs', 'hangs']);
});

test('an endpoint that allows few requests by its handshake has steps of few events', async () => {
  const [tenant, endpoint] = [await server.tenant(), await startEndpoint()];
  endpoint.options = (response) =>
    response.writeHead(200, { 'webhook-allowed-origin': '*', 'webhook-allowed-rate': '6' }).end();
  await subscribe(tenant, endpoint.url, { handshake: true });
  await emit(tenant, ['a', 'b', 'c']);
  worker();
  await untilReceived(endpoint, 1);
  await untilAttempts(tenant, 1);
  expect([endpoint.asked.length, endpoint.received.length]).toEqual([1, 1]);
});

test('a batch is one request of at most deliveryEventsMax events, in order', async () => {
  const [tenant, endpoint] = [await server.tenant(), await startEndpoint()];
  await subscribe(tenant, endpoint.url, { batch: true });
  await emit(
    tenant,
    Array.from({ length: limits.deliveryEventsMax + 1 }, (_, n) => `k${n % 3}`),
  );
  worker();
  await untilReceived(endpoint, 2);
  const sizes = endpoint.received.map(({ body }) => (JSON.parse(body) as unknown[]).length);
  expect(sizes).toEqual([limits.deliveryEventsMax, 1]);
});
