/** Endpoints, networks and clocks that do not do what they should: bounded, told with its cause, and nothing is lost. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { systemClock } from '../../server/core/clock.ts';
import { limits } from '../../server/core/limits.ts';
import type { DeliverySettings } from '../../server/subscriptions/lanes/index.ts';
import { selfSigned } from '../core/auth/certificate.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { until, untilPasses } from '../helpers/wait.ts';
import { startEndpoint, untilReceived } from './endpoint.ts';
import { createLanesTest } from './lanes.ts';

const { server, worker, subscribe, emit, admin, changed } = await createLanesTest();
const attemptsOf = (tenant: string) =>
  admin<{ status: number; error: string | null; ms: number }>(
    'select * from accord.delivery_attempt where tenant = $1 order by at, number',
    [tenant],
  );
type LaneRow = { cursor: string; disabled_at: Date | null; failing_since: Date | null; blocked_until: Date | null };
const laneOf = async (tenant: string) =>
  (await admin<LaneRow>('select * from accord.event_lane where tenant = $1', [tenant]))[0] as LaneRow;
const openOf = (tenant: string) =>
  admin<{ sequence: string; next_at: Date }>('select * from accord.delivery_open where tenant = $1 order by sequence', [
    tenant,
  ]);
async function dueNow(tenant: string) {
  await admin(
    `with l as (update accord.event_lane set version = version + 1, blocked_until = null where tenant = $1)
      update accord.delivery_open set next_at = now() where tenant = $1`,
    [tenant],
  );
  await changed(tenant);
}
const untilAttempted = (tenant: string) => until('an attempt', async () => (await attemptsOf(tenant))[0]);
const untilOpen = (tenant: string, count: number) =>
  untilPasses(`${count} events that are open`, async () => expect(await openOf(tenant)).toHaveLength(count));

test('an endpoint with a wrong certificate gets nothing, and the attempt says why', async () => {
  let requests = 0;
  const https = createServer(selfSigned('hooks.test'), (_request, response) => {
    requests++;
    response.end();
  });
  https.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => https.listen(0, '127.0.0.1', resolve));
  closeAtEnd(() => https.close());
  const tenant = await server.tenant();
  await subscribe(tenant, `https://127.0.0.1:${(https.address() as AddressInfo).port}/hook`);
  worker();
  await emit(tenant, ['a']);
  expect(await untilAttempted(tenant)).toMatchObject({ status: 0, error: expect.stringMatching(/certificate/) });
  expect(requests).toBe(0);
});

test('who acknowledges late gets the event again, with the same id and in its order', async () => {
  const tenant = await server.tenant();
  const givenUp = Promise.withResolvers<void>();
  const endpoint = await startEndpoint(async (_one, response) => {
    await givenUp.promise;
    response.writeHead(200).end();
  });
  await subscribe(tenant, endpoint.url);
  worker({ requestMs: 2000 });
  await emit(tenant, ['a', 'a']);
  expect((await untilAttempted(tenant)).status).toBe(0);
  givenUp.resolve();
  await dueNow(tenant);
  await untilReceived(endpoint, 3);
  const [late, again, next] = endpoint.received.map(({ id }) => id);
  expect([again === late, next === late]).toEqual([true, false]);
  await untilOpen(tenant, 0);
});

test('a step that cannot be recorded is sent again: what failed in it is not lost', async () => {
  const tenant = await server.tenant();
  let isDown = false;
  // Once, while a step is under way: two at the same time would be refused by Postgres (tuple concurrently updated).
  let revoked: Promise<unknown> | undefined;
  const endpoint = await startEndpoint(async ({ key }, response) => {
    const status = isDown && key === 'bad' ? 500 : 204;
    if (isDown) {
      revoked ??= admin('revoke insert on accord.delivery_attempt from accord_app');
      await revoked;
    }
    response.writeHead(status).end();
  });
  await subscribe(tenant, endpoint.url);
  worker();
  await emit(tenant, ['a']);
  await untilAttempted(tenant);
  isDown = true;
  await emit(tenant, ['bad', 'good']);
  await until('the step', () => endpoint.received.length >= 3);
  await until('recording it to fail', () => server.observations.some(({ kind }) => kind === 'background_failed'));
  isDown = false;
  await admin('grant insert on accord.delivery_attempt to accord_app');
  await emit(tenant, ['b']);
  await untilPasses('four deliveries', async () => {
    const delivered = (await attemptsOf(tenant)).filter(({ status }) => status === 204);
    expect(delivered).toHaveLength(4);
  });
  const ids = endpoint.received.filter(({ key }) => key === 'bad').map(({ id }) => id);
  expect(ids.length).toBeGreaterThanOrEqual(2);
  expect(new Set(ids).size).toBe(1);
});

test('a day of attempts that has no partition is made when it is needed', async () => {
  const [tenant, endpoint] = [await server.tenant(), await startEndpoint()];
  await subscribe(tenant, endpoint.url);
  const [{ day }] = (await admin<{ day: string }>(
    `select 'accord.delivery_attempt_' || to_char(now() at time zone 'UTC', 'YYYY_MM_DD') as day`,
  )) as [{ day: string }];
  await admin(`drop table ${day}`);
  worker();
  await emit(tenant, ['a']);
  await untilAttempted(tenant);
  expect(endpoint.received).toHaveLength(1);
});

test('a clock that jumps ahead disables no endpoint, and nothing waits longer than a day when it is set right', async () => {
  const tenant = await server.tenant();
  let [isIll, ahead] = [true, 0];
  const endpoint = await startEndpoint((_one, response) => response.writeHead(isIll ? 500 : 204).end());
  await subscribe(tenant, endpoint.url);
  const began = Date.now();
  worker({ clock: { now: () => systemClock.now() + ahead, monotonic: () => systemClock.monotonic() } });
  await emit(tenant, ['a']);
  await untilOpen(tenant, 1);
  ahead = limits.deliveryFailingMsMax * 2;
  await dueNow(tenant);
  await untilReceived(endpoint, 2);
  await emit(
    tenant,
    Array.from({ length: limits.deliveryFailuresMax }, (_, n) => `k${n}`),
  );
  await until('the lane to be blocked', async () => (await laneOf(tenant)).blocked_until);
  const { disabled_at, failing_since, blocked_until } = await laneOf(tenant);
  expect(disabled_at).toBeNull();
  // By the database's clock, which is this machine's, and not by the one that is ahead.
  expect(failing_since?.getTime()).toBeGreaterThan(began - 1000);
  expect(failing_since?.getTime()).toBeLessThan(Date.now() + 1000);
  expect((blocked_until?.getTime() ?? 0) - Date.now()).toBeLessThanOrEqual(limits.deliveryFailingMsMax + 1000);
  const open = await openOf(tenant);
  expect(open.length).toBeGreaterThan(limits.deliveryFailuresMax / 2);
  for (const { next_at } of open) expect(next_at.getTime() - Date.now()).toBeLessThanOrEqual(86_400_000 + 1000);
  [isIll, ahead] = [false, 0];
  await dueNow(tenant);
  await untilOpen(tenant, 0);
  const ids = endpoint.received.filter(({ key }) => !key.startsWith('x/')).map(({ id }) => id);
  expect(new Set(ids).size).toBe(limits.deliveryFailuresMax + 1);
});

test.each<[DeliverySettings['auth'], string]>([
  [{ type: 'bearer', token: 'abc' }, 'Bearer abc'],
  [{ type: 'basic', username: 'ann', password: 'b:c' }, `Basic ${Buffer.from('ann:b:c').toString('base64')}`],
])('requests are authorized as the subscription says: %j', async (auth, authorization) => {
  const [tenant, endpoint] = [await server.tenant(), await startEndpoint()];
  await subscribe(tenant, endpoint.url, { auth });
  worker();
  await emit(tenant, ['a']);
  await untilReceived(endpoint, 1);
  expect(endpoint.received[0]?.headers.authorization).toBe(authorization);
});

test.each([
  ['https://10.1.2.3/token', 'is not public'],
  ['https://[64:ff9b::a01:203]/token', 'is not public'],
  ['http://93.184.215.14/token', 'must be https'],
])('a token is asked for through the guard: %s', async (tokenUrl, why) => {
  const [tenant, endpoint] = [await server.tenant(), await startEndpoint()];
  await subscribe(tenant, endpoint.url, { auth: { type: 'oauth2', tokenUrl, clientId: 'c', clientSecret: 's' } });
  worker();
  await emit(tenant, ['a']);
  expect((await untilAttempted(tenant)).error).toContain(why);
  expect(endpoint.received).toEqual([]);
});
