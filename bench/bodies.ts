/**
 * Measures what bodies that are made to cost do to the decisions of others: the latency of a victim with four
 * connections while nobody else asks, and under each attack, in alternating rounds with the default rate limit.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { mintClientToken } from '../server/keys/index.ts';
import { putPolicy } from '../server/policies/index.ts';
import { createInstallation, pinToCore1, startProcess, writer } from './installation.ts';
import { Connection, openConnections, prepare, type Request } from './load.ts';
import { question, twentyRules } from './policies.ts';
import { median, percentile, table } from './report.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
const ROUND_MS = 2000;
/** The bucket of an address refills: an attack begins with a full one. */
const REST_MS = 1200;

pinToCore1();
const installation = await createInstallation({ durable: false });
const { services } = installation;
const token = async (tenant: string, clientId: string) =>
  (await mintClientToken(services.keys, tenant, { clientId, scopes: ['authz:evaluate'] })).token;
for (const tenant of ['victim', 'attacker']) {
  await installation.tenant(tenant);
  await putPolicy(services.policies, writer, tenant, 'document:read', { rego: twentyRules });
}
const { port, stop } = await startProcess('accord', { ...installation.environment, ACCORD_RATE_LIMIT: '5000' }, 0);

/** Objects with a key of their own each: V8 makes a hidden class of each of them. */
function ownKeys(objects: number): unknown {
  return Array.from({ length: objects }, () => ({ [Math.random().toString(36).slice(2, 7)]: 0 }));
}

/** Prepared anew for each request: keys that were seen before cost less. */
type Attack = { name: string; connections: number; from: string[]; perSecond?: number; request: () => Request };

const known = await token('attacker', 'attacker');
const preview = (body: unknown) => prepare('/attacker/sharing/invitations/preview', 'x', body);
const attacks: Attack[] = [
  ...[1, 4].map((addresses) => ({
    name: `${addresses} address${addresses > 1 ? 'es' : ''} without a token, 20,000 objects, 15/s each`,
    ...{ connections: 4, from: Array.from({ length: addresses }, (_, i) => `127.0.0.${i + 2}`), perSecond: 15 },
    request: () => preview(ownKeys(20_000)),
  })),
  {
    name: 'a token, batches of 1 MiB with 80,000 objects, 4 connections',
    ...{ connections: 4, from: ['127.0.0.2'] },
    request: () => prepare('/authz/attacker/batch', known, { requests: [{ context: { x: ownKeys(80_000) } }] }),
  },
  {
    name: 'a token, questions with 1,900 objects, 4 connections',
    ...{ connections: 4, from: ['127.0.0.2'] },
    request: () => prepare('/authz/attacker', known, { context: { x: ownKeys(1900) } }),
  },
  {
    name: 'a token, questions with 49,000 numbers, 4 connections',
    ...{ connections: 4, from: ['127.0.0.2'] },
    request: () => prepare('/authz/attacker', known, { context: { x: Array(49_000).fill(0) } }),
  },
  {
    name: 'control: a token, ordinary questions, 4 connections',
    ...{ connections: 4, from: ['127.0.0.2'] },
    request: () => prepare('/authz/attacker', known, question(1)),
  },
];

const victims = await openConnections(port, 4);
const asked = await Promise.all(
  victims.map(async (_, i) => prepare('/authz/victim', await token('victim', `victim-${i}`), question(i))),
);

/** The victim asks on each connection, 5 ms after the last answer. */
async function suffer(ms: number): Promise<{ latencies: number[]; failed: number }> {
  const until = performance.now() + ms;
  const latencies: number[] = [];
  let failed = 0;
  await Promise.all(
    victims.map(async (connection, i) => {
      while (performance.now() < until) {
        const started = performance.now();
        const { status } = await connection.ask(asked[i] as Request);
        latencies.push(performance.now() - started);
        if (status !== 200) failed++;
        await sleep(5);
      }
    }),
  );
  return { latencies, failed };
}

/** @returns stops it, and tells the answers by their status */
function begin({ connections, from, perSecond, request }: Attack): () => Promise<Map<number, number>> {
  const answers = new Map<number, number>();
  const prepared = Array.from({ length: 16 }, request);
  let [running, next] = [true, 0];
  const lanes = from.flatMap((address) => Array.from({ length: connections }, () => address));
  const pauseMs = perSecond === undefined ? 0 : (1000 * connections) / perSecond;
  const ended = lanes.map(async (address, i) => {
    await sleep((pauseMs * i) / lanes.length);
    let connection = await Connection.open(port, address);
    while (running) {
      const started = performance.now();
      const { status } = await connection.ask(prepared[next++ % prepared.length] as Request);
      answers.set(status, (answers.get(status) ?? 0) + 1);
      connection.close(); // one whose body was refused before it was read is of no more use
      await sleep(Math.max(0, pauseMs - (performance.now() - started)));
      connection = await Connection.open(port, address);
    }
    connection.close();
  });
  return async () => {
    running = false;
    await Promise.all(ended);
    return answers;
  };
}

type Suffered = { quiet: number[]; p50: number[]; p99: number[]; failed: number; asked: number; answers: string };
const suffered = new Map<Attack, Suffered>();
await suffer(3000); // warm
for (let round = 0; round < ROUNDS; round++) {
  for (const attack of attacks) {
    const quiet = median((await suffer(ROUND_MS)).latencies);
    const end = begin(attack);
    const { latencies, failed } = await suffer(ROUND_MS);
    const answers = [...(await end())].map(([status, count]) => `${status}: ${count}`).join(', ');
    const so = suffered.get(attack) ?? { quiet: [], p50: [], p99: [], failed: 0, asked: 0, answers };
    suffered.set(attack, so);
    so.quiet.push(quiet);
    so.p50.push(median(latencies));
    so.p99.push(percentile(latencies, 0.99));
    so.failed += failed;
    so.asked += latencies.length;
    await sleep(REST_MS);
  }
}
table(
  ['the victim under', 'quiet p50 ms', 'p50 ms', 'times', 'p99 ms', 'not answered', 'the attacker got'],
  [...suffered].map(([{ name }, { quiet, p50, p99, failed, asked: all, answers }]) => [
    name,
    median(quiet).toFixed(2),
    median(p50).toFixed(2),
    (median(p50) / median(quiet)).toFixed(1),
    median(p99).toFixed(1),
    `${((100 * failed) / all).toFixed(0)} %`,
    answers,
  ]),
);
for (const connection of victims) connection.close();
await stop();
await installation.close();
