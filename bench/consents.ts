/**
 * Measures consents over HTTP on a Postgres that syncs: reading what is active and outstanding and registering, each with
 * its ledger entry durable before the answer, our server on one core. Registering is measured for new users; a batch has 50
 * items of one request. Latency is measured at half of our capacity when the ledger has sealed what full load left behind,
 * while what is appended meanwhile is sealed; a few bare durable inserts, one at a time, stand between any two rounds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { putDefinition, putDocument, putVersion } from '../server/definitions/actions.ts';
import { mintClientToken } from '../server/keys/index.ts';
import { createInstallation, pinToCore1, startProcess, writer } from './installation.ts';
import { closedLoop, openConnections, openLoop, prepare, type Request } from './load.ts';
import { median, noise, percentile, table, target } from './report.ts';

const USERS = Number(process.argv[2] ?? 100_000);
const ROUNDS = Number(process.argv[3] ?? 5);
const MS = 2000;
/** Of the open loop: as in authz.ts, short and many. */
const OPEN_ROUNDS = ROUNDS * 4;
const OPEN_MS = 600;
const BARE_INSERTS = 30;
const CONNECTIONS = 64;
const CALLERS = 50;

pinToCore1();
const installation = await createInstallation({ durable: true });
const { services } = installation;
await installation.tenant('bench');
const names = ['terms', 'news', 'sharing'];
for (const name of names) {
  await putDefinition(services.definitions, writer, 'bench', name, {});
  await putVersion(services.definitions, writer, 'bench', { name, version: '1' }, {});
  const key = { name, version: '1', language: 'en', document: 'a' };
  const effectiveDate = new Date(Date.now() + 1500).toISOString();
  await putDocument(services.definitions, writer, 'bench', key, { effectiveDate });
}
await services.snapshots.refresh('bench');
const admin = new pg.Client({ connectionString: installation.adminUrl });
await admin.connect();
await admin.query(`insert into accord.user_consent (tenant, user_id, definition, version, document, language, given_at)
  select 'bench', 'user|' || n, d, '1', 'a', 'en', now() from generate_series(1, ${USERS}) n, unnest(array['terms', 'news']) d`);
await admin.query('vacuum analyze accord.user_consent');

const userOf = (n: number) => `user|${1 + ((n * 7919) % USERS)}`;
const tokens = await Promise.all(
  Array.from({ length: CALLERS }, (_, i) =>
    mintClientToken(services.keys, 'bench', { clientId: `backend-${i}`, scopes: ['consents:read', 'consents:write'] }),
  ),
);
const tokenOf = (n: number) => (tokens[n % CALLERS] as { token: string }).token;
const requests = (count: number, make: (n: number) => Request) => Array.from({ length: count }, (_, n) => make(n));
let registered = 0;
const item = (userId: string) => ({ userId, name: 'terms', version: '1', document: { version: 'a', language: 'en' } });
const newItem = () => item(`new|${registered++}`);
const kinds = {
  active: () =>
    requests(20_000, (n) =>
      prepare(
        `/bench/consents/active?name=terms&language=en&userId=${encodeURIComponent(userOf(n))}`,
        tokenOf(n),
        undefined,
        'GET',
      ),
    ),
  outstanding: () =>
    requests(20_000, (n) =>
      prepare(
        `/bench/consents/outstanding?language=en&userId=${encodeURIComponent(userOf(n))}`,
        tokenOf(n),
        undefined,
        'GET',
      ),
    ),
  register: () => requests(20_000, (n) => prepare('/bench/consents', tokenOf(n), newItem())),
  batch: () => requests(200, (n) => prepare('/bench/consents', tokenOf(n), Array.from({ length: 50 }, newItem))),
};

const server = await startProcess('accord', installation.environment, 0);
const connections = await openConnections(server.port, CONNECTIONS);
for (const kind of ['active', 'outstanding', 'register'] as const) await closedLoop(connections, kinds[kind](), 3000);
await server.rest();

type Measured = { rps: number[]; cpuUs: number[] };
const measured = {} as Record<keyof typeof kinds, Measured>;
for (const kind of ['active', 'outstanding', 'register'] as const) {
  measured[kind] = { rps: [], cpuUs: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const before = await server.usage();
    const { answered, failed, seconds } = await closedLoop(connections, kinds[kind](), MS);
    const after = await server.usage();
    if (failed > 0) throw new Error(`${failed} of ${kind} failed`);
    measured[kind].rps.push(answered / seconds);
    measured[kind].cpuUs.push((after.cpuUs - before.cpuUs) / answered);
  }
}
/** Until the ledger waits for no more than the entries of its own pause. */
async function sealed(): Promise<void> {
  while ((await waiting()) >= half) await sleep(250);
}
async function waiting(): Promise<number> {
  const { rows } = await admin.query('select count(*)::int as waiting from accord.ledger_inbox');
  return rows[0].waiting;
}
async function bareInserts(): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < BARE_INSERTS; i++) {
    const started = performance.now();
    await admin.query('insert into bare values ($1, $2)', [i, 'x'.repeat(300)]);
    times.push(performance.now() - started);
  }
  return times;
}

const half = median(measured.active.rps) / 2;
await admin.query('create table bare (n bigint, text text)');
const asked = kinds.active();
type Opened = { rounds: Float64Array[]; bare: number[][]; unsealed: number };
/** Rounds at a rate, in turns with bare inserts, and how many entries waited at their end. */
async function opened(rate: number): Promise<Opened> {
  await sealed();
  const [rounds, bare]: [Float64Array[], number[][]] = [[], []];
  for (let round = -1; round < OPEN_ROUNDS; round++) {
    const its = asked.slice(((round + 1) * asked.length) / (OPEN_ROUNDS + 1));
    const { latenciesMs, failed } = await openLoop(connections, its, rate, OPEN_MS, true);
    if (failed > 0) throw new Error(`${failed} at ${rate}/s failed`);
    const inserts = await bareInserts();
    if (round < 0) continue; // what this one appended is sealed in the next
    rounds.push(latenciesMs);
    bare.push(inserts);
  }
  return { rounds, bare, unsealed: await waiting() };
}
const open = await opened(half);
const open1000 = await opened(1000);
const batches: number[] = [];
const [one] = connections;
for (const request of kinds.batch().slice(0, 50)) {
  const started = performance.now();
  if ((await one?.ask(request))?.status !== 200) throw new Error('a batch failed');
  batches.push(performance.now() - started);
}
await server.stop();
await admin.end();
await installation.close();

const rate = (kind: keyof typeof kinds) => percentile(measured[kind].rps, 0.5);
const row = (kind: 'active' | 'outstanding' | 'register') => [
  kind,
  Math.round(rate(kind)),
  Math.round(percentile(measured[kind].cpuUs, 0.5)),
  noise(measured[kind].rps),
];
table([`${USERS} users`, 'a second', 'CPU us', 'noise'], (['active', 'outstanding', 'register'] as const).map(row));
const bare = median(open.bare.map(median));
const bareP99 = percentile(open.bare.flat(), 0.99);
const p99sOf = ({ rounds }: Opened) => rounds.map((round) => percentile(round, 0.99));
const p99 = median(p99sOf(open));
console.log(
  `bare durable insert ${bare.toFixed(2)} ms (p99 ${bareP99.toFixed(2)}); active at ${half.toFixed(0)}/s: ` +
    `p50 ${median(open.rounds.map(median)).toFixed(2)} ms, ${open.unsealed} entries not sealed at the end`,
);
for (const kind of ['active', 'outstanding'] as const)
  target(`${kind}, a second`, '>= 2000', rate(kind).toFixed(0), rate(kind) >= 2000);
target('register, a second', '>= 1000', rate('register').toFixed(0), rate('register') >= 1000);
target('p99 at half load, ms', `<= 5 + ${bareP99.toFixed(2)}`, p99.toFixed(2), p99 <= 5 + bareP99);
const together = percentile(
  open.rounds.flatMap((round) => [...round]),
  0.99,
);
console.log(`  ${noise(p99sOf(open))}; all rounds together: p99 ${together.toFixed(2)} ms`);
console.log(
  `  at 1000/s, half of what is asked for: p50 ${median(open1000.rounds.map(median)).toFixed(2)}, ` +
    `p99 ${median(p99sOf(open1000)).toFixed(2)} ms; ${noise(p99sOf(open1000))}`,
);
target('batch of 50, ms (p99)', '<= 50', percentile(batches, 0.99).toFixed(1), percentile(batches, 0.99) <= 50);
