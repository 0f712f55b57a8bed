/**
 * Measures 10,000 policies in 100 tenants: from the start of a server process until it is ready, and its resident
 * memory then, and after it has decided once with each of them. 200 distinct policies are compiled and stored under all
 * the names (seed.ts): to the server each (tenant, policy) is a program of its own, fetched, compiled and evicted as such.
 */
import { mintClientToken } from '../server/keys/index.ts';
import { createInstallation, pinToCore1, startProcess } from './installation.ts';
import { openConnections, prepare } from './load.ts';
import { table, target } from './report.ts';
import { seedPolicies } from './seed.ts';

const TENANTS = 100;
const POLICIES = 100;

pinToCore1();
const installation = await createInstallation({ durable: true });
const tenants = Array.from({ length: TENANTS }, (_, i) => `tenant-${i}`);
for (const tenant of tenants) await installation.tenant(tenant);
await seedPolicies(installation, tenants, POLICIES, 200);

const first = await startProcess('accord', installation.environment, 0);
await first.stop();
const server = await startProcess('accord', installation.environment, 0);
const ready = await server.usage();
await server.rest();
const rested = await server.usage();

const batches = await Promise.all(
  tenants.map(async (tenant) => {
    const client = { clientId: 'bench', scopes: ['authz:evaluate'] as const };
    const { token } = await mintClientToken(installation.services.keys, tenant, client);
    const requests = Array.from({ length: POLICIES }, (_, i) => ({ action: `seeded:${i}`, subject: { id: 'nobody' } }));
    return prepare(`/authz/${tenant}/batch`, token, { requests });
  }),
);
const connections = await openConnections(server.port, 4);
const started = performance.now();
let peakMiB = 0;
let next = 0;
await Promise.all(
  connections.map(async (connection) => {
    for (let batch = batches[next++]; batch !== undefined; batch = batches[next++]) {
      const { status, body } = await connection.ask(batch);
      const answers = (JSON.parse(body) as { decisions: { outcome: string; reason: string }[] }).decisions;
      const decided = answers.filter(({ outcome, reason }) => outcome === 'deny' && reason.startsWith('version'));
      if (status !== 200 || decided.length !== POLICIES) throw new Error(`${status}: ${body.slice(0, 200)}`);
      peakMiB = Math.max(peakMiB, (await server.usage()).rssMiB);
    }
    connection.close();
  }),
);
const seconds = (performance.now() - started) / 1000;
const after = await server.usage();
await server.stop();
await installation.close();

table(
  ['10,000 policies, 100 tenants', 'at', 'resident MiB', 'programs in memory'],
  [
    ['ready', `${(server.startedMs / 1000).toFixed(2)} s`, ready.rssMiB.toFixed(0), ready.programs],
    ['at rest', '', rested.rssMiB.toFixed(0), rested.programs],
    [
      'decided once with each',
      `+${seconds.toFixed(0)} s`,
      `${after.rssMiB.toFixed(0)} (peak ${peakMiB.toFixed(0)})`,
      after.programs,
    ],
  ],
);
console.log(
  `a decision with a policy that is not in memory: ${((seconds * 1000) / (TENANTS * POLICIES)).toFixed(1)} ms each, one after the other`,
);
const startedIn = server.startedMs / 1000;
target('ready after a restart', '≤ 5 s', `${startedIn.toFixed(2)} s`, startedIn <= 5);
const most = Math.max(peakMiB, rested.rssMiB, after.rssMiB);
target('resident, also after each was used', '≤ 700 MiB', `${most.toFixed(0)} MiB`, most <= 700);
