/**
 * Measures consents over HTTP on a Postgres that syncs: reading what is active and outstanding and registering, each with
 * its ledger entry durable before the answer, our server on one core; beside bare durable inserts of the same run, one at a
 * time. Registering is measured for new users; a batch has 50 items of one request.
 */
import pg from 'pg';
import { putDefinition, putDocument, putVersion } from '../server/definitions/actions.ts';
import { mintClientToken } from '../server/keys/index.ts';
import { createInstallation, pinToCore1, startProcess, writer } from './installation.ts';
import { closedLoop, openConnections, openLoop, prepare, type Request } from './load.ts';
import { noise, percentile, table, target } from './report.ts';

const USERS = Number(process.argv[2] ?? 100_000);
const ROUNDS = Number(process.argv[3] ?? 5);
const MS = 2000;
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
    mintClientToken(services.mint, 'bench', { clientId: `backend-${i}`, scopes: ['consents:read', 'consents:write'] }),
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
const half = percentile(measured.active.rps, 0.5) / 2;
const open = await openLoop(connections, kinds.active(), half, 5000);
const batches: number[] = [];
const [one] = connections;
for (const request of kinds.batch().slice(0, 50)) {
  const started = performance.now();
  if ((await one?.ask(request))?.status !== 200) throw new Error('a batch failed');
  batches.push(performance.now() - started);
}
await admin.query('create table bare (n bigint, text text)');
const inserts: number[] = [];
for (let i = 0; i < 300; i++) {
  const started = performance.now();
  await admin.query('insert into bare values ($1, $2)', [i, 'x'.repeat(300)]);
  inserts.push(performance.now() - started);
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
const bare = percentile(inserts, 0.5);
const p99 = percentile(open.latenciesMs, 0.99);
console.log(
  `bare durable insert ${bare.toFixed(2)} ms (p99 ${percentile(inserts, 0.99).toFixed(2)}); active at half load: p99 ${p99.toFixed(2)} ms`,
);
for (const kind of ['active', 'outstanding'] as const)
  target(`${kind}, a second`, '>= 2000', rate(kind).toFixed(0), rate(kind) >= 2000);
target('register, a second', '>= 1000', rate('register').toFixed(0), rate('register') >= 1000);
target('p99 at half load, ms', `<= 5 + ${bare.toFixed(2)}`, p99.toFixed(2), p99 <= 5 + bare);
target('batch of 50, ms (p99)', '<= 50', percentile(batches, 0.99).toFixed(1), percentile(batches, 0.99) <= 50);
