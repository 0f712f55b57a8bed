/**
 * Measures POST /authz/{tenant} over HTTP with verified ES256 tokens (200 of them, a policy of twenty rules), our
 * server in its production configuration, against a bare Fastify route with the same body and response schema.
 * Capacity (closed loop), CPU a request, and latency at half of our capacity (open loop, the same rate for both).
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { mintClientToken } from '../server/keys/index.ts';
import { putPolicy } from '../server/policies/index.ts';
import { compilePlain } from './compile-plain.ts';
import { createInstallation, type Mode, pinToCore1, type ServerProcess, startProcess, writer } from './installation.ts';
import { type Connection, closedLoop, openConnections, openLoop, prepare, type Request } from './load.ts';
import { question, twentyRules } from './policies.ts';
import { median, noise, percentile, table, target } from './report.ts';

const ROUNDS = Number(process.argv[2] ?? 10);
const CLOSED_MS = 1000;
/** Of the open loop: short and many, because what else runs on the machine for a moment spoils a round of either side. */
const OPEN_ROUNDS = ROUNDS * 3;
const OPEN_MS = 600;
const CONNECTIONS = 32;

pinToCore1();
const installation = await createInstallation({ durable: false });
const { services } = installation;
await installation.tenant('bench');
await putPolicy(services.policies, writer, 'bench', 'document:read', { rego: twentyRules });
// The policy that `npm start` prints a first request for.
const example = new URL('../examples/carshare/policies/car-unlock.yaml', import.meta.url);
const { rego } = parse(readFileSync(example, 'utf8')).spec;
await putPolicy(services.policies, writer, 'bench', 'document:unlock', { rego });
const requests: Request[] = [];
const exampleRequests: Request[] = [];
for (let i = 0; i < 200; i++) {
  const client = { clientId: `backend-${i}`, scopes: ['authz:evaluate'] as const };
  const { token } = await mintClientToken(services.keys, 'bench', client);
  requests.push(prepare('/authz/bench', token, question(i)));
  exampleRequests.push(prepare('/authz/bench', token, question(i, 'document:unlock')));
}

const directory = mkdtempSync(join(tmpdir(), 'accord-bench-'));
const wasm = join(directory, 'policy.wasm');
writeFileSync(wasm, compilePlain(twentyRules));

type Side = {
  process: ServerProcess;
  requests: Request[];
  connections: Connection[];
  rps: number[];
  cpuUs: number[];
  mainUs: number[];
  open: Float64Array[];
};

async function side(mode: Mode): Promise<Side> {
  const process = await startProcess(mode, { ...installation.environment, BENCH_WASM: wasm }, 0);
  const connections = await openConnections(process.port, CONNECTIONS);
  for (const asked of [requests, exampleRequests]) await closedLoop(connections, asked, 15_000, 30_000); // warm: code, tokens, the policies
  await process.rest();
  await process.profile();
  return { process, connections, requests, rps: [], cpuUs: [], mainUs: [], open: [] };
}

async function capacity(one: Side): Promise<void> {
  const before = await one.process.usage();
  const { answered, failed, seconds } = await closedLoop(one.connections, one.requests, CLOSED_MS);
  const after = await one.process.usage();
  if (failed > 0) throw new Error(`${failed} requests failed`);
  one.rps.push(answered / seconds);
  one.cpuUs.push((after.cpuUs - before.cpuUs) / answered);
  one.mainUs.push((after.mainUs - before.mainUs) / answered);
}

async function latency(one: Side, rate: number): Promise<void> {
  const { latenciesMs, failed } = await openLoop(one.connections, one.requests, rate, OPEN_MS);
  if (failed > 0) throw new Error(`${failed} requests failed`);
  one.open.push(latenciesMs);
}

const ours = await side('accord');
const bare = await side('bare');
const evaluating = await side('bare+policy');
const byExample: Side = { ...ours, requests: exampleRequests, rps: [], cpuUs: [], mainUs: [], open: [] };
rmSync(directory, { recursive: true });
for (let round = 0; round < ROUNDS; round++) for (const one of [ours, byExample, bare, evaluating]) await capacity(one);
const rate = Math.floor(median(ours.rps) / 2);
for (let round = 0; round < OPEN_ROUNDS; round++) {
  for (const one of round % 2 === 0 ? [ours, bare] : [bare, ours]) await latency(one, rate);
}
const rss = (await ours.process.usage()).rssMiB;
for (const one of [ours, bare, evaluating]) {
  for (const connection of one.connections) connection.close();
  await one.process.stop();
}
await installation.close();

const least = (values: number[]) => Math.min(...values);
const p99sOf = (one: Side) => one.open.map((round) => percentile(round, 0.99));
const p99 = (one: Side) => median(p99sOf(one));
const p50 = (one: Side) => median(one.open.map((round) => percentile(round, 0.5)));
const row = (name: string, one: Side) => [
  name,
  `${Math.max(...one.rps).toFixed(0)} (${median(one.rps).toFixed(0)})`,
  `${least(one.cpuUs).toFixed(1)} (${median(one.cpuUs).toFixed(1)})`,
  `${least(one.mainUs).toFixed(1)} (${median(one.mainUs).toFixed(1)})`,
  ...(one.open.length > 0 ? [p50(one).toFixed(2), p99(one).toFixed(2)] : ['', '']),
];
table(
  ['POST /authz', 'requests/s best (median)', 'CPU µs/request', 'of it main thread', `p50 ms at ${rate}/s`, `p99 ms`],
  [
    row('accord, 20 rules', ours),
    row('accord, the example policy', byExample),
    row('bare Fastify route', bare),
    row('bare route + opa-wasm', evaluating),
  ],
);
const share = median(ours.rps.map((value, i) => value / (bare.rps[i] as number)));
const cpuShare = median(bare.cpuUs.map((value, i) => value / (ours.cpuUs[i] as number)));
target(
  'POST /authz, requests/s',
  '≥ 60 % of the bare route',
  `${(share * 100).toFixed(0)} % (by CPU per request ${(cpuShare * 100).toFixed(0)} %)`,
  share >= 0.6,
);
console.log(`  ${noise(ours.rps.map((value, i) => value / (bare.rps[i] as number)))}; resident ${rss.toFixed(0)} MiB`);
const shareExample = median(byExample.rps.map((value, i) => value / (bare.rps[i] as number)));
const cpuExample = median(bare.cpuUs.map((value, i) => value / (byExample.cpuUs[i] as number)));
console.log(
  `  with the policy of examples/: ${(shareExample * 100).toFixed(0)} % (by CPU per request ${(cpuExample * 100).toFixed(0)} %)`,
);
const sharePolicy = median(evaluating.cpuUs.map((value, i) => value / (ours.cpuUs[i] as number)));
console.log(
  `  of a bare route that evaluates the policy with opa-wasm: ${(sharePolicy * 100).toFixed(0)} % by CPU per request`,
);
const bareP99s = p99sOf(bare);
const slowerBy = p99sOf(ours).map((value, i) => value / (bareP99s[i] as number));
const slower = median(slowerBy);
target(`POST /authz, p99 at ${rate}/s`, '≤ 2 times the bare route', slower.toFixed(2), slower <= 2);
console.log(`  ${noise(slowerBy)}`);
