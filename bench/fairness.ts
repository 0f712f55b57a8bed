/**
 * Measures what one tenant's requests wait for while another tenant does its worst: a victim with 4 connections, a server
 * on core 0, and rounds in which it is quiet, in which an attacker has 50 connections and a trivial policy (the control),
 * and in which it attacks. Victim and attacker are processes of their own, the attacker below all others in priority.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { mintClientToken } from '../server/keys/index.ts';
import { putPolicy } from '../server/policies/index.ts';
import { putEntityType, putRelationshipType } from '../server/types/index.ts';
import { growing, looping, notQuiteLooping } from '../test/authz/attacks.ts';
import { garbage, large, longGarbage, longTexts, relationships, slow } from './fairness-attacks.ts';
import type { Asked, Piece } from './fairness-client.ts';
import { answer, createInstallation, pinToCore1, startProcess, writer } from './installation.ts';
import { prepare } from './load.ts';
import { question, twentyRules } from './policies.ts';
import { median, noise, percentile, table, target } from './report.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
/** Of the attacks, only those with this in their name. */
const ONLY = process.argv[3] ?? '';
const WINDOW_MS = 1000;
/** From the attack's beginning to the victim's. */
const LEAD_MS = 400;
const VICTIM_CONNECTIONS = 4;
const CONNECTIONS = 50;
const LARGE_POLICIES = 150;
const MANY_POLICIES = 100;
const CONTROL_MAX = 5;
const ATTACK_MAX = 1.5;

pinToCore1();
const installation = await createInstallation({ durable: false });
const { services } = installation;
const admin = new pg.Client({ connectionString: installation.adminUrl });
await admin.connect();

async function tenant(code: string): Promise<string> {
  await installation.tenant(code);
  return (await mintClientToken(services.keys, code, { clientId: 'c', scopes: ['authz:evaluate'] })).token;
}

type Attack = { name: string; connections: number; requests: string[] };
type Source = { name: string; sources?: Record<string, string>; bodies?: object[]; connections?: number; url?: string };

const subject = { type: 'user', id: 'a' };

/** A tenant of its own for each: what is held against one attack must not weaken the next. */
async function attackOf(index: number, source: Source): Promise<Attack> {
  const { name, sources = {}, connections = CONNECTIONS, url = '' } = source;
  const code = `evil${index}`;
  const token = await tenant(code);
  if (sources.relationships !== undefined) await relate(code);
  for (const [policy, rego] of Object.entries(sources))
    await putPolicy(services.policies, writer, code, policy, { rego });
  const bodies = source.bodies ?? Object.keys(sources).map((action) => ({ action, subject, resource: {} }));
  const path = `/authz/${code}${url}`;
  return { name, connections, requests: bodies.map((body) => prepare(path, token, body).toString('latin1')) };
}

/** A subject that has as many relationships as a decision is given. */
async function relate(code: string): Promise<void> {
  for (const [kind, name] of [
    ['actor', 'user'],
    ['resource', 'car'],
  ] as const)
    await putEntityType(services.types, writer, code, { kind, name, spec: {} });
  await putRelationshipType(services.types, writer, code, { from: 'user', name: 'drives', to: 'car' }, {});
  await admin.query(
    `insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id)
     select $1, 'user', 'a', 'drives', 'car', 'car-' || n from generate_series(1, 1000) n`,
    [code],
  );
  await admin.query('vacuum analyze accord.relationship');
}

/** One policy under many names, each with a program of its own: compiling them one by one would take minutes. */
async function multiply(code: string, policy: string, count: number): Promise<void> {
  await admin.query(
    `insert into accord.policy_artifact (tenant, digest, wasm, plan, about)
     select a.tenant, a.digest || n, a.wasm, a.plan, a.about from accord.policy_artifact a, generate_series(1, $2) n
     where a.tenant = $1`,
    [code, count],
  );
  await admin.query(
    `insert into accord.policy (tenant, name, number, rego, effective_rego, artifact, reads, revision, owner, updated_by)
     select p.tenant, p.name || n, 1, p.rego, p.effective_rego, p.artifact || n, p.reads, p.revision, p.owner, 'bench'
     from accord.policy p, generate_series(1, $3) n where p.tenant = $1 and p.name = $2`,
    [code, policy, count],
  );
}

const named = (policy: string, count: number) =>
  Array.from({ length: count }, (_, i) => ({ action: `${policy}${i + 1}`, subject, resource: {} }));
const batch = (action: string, length: number) => [{ requests: Array.from({ length }, () => ({ action, subject })) }];
const trivial = 'package a\noutcome := "allow"';

const sources: Source[] = [
  { name: 'control: a trivial policy', sources: { trivial } },
  { name: 'long equal texts, 1 connection', sources: { longTexts }, connections: 1 },
  { name: 'long equal texts', sources: { longTexts } },
  { name: 'slow but legal, 1 connection', sources: { slow: slow(1100) }, connections: 1 },
  { name: 'slow but legal', sources: { slow: slow(1100) } },
  {
    name: `${MANY_POLICIES} slow policies in turn`,
    sources: { many: slow(1100) },
    bodies: named('many', MANY_POLICIES),
  },
  { name: 'just below what counts as slow', sources: { brief: slow(250), pairs: notQuiteLooping } },
  { name: `${LARGE_POLICIES} large policies in turn`, sources: { large }, bodies: named('large', LARGE_POLICIES) },
  { name: 'garbage of small values', sources: { garbage } },
  { name: 'garbage of long texts', sources: { longGarbage } },
  { name: 'batches of 1000', sources: { trivial }, bodies: batch('trivial', 1000), url: '/batch' },
  {
    name: 'batches of 100 of a slow policy',
    sources: { brief: slow(250) },
    bodies: batch('brief', 100),
    url: '/batch',
  },
  { name: 'exhausting the budget', sources: { looping, growing } },
  { name: '1000 relationships', sources: { relationships } },
].filter(({ name }) => name.startsWith('control') || name.includes(ONLY));

const attacks: Attack[] = [];
for (const [index, source] of sources.entries()) {
  attacks.push(await attackOf(index, source));
  if (source.sources?.large !== undefined) await multiply(`evil${index}`, 'large', LARGE_POLICIES);
  if (source.sources?.many !== undefined) await multiply(`evil${index}`, 'many', MANY_POLICIES);
}
const victimToken = await tenant('victim');
await putPolicy(services.policies, writer, 'victim', 'document:read', { rego: twentyRules });
const victimRequests = Array.from({ length: 50 }, (_, i) =>
  prepare('/authz/victim', victimToken, question(i)).toString('latin1'),
);

const server = await startProcess('accord', installation.environment, 0);
const clients = [0, 1].map(() => fork(new URL('./fairness-client.ts', import.meta.url), { execArgv: [] }));
const [victim, attacker] = clients as [ChildProcess, ChildProcess];
setPriority(attacker.pid as number, 15);
try {
  setPriority(victim.pid as number, -10); // Postgres and the attacker share its core
} catch {
  console.log('(the victim is not ahead of what shares its core: not allowed)');
}

async function load(client: ChildProcess, piece: Omit<Piece, 'port'>): Promise<Asked> {
  const asked = answer<Asked>(client);
  client.send({ port: server.port, ...piece } satisfies Piece);
  return asked;
}

const asVictim = (ms: number) => load(victim, { connections: VICTIM_CONNECTIONS, ms, requests: victimRequests });

type Row = { p50: number[]; p99: number[]; answers: Record<string, number>; lost: number };
const emptyRow = (): Row => ({ p50: [], p99: [], answers: {}, lost: 0 });
const quiet = emptyRow();
const rows = attacks.map(emptyRow);

async function measure(row: Row, attack?: Attack): Promise<void> {
  const attacking = attack && load(attacker, { ...attack, ms: LEAD_MS + WINDOW_MS + 200 });
  await sleep(LEAD_MS);
  const { latenciesMs, answers } = await asVictim(WINDOW_MS);
  row.p50.push(median(latenciesMs));
  row.p99.push(percentile(latenciesMs, 0.99));
  for (const [answered, count] of Object.entries(answers)) if (!answered.startsWith('200 ')) row.lost += count;
  const got = await attacking;
  for (const [answered, count] of Object.entries(got?.answers ?? {}))
    row.answers[answered] = (row.answers[answered] ?? 0) + count;
  await sleep(100);
}

await asVictim(3000); // warm
await measure(emptyRow(), attacks[0]);
await server.rest();
for (let round = 0; round < ROUNDS; round++) {
  await measure(quiet);
  for (const [index, attack] of attacks.entries()) await measure(rows[index] as Row, attack);
}
for (const client of clients) client.kill();
await server.stop();
await admin.end();
await installation.close();

const [control] = rows as [Row];
const ratios = (row: Row, other: Row) => row.p50.map((value, round) => value / (other.p50[round] as number));
const p50 = (row: Row) => median(row.p50).toFixed(2);
const line = (name: string, row: Row) => [
  name,
  p50(row),
  median(row.p99).toFixed(1),
  median(ratios(row, quiet)).toFixed(1),
  row === quiet ? '' : median(ratios(row, control)).toFixed(2),
  row.lost,
  Object.entries(row.answers)
    .map(([answered, count]) => `${answered}: ${Math.round(count / ROUNDS)}`)
    .join(', '),
];
table(
  ['victim, 4 connections', 'p50 ms', 'p99 ms', 'of quiet', 'of control', 'lost', 'the attacker got, in a round'],
  [line('quiet', quiet), ...attacks.map(({ name }, index) => line(name, rows[index] as Row))],
);
const toQuiet = ratios(control, quiet);
target(
  'control, p50 of the victim',
  `≤ ${CONTROL_MAX} times quiet`,
  median(toQuiet).toFixed(2),
  median(toQuiet) <= CONTROL_MAX,
);
console.log(`  ${noise(toQuiet)}`);
for (const [index, { name }] of attacks.entries()) {
  if (index === 0) continue;
  const ratio = ratios(rows[index] as Row, control);
  target(
    `${name}, p50 of the victim`,
    `≤ ${ATTACK_MAX} times the control`,
    median(ratio).toFixed(2),
    median(ratio) <= ATTACK_MAX,
  );
}
