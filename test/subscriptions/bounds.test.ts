/** Bounds of deliveries, and what needs no endpoint. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { waitingLanes } from '../../server/core/db/lanes.ts';
import { limits } from '../../server/core/limits.ts';
import { createOutbound } from '../../server/core/outbound/outbound.ts';
import { eventLanes } from '../../server/subscriptions/lane-store.ts';
import { erasingDeliveries } from '../../server/subscriptions/lanes/erasing.ts';
import { excerptOf } from '../../server/subscriptions/lanes/excerpts.ts';
import { healthAfter, ONCE, settle } from '../../server/subscriptions/lanes/step.ts';
import { EndpointToken } from '../../server/subscriptions/lanes/token.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { startEndpoint, untilReceived } from './endpoint.ts';
import { createLanesTest } from './lanes.ts';

const { server, worker, subscribe, emit, admin, changed, serveOthers } = await createLanesTest();

test('an excerpt has at most deliveryExcerptCharsMax characters, and no addresses', () => {
  const max = limits.deliveryExcerptCharsMax;
  expect([excerptOf('x'.repeat(max)), excerptOf('x'.repeat(max + 1))].map(({ length }) => length)).toEqual([max, max]);
  expect(excerptOf('{"to":"ann@mail.test","phone":"+31 6 1234 5678","n":12345678901}')).toBe(
    '{"to":"***","phone":"***","n":12345678901}',
  );
});

test('an endpoint that fails is blocked for twice as long each time, at most deliveryBlockedMsMax', () => {
  const now = Date.parse('2026-11-23T00:00:00Z');
  const failed = { ok: false, status: 500, ms: 1 };
  const blockedMs = (trips: number) => {
    const before = { failing_since: null, failures: limits.deliveryFailuresMax, trips, blocked_until: null };
    return Date.parse(String(healthAfter(before, [failed], now, 0.999_999).blocked_until)) - now;
  };
  const about = [limits.deliveryBlockedMsMin, limits.deliveryBlockedMsMin * 2, limits.deliveryBlockedMsMax];
  for (const [i, trips] of [0, 1, 50].entries())
    expect(Math.abs(blockedMs(trips) - (about[i] as number))).toBeLessThan(10);
  const few = { failing_since: null, failures: limits.deliveryFailuresMax - 2, trips: 0, blocked_until: null };
  expect(healthAfter(few, [failed], now)).toMatchObject({ trips: 0, blocked_until: null });
});

test('an attempt before its time takes nothing of the schedule', () => {
  const now = Date.parse('2026-11-23T00:00:00Z');
  const [at, next_at] = ['2026-11-22T00:00:00.000Z', '2026-11-24T00:00:00.000Z'];
  const event = { sequence: 1, at, time: at, id: 'e', type: 'NOTE', key: 'a', body: {} };
  const results = [{ event, attempt: { ok: false, status: 500, ms: 1 } }];
  const open = { sequence: 1, at, key: 'a', attempts: 3, step: 2, next_at };
  const settled = settle([open], results, { numberOfRetries: 2, now });
  expect(settled.opens).toEqual([{ ...open, attempts: 4 }]);
  const due = settle([{ ...open, next_at: at }], results, { numberOfRetries: 2, now });
  expect([due.done, due.opens]).toEqual([[1], []]);
});

test('what was not tried stays open, also a retry by hand and one that has no retries left', () => {
  const now = Date.parse('2026-11-23T00:00:00Z');
  const at = '2026-11-22T00:00:00.000Z';
  const eventOf = (sequence: number) => ({ sequence, at, time: at, id: 'e', type: 'NOTE', key: 'a', body: {} });
  const openOf = (sequence: number, step: number) => ({ sequence, at, key: 'a', attempts: 1, step, next_at: at });
  const opens = [openOf(10, ONCE), openOf(11, ONCE), openOf(12, 3)];
  const failed = { ok: false, status: 500, ms: 1 };
  const results = [{ event: eventOf(10), attempt: failed }, { event: eventOf(11) }, { event: eventOf(12) }];
  const settled = settle(opens, results, { numberOfRetries: 2, now });
  expect([settled.done, settled.opens]).toEqual([[10], opens.slice(1)]);
});

test('while deliveryOpenMax events wait, no more are read', async () => {
  const [tenant, endpoint] = [await server.tenant(), await startEndpoint()];
  await subscribe(tenant, endpoint.url);
  await emit(tenant, ['a']);
  const fill = (count: number) =>
    admin(
      `insert into accord.delivery_open (tenant, subscription, sequence, at, attempts, step, next_at)
        select tenant, subscription, 1000000 + n, now(), 1, 1, now() + interval '1 h' from accord.event_lane, generate_series(1, $2::int) n where tenant = $1`,
      [tenant, count],
    );
  await fill(limits.deliveryOpenMax);
  await serveOthers(worker());
  expect(endpoint.received).toEqual([]);
  await admin('delete from accord.delivery_open where tenant = $1 and sequence = 1000001', [tenant]);
  await admin('update accord.event_lane set version = version + 1 where tenant = $1', [tenant]);
  await changed(tenant);
  await untilReceived(endpoint, 1);
});

test('a paused subscription with events behind its cursor is not taken', async () => {
  const tenant = await server.tenant();
  const id = await subscribe(tenant, 'http://127.0.0.1:9/hook');
  await admin(
    `insert into accord.event_subscription (tenant, id, spec, secrets, revision, owner, updated_by)
      values ($1, $2, '{"paused": true}', '', 1, '{"source": "api"}', 'test')`,
    [tenant, id],
  );
  await emit(tenant, ['a']);
  const waiting = () => server.services.database.systemPipelined((tx) => waitingLanes(tx, eventLanes, 10));
  expect(await waiting()).toBe(0);
  await admin(`update accord.event_subscription set spec = '{"paused": false}' where tenant = $1`, [tenant]);
  expect(await waiting()).toBe(1);
});

test('days of attempts are dropped after deliveryDaysKept', async () => {
  const days = () =>
    admin<{ day: string }>(
      `select inhrelid::regclass::text as day from pg_inherits where inhparent = 'accord.delivery_attempt'::regclass`,
    );
  const make = (ago: number) =>
    admin(`do $$ declare day date := (now() at time zone 'UTC')::date - ${ago}; begin
      execute format('create table accord.%I partition of accord.delivery_attempt for values from (%L) to (%L)',
        'delivery_attempt_' || to_char(day, 'YYYY_MM_DD'), day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC'); end $$`);
  const before = (await days()).length;
  await make(limits.deliveryDaysKept);
  await make(limits.deliveryDaysKept + 1);
  const { deliveries } = worker();
  await deliveries.tasks[1]?.run(new AbortController().signal);
  expect((await days()).length).toBe(before + 1);
});

test('answers that name a person are erased in portions of eraseScanItemsMax', async () => {
  const tenant = await server.tenant();
  const most = limits.eraseScanItemsMax;
  // Two of one millisecond at the end of the first portion, one behind them, and one that said nothing.
  await admin(
    `insert into accord.delivery_attempt (tenant, subscription, sequence, number, at, ms, status, kind, error, answer)
      select $1, 's', n, 1, date_trunc('day', now()) + interval '1 ms' * least(n, $2::int), 1, 500, 'l', 'answered 500',
        case when n >= $2::int then 'no user Ann-7' else 'no' end from generate_series(1, $2::int + 1) n
      union all select $1, 's', 9999, 1, date_trunc('day', now()) + interval '1 min', 1, 500, 'l', 'ann-7 is gone', null
      union all select $1, 's', 9998, 1, date_trunc('day', now()) + interval '1 min', 1, 200, 'l', null, null`,
    [tenant, most],
  );
  const person = {
    tenant,
    type: 'user',
    id: 'ann-7',
    isUser: true,
    contacts: ['ann@x.example'],
    replacement: 'erased:1',
  };
  const portions: (number | undefined)[] = [];
  let position: string | undefined;
  do {
    const { removed, next } = await server.services.database.tenant(tenant, (tx) =>
      erasingDeliveries.eraseSome(tx, person, position),
    );
    portions.push(removed.deliveryAnswers);
    position = next;
  } while (position !== undefined);
  expect(portions).toEqual([2, 1]);
  const left = await admin<{ n: number; named: number }>(
    `select count(*) filter (where error is not null)::int as n,
      count(*) filter (where concat(answer, error) ilike '%ann-7%')::int as named from accord.delivery_attempt where tenant = $1`,
    [tenant],
  );
  expect(left).toEqual([{ n: most - 1, named: 0 }]);
});

test('a token of an authorization server is kept until it is about to expire, at most endpointTokenMsMax', async () => {
  let asked = 0;
  const issuer = createServer((request, response) => {
    asked++;
    expect(request.headers.authorization).toBe(`Basic ${Buffer.from('c%3A1:s+1').toString('base64')}`);
    request.resume();
    response.end(JSON.stringify({ access_token: `t${asked}`, token_type: 'Bearer', expires_in: 10_000_000 }));
  });
  await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve));
  closeAtEnd(() => issuer.close());
  let now = 0;
  const clock = { now: () => Date.now(), monotonic: () => now };
  const token = new EndpointToken(
    { outbound: createOutbound({ allow: '127.0.0.1', ownListeners: () => [] }), clock },
    't',
  );
  const tokenUrl = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/token`;
  const auth = { type: 'oauth2', tokenUrl, clientId: 'c:1', clientSecret: 's 1' } as const;
  const both = await Promise.all([token.headerOf(auth), token.headerOf(auth)]);
  expect(both).toEqual([{ authorization: 'Bearer t1' }, { authorization: 'Bearer t1' }]);
  now = limits.endpointTokenMsMax - 30_001;
  expect(await token.headerOf(auth)).toEqual({ authorization: 'Bearer t1' });
  now = limits.endpointTokenMsMax - 29_999;
  expect(await token.headerOf(auth)).toEqual({ authorization: 'Bearer t2' });
  token.drop();
  expect(await token.headerOf(auth)).toEqual({ authorization: 'Bearer t3' });
});
