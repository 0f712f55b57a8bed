/** Connections of which Postgres owes an answer and is silent: a real Postgres behind a proxy that stops passing anything on. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { Type } from 'typebox';
import { afterAll, expect, test, vi } from 'vitest';
import { Hosts } from '../../server/core/db/hosts.ts';
import { QueryWatchdog } from '../../server/core/db/query-watchdog.ts';
import { sql } from '../../server/core/db/sql.ts';
import { Suspects } from '../../server/core/db/suspects.ts';
import { type Connections, interactive, pipelined } from '../../server/core/db/transaction.ts';
import { problemOf } from '../../server/http/errors.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { until } from '../helpers/wait.ts';

const { url } = await createTestDatabase();
// The watchdog's time is moved by the tests: how long Postgres takes on this machine is no part of them.
vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
const { host, port, user, database, password } = new pg.Client({ connectionString: url });
const upstream = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
const sockets: Socket[] = [];
const proxy = createServer((client) => {
  const server = connect(upstream as { path: string });
  sockets.push(client, server);
  client.pipe(server).pipe(client);
  for (const one of [client, server]) one.on('error', () => {});
});
await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
const pool = new pg.Pool({
  host: '127.0.0.1',
  port: (proxy.address() as AddressInfo).port,
  ...{ user, database, password },
  max: 2,
  pipeline: true,
} as pg.PoolConfig);
pool.on('error', () => {});
const LIMIT_MS = 400;
const suspects = new Suspects();
const hosts = new Hosts(url);
const connections: Connections = { pool, watchdog: new QueryWatchdog(LIMIT_MS), hosts, suspects, togetherMs: LIMIT_MS };
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  proxy.close();
  connections.watchdog.close();
  await pool.end();
  vi.useRealTimers();
});

/** Nothing passes any more, and nobody is told. */
function fallSilent() {
  for (const socket of sockets.splice(0)) socket.unpipe();
}

const One = Type.Object({ one: Type.Integer() });
const settings = sql`1 as one`;
const read = () => pipelined(connections, settings, (tx) => tx.many(One, sql`select 1 as one`));
const write = () =>
  interactive(
    connections,
    () => 'begin',
    (tx) => tx.many(One, sql`select 1 as one`),
  );
const asleep = sql`select pg_sleep(0.05)`;
const silent = `Postgres did not answer for ${LIMIT_MS} ms`;

test('what waits is told after the limit, and the next connection is a new one', async () => {
  expect(await Promise.all([read(), write()])).toEqual([[{ one: 1 }], [{ one: 1 }]]);
  fallSilent();
  let isOver = false;
  const asked = Promise.allSettled([read(), write()]).finally(() => {
    isOver = true;
  });
  await until('the limit', () => {
    vi.advanceTimersByTime(LIMIT_MS / 4);
    return isOver;
  });
  const answers = await asked;
  const reasons = answers.map((one) => (one as PromiseRejectedResult).reason);
  expect(reasons.map((reason) => reason?.message)).toEqual([silent, silent]);
  // Callers are told to come back, and not that the service is broken.
  expect(reasons.map((reason) => problemOf(reason))).toMatchObject([
    { status: 503, code: 'not_ready' },
    { status: 503, code: 'not_ready' },
  ]);
  expect(await Promise.all([read(), write()])).toEqual([[{ one: 1 }], [{ one: 1 }]]);
});

test('a transaction may take longer than the limit while Postgres answers, and while it is owed nothing', async () => {
  const rows = await interactive(
    connections,
    () => 'begin',
    async (tx) => {
      for (let n = 0; n < 4; n++) {
        const answer = tx.run(asleep);
        vi.advanceTimersByTime(LIMIT_MS / 2);
        await answer;
      }
      vi.advanceTimersByTime(2 * LIMIT_MS);
      return tx.many(One, sql`select 1 as one`);
    },
  );
  expect(rows).toEqual([{ one: 1 }]);
});

test('statements sent together have the limit each', async () => {
  const work = () =>
    interactive(
      connections,
      () => 'begin',
      (tx) =>
        Promise.all(
          Array.from({ length: 4 }, async () => {
            const count = await tx.run(asleep);
            vi.advanceTimersByTime(LIMIT_MS / 2);
            return count;
          }),
        ),
    );
  expect(await work()).toEqual([1, 1, 1, 1]);
});

test('statements of one round trip have their time together: Postgres ends them, and nobody gets their connection', async () => {
  const single = new pg.Pool({ connectionString: url, max: 1, pipeline: true } as pg.PoolConfig);
  single.on('error', () => {});
  const watchdog = new QueryWatchdog(60_000);
  const sleeps = (count: number, seconds: number) =>
    pipelined({ pool: single, watchdog, hosts, suspects, togetherMs: 200 }, settings, (tx) =>
      Promise.all(Array.from({ length: count }, () => tx.run(sql`select pg_sleep(${seconds})`))),
    );
  const [several, one] = await Promise.allSettled([sleeps(4, 0.1), sleeps(1, 0.4)]);
  expect(several).toMatchObject({ status: 'rejected', reason: { code: '25P04' } });
  expect(one).toEqual({ status: 'fulfilled', value: [1] });
  await single.end();
  watchdog.close();
});

test('an error of Postgres tells who asked', async () => {
  const failing = interactive(
    connections,
    () => 'begin',
    (tx) => tx.run(sql`select 1 / 0`),
  );
  const error = await failing.catch((failed: Error) => failed);
  expect((error as Error).message).toBe('division by zero');
  expect((error as Error).stack).toContain('transaction.ts');
});
