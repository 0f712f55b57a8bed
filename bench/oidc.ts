/**
 * Measures the tenants' authorization servers: tokens against bare oidc-provider with its memory adapter on the same core, in
 * turns; what many issuers take; whether the table stays flat; and whether the first decision after a start waits for the library.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../server/core/limits.ts';
import { mintClientToken } from '../server/keys/index.ts';
import { putPolicy } from '../server/policies/index.ts';
import { createInstallation, fillRelationships, pinToCore1, putTypes, startProcess, writer } from './installation.ts';
import { closedLoop, openConnections, prepare } from './load.ts';
import { bareClient } from './oidc-bare.ts';
import { flat } from './oidc-flat.ts';
import * as parts from './oidc-parts.ts';
import { question, twentyRules } from './policies.ts';
import { median, noise, percentile, table, target } from './report.ts';

const ROUNDS = Number(process.argv[2] ?? 20);
const ISSUERS = Number(process.argv[3] ?? 1000);
const TOKENS = Number(process.argv[4] ?? 100_000);
const ROUND_MS = 600;
const WARM_MS = 4000;
const CONNECTIONS = 8;
const RELATIONSHIPS = 100;
const STARTS = 5;

pinToCore1();
const installation = await createInstallation({ durable: false });
const { services, environment } = installation;
const baseUrl = environment.ACCORD_BASE_URL as string;

const claims = { namespace: 'claims.bench', relationships: true, consents: false };
await installation.tenant('bench');
await installation.tenant('rich', { claims });
await installation.tenant('victim');
const secret = await parts.addBackEnd(installation, 'bench');
for (const tenant of ['bench', 'rich']) await parts.addApplication(installation, tenant);
await parts.addPeople(installation, 'bench', CONNECTIONS);
const people = await parts.addPeople(installation, 'rich', CONNECTIONS);
const relate = await putTypes(installation, 'rich', { actor: ['user'], resource: ['car'] });
await relate('user', 'is_driver_of', 'car');
const filling = await fillRelationships(installation, 'rich');
for (const id of people)
  await filling.insert(
    `'user', '${id}', 'is_driver_of', 'car', 'car-' || n || '-1234567890' from generate_series(1, ${RELATIONSHIPS}) n`,
  );
await filling.analyze();
await filling.admin.end();
await putPolicy(services.policies, writer, 'victim', 'document:read', { rego: twentyRules });
const deciding = (await mintClientToken(services.keys, 'victim', { clientId: 'c', scopes: ['authz:evaluate'] })).token;
const decision = prepare('/authz/victim', deciding, question(0));

async function tokens(): Promise<void> {
  const accord = await startProcess('accord', environment, 0);
  const bare = await startProcess('bare-oidc', environment, 0);
  const seeds = (await (await fetch(`http://127.0.0.1:${bare.port}/seed`)).json()) as string[];
  const held = {
    bare: seeds.slice(0, CONNECTIONS),
    bench: await parts.refreshTokens(accord.port, baseUrl, 'bench', CONNECTIONS),
    rich: await parts.refreshTokens(accord.port, baseUrl, 'rich', CONNECTIONS),
  };
  // Behind the log-ins: a connection without a request is closed after ten seconds.
  const [ours, theirs] = await Promise.all([accord, bare].map(({ port }) => openConnections(port, CONNECTIONS)));
  if (!ours || !theirs) throw new Error('no connections');
  const machine = (connections: typeof ours, of: string) => async (ms: number) => {
    const { answered, failed } = await closedLoop(connections, [parts.machineToken('bench', of)], ms);
    if (failed > 0) throw new Error(`${failed} requests failed`);
    return answered;
  };
  const refreshing = (connections: typeof ours, tenant: string, of: string[]) => async (ms: number) => {
    const { answered, access } = await parts.refresh(connections, tenant, of, ms);
    if (tenant === 'rich') checkClaim(access);
    return answered;
  };
  const kinds = [
    { name: 'client_credentials, bare', server: bare, run: machine(theirs, bareClient.secret) },
    { name: 'client_credentials', server: accord, run: machine(ours, secret) },
    { name: 'refresh_token, bare', server: bare, run: refreshing(theirs, 'bench', held.bare) },
    { name: 'refresh_token', server: accord, run: refreshing(ours, 'bench', held.bench) },
    { name: `refresh_token, ${RELATIONSHIPS} relationships`, server: accord, run: refreshing(ours, 'rich', held.rich) },
  ];
  const cpu = kinds.map((): number[] => []);
  for (const { run } of kinds) await run(WARM_MS);
  await Promise.all([accord.profile(), bare.profile()]);
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, { server, run }] of kinds.entries()) {
      const before = await server.usage();
      const answered = await run(ROUND_MS);
      cpu[i]?.push(((await server.usage()).cpuUs - before.cpuUs) / answered);
    }
  table(
    ['CPU of the server, µs a token', 'median', 'least'],
    kinds.map(({ name }, i) => [name, median(cpu[i] ?? []).toFixed(0), Math.min(...(cpu[i] ?? [])).toFixed(0)]),
  );
  const ratios = (of: number, to: number) =>
    (cpu[of] as number[]).map((us, round) => (cpu[to]?.[round] as number) / us);
  const parseResult = (name: string, least: number, all: number[]) => {
    target(name, `≥ ${least} times bare oidc-provider, by CPU`, median(all).toFixed(2), median(all) >= least);
    console.log(`  ${noise(all)}`);
  };
  parseResult('client_credentials with a secret', 0.8, ratios(1, 0));
  parseResult(`refresh_token with ${RELATIONSHIPS} relationships`, 0.55, ratios(4, 2));
  console.log(
    `  without relationships ${median(ratios(3, 2)).toFixed(2)}; with, of without ${median(ratios(4, 3)).toFixed(2)}`,
  );
  for (const connection of [...ours, ...theirs]) connection.close();
  await bare.stop();
  await accord.stop();
}

function checkClaim(token: string): void {
  const payload = JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString());
  const found = payload['https://claims.bench/relationships']?.length;
  if (found !== RELATIONSHIPS) throw new Error(`a token with ${found} relationships`);
}

async function issuers(): Promise<void> {
  const codes = Array.from({ length: ISSUERS + 20 }, (_, i) => `t${i}`);
  const secrets: string[] = [];
  for (let from = 0; from < codes.length; from += 8) {
    const add = async (code: string) => {
      await installation.tenant(code);
      return parts.addBackEnd(installation, code);
    };
    secrets.push(...(await Promise.all(codes.slice(from, from + 8).map(add))));
  }
  await parts.giveIdentityKeys(installation, codes);
  const server = await startProcess('accord', environment, 0);
  const [connection] = await openConnections(server.port, 1);
  const asked = async (i: number) => {
    const started = performance.now();
    const { status, body } =
      (await connection?.ask(parts.machineToken(codes[i] as string, secrets[i] as string))) ?? {};
    if (status !== 200) throw new Error(`${status} ${body}`);
    return performance.now() - started;
  };
  for (let i = 0; i < 2000; i++) await asked(ISSUERS); // one issuer, until the process is warm
  await server.rest();
  const one = (await server.usage()).rssMiB;
  for (let i = 1; i < 20; i++) await asked(ISSUERS + i);
  const coldMs: number[] = [];
  for (let i = 0; i < ISSUERS; i++) coldMs.push(await asked(i));
  await server.rest();
  const all = (await server.usage()).rssMiB;
  connection?.close();
  await server.stop();
  const more = all - one;
  console.log(
    `\n${ISSUERS} issuers in turn: ${one.toFixed(0)} MiB with one, ${all.toFixed(0)} MiB after all (${limits.oidcProvidersMax} are held)`,
  );
  target(`${ISSUERS} issuers, memory`, '≤ 200 MiB more than one', `${more.toFixed(0)} MiB`, more <= 200);
  const [p50, p99] = [percentile(coldMs, 0.5), percentile(coldMs, 0.99)];
  target('first token of a cold issuer, p50', '≤ 10 ms', `${p50.toFixed(1)} ms (p99 ${p99.toFixed(1)})`, p50 <= 10);
}

/** Milliseconds from listening to the first decision. @param behind a token, which needs the library */
async function firstDecision(behind: boolean): Promise<number> {
  const server = await startProcess('accord', environment, 0);
  const started = performance.now();
  const [one, other] = await openConnections(server.port, 2);
  if (behind) {
    other?.send(parts.machineToken('bench', secret), () => {});
    await sleep(20);
  }
  let answered = await one?.ask(decision);
  // Behind the library the server may say that it is under pressure.
  while (answered?.status === 503) {
    await sleep(10);
    answered = await one?.ask(decision);
  }
  const ms = performance.now() - started;
  if (answered?.status !== 200) throw new Error(answered?.body);
  one?.close();
  other?.close();
  await server.stop();
  return ms;
}

async function starting(): Promise<void> {
  const [plain, behind]: number[][] = [[], []];
  for (let round = 0; round < STARTS; round++) {
    plain?.push(await firstDecision(false));
    behind?.push(await firstDecision(true));
  }
  const [without, after] = [median(plain ?? []), median(behind ?? [])];
  console.log(
    `\nfirst decision after listening: ${without.toFixed(0)} ms; behind a token, which loads the library: ${after.toFixed(0)} ms`,
  );
  target(
    'first decision at start',
    '≤ 0.5 times that behind the library',
    (without / after).toFixed(2),
    without <= after / 2,
  );
}

if (ROUNDS > 0) await tokens();
if (TOKENS > 0) await flat(installation, TOKENS);
if (ISSUERS > 0) await starting();
if (ISSUERS > 0) await issuers();
await installation.close();
