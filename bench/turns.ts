/**
 * Measures POST /authz of this checkout in turns with another one, such as a worktree of the commit before: CPU a request and
 * requests a second of the 20-rule policy of authz.ts. Each has an installation of its own. The other checkout needs its
 * node_modules, and a bench/installation.ts with the same functions.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { median, percentile, table, target } from './report.ts';

const other = process.argv[2];
if (other === undefined) throw new Error('usage: bench/turns.ts CHECKOUT [ROUNDS]');
const ROUNDS = Number(process.argv[3] ?? 60);
const CLOSED_MS = 500;
const CONNECTIONS = 32;
const WARM_MS = 30_000;

type Side = Awaited<ReturnType<typeof start>>;

async function start(checkout: string) {
  const load = <T>(file: string): Promise<T> => import(pathToFileURL(resolve(checkout, file)).href);
  const { createInstallation, startProcess, writer, pinToCore1 } =
    await load<typeof import('./installation.ts')>('bench/installation.ts');
  const { closedLoop, openConnections, prepare } = await load<typeof import('./load.ts')>('bench/load.ts');
  const { question, twentyRules } = await load<typeof import('./policies.ts')>('bench/policies.ts');
  const { putPolicy } = await load<typeof import('../server/policies/index.ts')>('server/policies/index.ts');
  const { mintClientToken } = await load<typeof import('../server/keys/index.ts')>('server/keys/index.ts');
  pinToCore1();
  const installation = await createInstallation({ durable: false });
  await installation.tenant('bench');
  await putPolicy(installation.services.policies, writer, 'bench', 'document:read', { rego: twentyRules });
  // A checkout from before there was a list of rooms has these services as `mint`.
  const { keys, mint = keys } = installation.services as typeof installation.services & { mint?: typeof keys };
  const client = (i: number) => ({ clientId: `backend-${i}`, scopes: ['authz:evaluate'] as const });
  const minted = await Promise.all(Array.from({ length: 200 }, (_, i) => mintClientToken(mint, 'bench', client(i))));
  const requests = minted.map(({ token }, i) => prepare('/authz/bench', token, question(i)));
  const server = await startProcess('accord', installation.environment, 0);
  const connections = await openConnections(server.port, CONNECTIONS);
  await closedLoop(connections, requests, WARM_MS, 60_000);
  await server.rest();
  const cpuUs: number[] = [];
  const rps: number[] = [];
  const round = async () => {
    const before = await server.usage();
    const { answered, failed, seconds } = await closedLoop(connections, requests, CLOSED_MS);
    const after = await server.usage();
    if (failed > 0) throw new Error(`${failed} requests failed`);
    cpuUs.push((after.cpuUs - before.cpuUs) / answered);
    rps.push(answered / seconds);
  };
  const close = async () => {
    for (const connection of connections) connection.close();
    await server.stop();
    await installation.close();
  };
  return { checkout, cpuUs, rps, round, close };
}

const theirs = await start(resolve(other));
const ours = await start(resolve(import.meta.dirname, '..'));
for (let round = 0; round < ROUNDS; round++)
  for (const side of round % 2 === 0 ? [theirs, ours] : [ours, theirs]) await side.round();

const row = (name: string, { cpuUs, rps }: Side) => [
  name,
  `${Math.min(...cpuUs).toFixed(1)} (${median(cpuUs).toFixed(1)})`,
  `${Math.max(...rps).toFixed(0)} (${median(rps).toFixed(0)})`,
];
table(
  ['POST /authz, best (median)', 'CPU µs/request', 'requests/s'],
  [row('the other checkout', theirs), row('this checkout', ours)],
);
const ratios = (of: (side: Side) => number[]) => of(ours).map((value, i) => value / (of(theirs)[i] as number));
const cpu = ratios((side) => side.cpuUs);
const quarters = `${percentile(cpu, 0.25).toFixed(2)} to ${percentile(cpu, 0.75).toFixed(2)}`;
const measured = `${median(cpu).toFixed(3)} (a quarter of the rounds below and above ${quarters})`;
target('POST /authz, CPU a request', '≤ 1.02 times the other checkout', measured, median(cpu) <= 1.02);
console.log(`  requests/s ${median(ratios((side) => side.rps)).toFixed(3)} times`);
await theirs.close();
await ours.close();
