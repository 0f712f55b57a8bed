/**
 * Measures what a tenant's decisions wait for while fifty people log in at another tenant at once: each password takes its
 * digest (argon2id) in the one thread of its own.
 */
import { fork } from 'node:child_process';
import { setPriority } from 'node:os';
import { mintClientToken } from '../server/keys/index.ts';
import { putPolicy } from '../server/policies/index.ts';
import type { Asked } from './fairness-client.ts';
import { answer, createInstallation, pinToCore1, startProcess, writer } from './installation.ts';
import { prepare } from './load.ts';
import * as parts from './oidc-parts.ts';
import { Visitor } from './oidc-visitor.ts';
import { question, twentyRules } from './policies.ts';
import { median, noise, percentile, table, target } from './report.ts';

const STORMS = Number(process.argv[2] ?? 5);
const LOGINS = 50;
const CONNECTIONS = 4;
const WARM_MS = 3000;
const ROUND_MS = 1000;

pinToCore1();
const installation = await createInstallation({ durable: false });
const { services, environment } = installation;
const baseUrl = environment.ACCORD_BASE_URL as string;
await installation.tenant('bench');
await installation.tenant('victim');
await parts.addApplication(installation, 'bench');
await parts.addPeople(installation, 'bench', LOGINS);
await putPolicy(services.policies, writer, 'victim', 'document:read', { rego: twentyRules });
const { token } = await mintClientToken(services.keys, 'victim', { clientId: 'c', scopes: ['authz:evaluate'] });
const requests = Array.from({ length: 50 }, (_, i) => prepare('/authz/victim', token, question(i)).toString('latin1'));

const server = await startProcess('accord', environment, 0);
const victim = fork(new URL('./fairness-client.ts', import.meta.url), { execArgv: [] });
try {
  setPriority(victim.pid as number, -10);
} catch {
  console.log('(the victim is not ahead of what shares its core: not allowed)');
}

/** Milliseconds. */
async function decide(ms: number): Promise<{ p50: number; p99: number }> {
  const asked = answer<Asked>(victim);
  victim.send({ port: server.port, connections: CONNECTIONS, ms, requests });
  const { latenciesMs } = await asked;
  return { p50: percentile(latenciesMs, 0.5), p99: percentile(latenciesMs, 0.99) };
}

type Storm = { seconds: number; refused: number };

/** Everybody has the page, and sends the password at once. @returns what sends it */
async function prepareStorm(): Promise<() => Promise<Storm>> {
  const visitors = Array.from({ length: LOGINS }, () => new Visitor(server.port, baseUrl, 'bench'));
  const pages = await Promise.all(visitors.map((one) => one.open('web', parts.callback)));
  return async () => {
    const started = performance.now();
    const logged = await Promise.allSettled(
      visitors.map((one, i) => one.logIn(pages[i] as (typeof pages)[number], parts.person(i))),
    );
    const refused = logged.filter(({ status }) => status === 'rejected').length;
    return { seconds: (performance.now() - started) / 1000, refused };
  };
}

/** Decisions of a second that begins with the storm, those of the second before it, and the storm. */
async function round() {
  const logIn = await prepareStorm();
  await server.rest();
  const quiet = await decide(ROUND_MS);
  const deciding = decide(ROUND_MS);
  const storm = await logIn();
  return { quiet, during: await deciding, storm };
}

await decide(WARM_MS);
await round(); // it loads the library
const rounds: Awaited<ReturnType<typeof round>>[] = [];
for (let n = 0; n < STORMS; n++) rounds.push(await round());
victim.kill();
await server.stop();
await installation.close();

const ms = (all: number[]) => median(all).toFixed(1);
table(
  [`another tenant's decisions, ms (median of ${STORMS} rounds)`, 'p50', 'p99'],
  [
    ['quiet', ms(rounds.map(({ quiet }) => quiet.p50)), ms(rounds.map(({ quiet }) => quiet.p99))],
    [`while ${LOGINS} log in`, ms(rounds.map(({ during }) => during.p50)), ms(rounds.map(({ during }) => during.p99))],
  ],
);
const refused = rounds.reduce((sum, { storm }) => sum + storm.refused, 0);
console.log(
  `a storm takes ${median(rounds.map(({ storm }) => storm.seconds)).toFixed(1)} s; ${refused} of ${STORMS * LOGINS} log-ins were refused`,
);
const ratios = rounds.map(({ quiet, during }) => during.p99 / quiet.p99);
target(
  "another tenant's decisions during a storm, p99",
  '≤ 3 times quiet',
  median(ratios).toFixed(1),
  median(ratios) <= 3,
);
console.log(`  ${noise(ratios)}`);
