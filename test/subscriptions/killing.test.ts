/**
 * One of two workers is killed (kill -9) again and again while events are written and delivered: none is lost, those of a key come in
 * order, and what comes twice has the same id. ACCORD_KILLS=200 kills more often; the report says what came of it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { startLane } from '../../server/subscriptions/lanes/index.ts';
import { random } from '../facts/graphs.ts';
import { asAdmin } from '../helpers/admin.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { drawn } from '../helpers/long.ts';
import { nameOfRun } from '../helpers/run-scratch.ts';
import { seed } from '../helpers/seed.ts';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { type Received, startEndpoint } from './endpoint.ts';

const KILLS = Number(process.env.ACCORD_KILLS ?? drawn(4, 12));
const TENANTS = 6;
const KEYS = 23;
/** Events that were written and not delivered yet. While there are as many, no more are written. */
const WAITING_MAX = 500;
const below = random(seed);
const server = await createTestServer();
const own = {
  ...nameOfRun(),
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../node_modules/.cache/accord-compiled'),
};

class Worker {
  readonly #endpoint: string;
  #server = randomUUID();
  #child: ChildProcess | undefined;

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
    closeAtEnd(() => this.kill());
  }

  async start(): Promise<void> {
    this.#server = randomUUID();
    this.#child = fork(join(import.meta.dirname, 'worker-process.ts'), {
      env: { ...own, DATABASE_URL: server.db.url, ENDPOINT: this.#endpoint, SERVER: this.#server },
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    await once(this.#child, 'message');
  }

  /** Ends it at once, in the middle of whatever it does. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  /** Lets the time pass for which it owned its lanes. */
  async expire(): Promise<void> {
    const { adminUrl } = server.db;
    await asAdmin(adminUrl, 'update accord.event_lane set owned_until = now() where owner = $1', [this.#server]);
  }
}

/**
 * Writes events until it is stopped, some in transactions that are rolled back.
 * @param delivered how many there are by now
 * @returns how many of each tenant are committed
 */
async function write(
  tenants: readonly string[],
  stopping: AbortSignal,
  delivered: () => number,
): Promise<Map<string, number>> {
  let total = 0;
  const client = new pg.Client({ connectionString: server.db.adminUrl });
  await client.connect();
  const committed = new Map<string, number>();
  while (!stopping.aborted) {
    const tenant = tenants[below(tenants.length)] as string;
    const count = 1 + below(5);
    const isKept = below(10) > 0;
    await client.query('begin');
    for (let n = 0; n < count; n++)
      await client.query(
        `insert into accord.event_inbox (tenant, time, type, key, body) values ($1, now(), 'NOTE', $2, $3)`,
        [tenant, `car/${below(KEYS)}`, { requestor: 'client:x', isKept }],
      );
    await client.query(isKept ? 'commit' : 'rollback');
    if (!isKept) continue;
    committed.set(tenant, (committed.get(tenant) ?? 0) + count);
    total += count;
    await until('deliveries', () => stopping.aborted || total - delivered() < WAITING_MAX);
  }
  await client.end();
  return committed;
}

/** What the endpoint took, by tenant: the first receipt of each id. */
function taken(received: readonly Received[]): Map<string, Received[]> {
  const seen = new Set<string>();
  const by = new Map<string, Received[]>();
  for (const one of received) {
    if (seen.has(one.id)) continue;
    seen.add(one.id);
    const tenant = one.path.split('/').at(-1) ?? '';
    const events = by.get(tenant);
    if (events === undefined) by.set(tenant, [one]);
    else events.push(one);
  }
  return by;
}

/** What the database says of a tenant of whose events some did not arrive. */
async function stateOf(tenant: string, committed: number, events: readonly Received[]): Promise<string> {
  const got = new Set(events.map(({ sequence }) => sequence));
  const [row] = await asAdmin<Record<string, unknown>>(
    server.db.adminUrl,
    `select (select count(*)::int from accord.event_inbox where tenant = l.tenant) as inbox, c.last::int, l.cursor::int, l.owner, l.failures,
        l.trips, l.blocked_until, l.disabled_reason,
        (select array_agg(sequence::int order by sequence) from accord.delivery_open o where o.tenant = l.tenant) as open
      from accord.event_lane l join accord.event_counter c using (tenant) where l.tenant = '${tenant}'`,
  );
  const last = Number(row?.last);
  const absent = Array.from({ length: last }, (_, n) => n + 1).filter((number) => !got.has(number));
  return JSON.stringify({ committed, received: got.size, absent: absent.slice(0, 50), ...row });
}

test(`${KILLS} times kill -9 of one of two workers under load: no event is lost, keys are in order, what comes twice has its id`, async () => {
  const accepted: Received[] = [];
  const refused = new Set<string>();
  let requests = 0;
  const endpoint = await startEndpoint((one, response) => {
    // Some fail once: they and what is behind them in their key are tried again, after the seconds of the schedule's first step.
    const isRefused = requests++ % 97 === 0 && !refused.has(one.id);
    if (isRefused) refused.add(one.id);
    if (!isRefused) accepted.push(one);
    // Later, so that several requests are on their way when a worker is killed.
    setTimeout(() => response.writeHead(isRefused ? 503 : 204).end(), 2);
  });
  const tenants = await Promise.all(Array.from({ length: TENANTS }, () => server.tenant()));
  const { database } = server.services;
  for (const tenant of tenants) await database.tenant(tenant, (tx) => startLane(tx, tenant, 'hooks'));
  const workers = [new Worker(endpoint.url), new Worker(endpoint.url)] as const;
  await Promise.all(workers.map((one) => one.start()));
  const stopping = new AbortController();
  const writing = write(tenants, stopping.signal, () => new Set(accepted.map(({ id }) => id)).size);
  for (let kill = 0; kill < KILLS; kill++) {
    const [victim, next] = [workers[below(2) as 0 | 1], accepted.length + 20 + below(200)];
    await until('deliveries', () => accepted.length >= next);
    await victim.kill();
    await victim.expire();
    await victim.start();
  }
  stopping.abort();
  const committed = await writing;
  const total = [...committed.values()].reduce((a, b) => a + b, 0);
  expect(total).toBeGreaterThan(KILLS * 10);
  const missing = () => {
    const by = taken(accepted);
    return [...committed].filter(([tenant, count]) => by.get(tenant)?.length !== count);
  };
  await until('all events', () => missing().length === 0).catch(async (error) => {
    const by = taken(accepted);
    for (const [tenant, count] of missing())
      throw new Error(`${tenant}: ${await stateOf(tenant, count, by.get(tenant) ?? [])}`, { cause: error });
  });
  const numberOf = new Map(accepted.map(({ id, sequence }) => [id, sequence]));
  for (const { id, sequence } of accepted) expect(sequence).toBe(numberOf.get(id));
  for (const [tenant, events] of taken(accepted)) {
    // Its numbers have no gaps, and what was rolled back has none.
    const numbers = events.map(({ sequence }) => sequence).sort((a, b) => a - b);
    expect(numbers, tenant).toEqual(numbers.map((_, n) => (numbers[0] as number) + n));
    const last = new Map<string, number>();
    for (const { key, sequence } of events) {
      expect(last.get(key) ?? 0, `${tenant} ${key}`).toBeLessThan(sequence);
      last.set(key, sequence);
    }
  }
  if (process.env.ACCORD_KILLS_REPORT === undefined) return;
  const what = `${KILLS} kills: ${total} events committed, 0 lost, ${accepted.length - total} received again`;
  await appendFile(process.env.ACCORD_KILLS_REPORT, `${what}\n`);
});
