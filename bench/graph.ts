/**
 * Measures decisions over relationships by HTTP, each reading Postgres, against the bare Fastify route of authz.ts: a
 * subject of 20 relationships in a table of a million and of ten million, sharing-shaped (many owners, groups of 100,000
 * members, chains of ten folders). Allows and denies, by a policy whose relationships are narrowed, by one that is given all, and
 * by one that asks whether the owner of the car has consented.
 */
import { putDefinition, putDocument, putVersion } from '../server/definitions/actions.ts';
import { mintClientToken } from '../server/keys/index.ts';
import { putPolicy } from '../server/policies/index.ts';
import {
  createInstallation,
  fillRelationships,
  pinToCore1,
  putTypes,
  type ServerProcess,
  startProcess,
  through,
  userId,
  userIdSql,
  writer,
} from './installation.ts';
import { type Connection, closedLoop, openConnections, openLoop, prepare, type Request } from './load.ts';
import { median, noise, percentile, table, target } from './report.ts';

const SIZES = (process.argv[2] ?? '1000000,10000000').split(',').map(Number);
const ROUNDS = Number(process.argv[3] ?? 8);
/** Short and many, and the bare route just before what is compared with it: the machine is another one a few seconds later. */
const CLOSED_ROUNDS = 2 * ROUNDS;
const CLOSED_MS = 500;
const OPEN_ROUNDS = 3 * ROUNDS;
const OPEN_MS = 600;
const WARM_MS = 5000;
const CONNECTIONS = 64;
const TOKENS = 200;
const OF_EACH = 20;
const MEMBERS = 100_000;
const OWNERS = 100_000;
const CHAIN = 10;

pinToCore1();
const installation = await createInstallation({ durable: false, first: true });
const { services } = installation;
await installation.tenant('bench');
const related = await putTypes(installation, 'bench', { actor: ['user', 'group'], resource: ['car', 'folder'] });
await related('user', 'member_of', 'group');
await related('group', 'owns', 'car');
await related('folder', 'contains', 'folder');
await related('user', 'drives', 'car', through('user:member_of:group', 'group:owns:car'));
await related('user', 'reads', 'folder', through('user:reads:folder', 'folder:contains:folder'));
const allowing = (name: string, type: string) => `package bench
default outcome := "deny"
outcome := "allow" if {
	some held in input.graph.subject
	held.type == "${name}"
	held.to.type == "${type}"
	held.to.id == input.resource.id
}`;
await putPolicy(services.policies, writer, 'bench', 'car:use', { rego: allowing('drives', 'car') });
await putPolicy(services.policies, writer, 'bench', 'folder:read', { rego: allowing('reads', 'folder') });
const all = `${allowing('drives', 'car')}\nreason := sprintf("%d", [count(input.graph.subject)])`;
await putPolicy(services.policies, writer, 'bench', 'car:count', { rego: all });
await related('user', 'is_owner_of', 'car');
const agreed = `package bench
default outcome := "deny"
outcome := "allow" if {
	every person in input.dataSubjects {
		some consent in person.consents
		consent.name == "trips"
		consent.sufficient
	}
}`;
const dataSubjects = { relationship: 'user:is_owner_of:car' };
await putPolicy(services.policies, writer, 'bench', 'car:trips', { rego: agreed, dataSubjects });
await putDefinition(services.definitions, writer, 'bench', 'trips', {});
await putVersion(services.definitions, writer, 'bench', { name: 'trips', version: '1' }, {});
const effective = { effectiveDate: new Date(Date.now() + 1500).toISOString() };
const document = { name: 'trips', version: '1', language: 'en', document: 'a' };
await putDocument(services.definitions, writer, 'bench', document, effective);

const { admin, insert, analyze } = await fillRelationships(installation, 'bench');
const carOf = (n: number | string) => `'0195b3c2-8d5e-7c1a-9f00-' || lpad((${n})::text, 12, '0')`;

/** User n drives the cars 20 n to 20 n + 19; the last rows are memberships of two wide groups, and chains of folders. */
async function fill(from: number, to: number): Promise<void> {
  await insert(`'user', ${userIdSql(`n / ${OF_EACH}`)}, 'drives', 'car', ${carOf('n')}
    from generate_series(${from}, ${to - 1}) n`);
  if (from === 0) {
    await insert(`'user', ${userIdSql(`9000000 + n / 2`)}, 'member_of', 'group', 'wide-' || n % 2
      from generate_series(0, ${2 * MEMBERS - 1}) n`);
    await insert(`'group', 'wide-' || n % 2, 'owns', 'car', ${carOf(`900000000 + n`)}
      from generate_series(0, ${MEMBERS - 1}) n`);
    await insert(`'folder', c || '/' || d, 'contains', 'folder', c || '/' || d + 1
      from generate_series(0, 999) c, generate_series(1, ${CHAIN - 2}) d`);
    await insert(`'user', ${userIdSql('c')}, 'reads', 'folder', c || '/1' from generate_series(0, 999) c`);
    await insert(
      `'user', ${userIdSql('n')}, 'is_owner_of', 'car', ${carOf('n')} from generate_series(0, ${OWNERS - 1}) n`,
    );
    await admin.query(`insert into accord.user_consent (tenant, user_id, definition, version, document, language, given_at)
      select 'bench', ${userIdSql('n')}, 'trips', '1', 'a', 'en', now() from generate_series(0, ${OWNERS - 1}) n`);
    await admin.query('vacuum analyze accord.user_consent');
  }
  await analyze();
}

const tokens: string[] = [];
for (let i = 0; i < TOKENS; i++) {
  const client = { clientId: `backend-${i}`, scopes: ['authz:evaluate'] as const };
  tokens.push((await mintClientToken(services.keys, 'bench', client)).token);
}

type Case = { name: string; outcome: 'allow' | 'deny'; requests: Request[] };
const car = (n: number) => `0195b3c2-8d5e-7c1a-9f00-${String(n).padStart(12, '0')}`;

/** 2,000 questions, of subjects all over the table. */
function casesOf(rows: number): Record<string, Case> {
  const subjects = Math.floor(rows / OF_EACH);
  const questions = (
    name: string,
    outcome: 'allow' | 'deny',
    action: string,
    of: (i: number) => [string, string, string],
  ) => {
    const requests = Array.from({ length: 2000 }, (_, i) => {
      const [subject, type, resource] = of(i);
      const body = { action, subject: { type: 'user', id: subject }, resource: { type, id: resource } };
      return prepare('/authz/bench', tokens[i % TOKENS] as string, body);
    });
    return { name, outcome, requests };
  };
  const at = (i: number) => (i * 7919) % subjects;
  const own = (i: number) => OF_EACH * at(i) + (i % OF_EACH);
  const member = (i: number) => userId(9_000_000 + ((i * 31) % MEMBERS));
  const isOwned = (i: number) => car(900_000_000 + ((i * 97) % MEMBERS));
  return {
    allow: questions('allow, 20 relationships', 'allow', 'car:use', (i) => [userId(at(i)), 'car', car(own(i))]),
    deny: questions('deny, 20 relationships', 'deny', 'car:use', (i) => [
      userId(at(i)),
      'car',
      car(own(i + 1) + OF_EACH),
    ]),
    count: questions('allow, given all 20', 'allow', 'car:count', (i) => [userId(at(i)), 'car', car(own(i))]),
    wide: questions('allow, by a group of 100,000', 'allow', 'car:use', (i) => [member(i), 'car', isOwned(i)]),
    wideDeny: questions('deny, in a group of 100,000', 'deny', 'car:use', (i) => [member(i), 'car', car(i)]),
    owner: questions('allow, one owner and one consent', 'allow', 'car:trips', (i) => [
      userId(at(i)),
      'car',
      car((i * 7919) % OWNERS),
    ]),
    chain: questions('allow, a chain of 10', 'allow', 'folder:read', (i) => [
      userId(i % 1000),
      'folder',
      `${i % 1000}/${CHAIN - 1}`,
    ]),
  };
}

type Side = { process: ServerProcess; connections: Connection[] };
/** A server ends connections that idled while the table was filled. */
async function connected(process: ServerProcess): Promise<Side> {
  return { process, connections: await openConnections(process.port, CONNECTIONS) };
}

type Measured = { rps: number[]; cpuUs: number[]; open: Float64Array[] };
/** Of the bare route, once more: at half of its own capacity. */
type Bare = Measured & { own: Float64Array[] };
async function capacity({ process, connections }: Side, requests: Request[], into: Measured): Promise<void> {
  const before = await process.usage();
  const { answered, failed, seconds } = await closedLoop(connections, requests, CLOSED_MS);
  const after = await process.usage();
  if (failed > 0) throw new Error(`${failed} requests failed`);
  into.rps.push(answered / seconds);
  into.cpuUs.push((after.cpuUs - before.cpuUs) / answered);
}

async function latency({ connections }: Side, requests: Request[], rate: number, ms = OPEN_MS): Promise<Float64Array> {
  const { latenciesMs, failed } = await openLoop(connections, requests, rate, ms);
  if (failed > 0) throw new Error(`${failed} requests failed`);
  return latenciesMs;
}

const nothing = (): Measured => ({ rps: [], cpuUs: [], open: [] });

async function measure(rows: number, [ours, bare]: readonly [Side, Side]) {
  const cases = casesOf(rows);
  const [first] = ours.connections as [Connection];
  for (const { name, outcome, requests } of Object.values(cases)) {
    for (const request of requests.slice(0, 50)) {
      const { body } = await first.ask(request);
      if (!body.includes(`"outcome":"${outcome}"`)) throw new Error(`${name}: ${body}`);
    }
    await closedLoop(ours.connections, requests, 3000);
  }
  const { allow } = cases as { allow: Case };
  await closedLoop(bare.connections, allow.requests, 3000);
  await ours.process.rest();
  const results = Object.fromEntries(Object.keys(cases).map((key) => [key, nothing()]));
  const bareResult: Bare = { ...nothing(), own: [] };
  for (let round = 0; round < CLOSED_ROUNDS; round++) {
    await capacity(bare, allow.requests, bareResult);
    for (const [key, { requests }] of Object.entries(cases)) await capacity(ours, requests, results[key] as Measured);
  }
  const [rate, bareRate] = [results.allow as Measured, bareResult].map(({ rps }) => Math.floor(median(rps) / 2)) as [
    number,
    number,
  ];
  const turns = [
    { side: ours, rate, into: (results.allow as Measured).open },
    { side: bare, rate, into: bareResult.open },
    { side: bare, rate: bareRate, into: bareResult.own },
  ];
  // Other code is hot at a rate than at full load: its compilers have done their work first.
  for (const { side, rate } of turns) await latency(side, allow.requests, rate, WARM_MS);
  for (let round = 0; round < OPEN_ROUNDS; round++) {
    for (const { side, rate, into } of round % 2 === 0 ? turns : turns.toReversed())
      into.push(await latency(side, allow.requests, rate));
  }
  for (const { connections } of [ours, bare]) for (const connection of connections) connection.close();
  return { rows, cases, results, bare: bareResult, rate, bareRate };
}

const ours = await startProcess('accord', installation.environment, 0);
const bare = await startProcess('bare', installation.environment, 0);
await ours.profile();
const runs: Awaited<ReturnType<typeof measure>>[] = [];
let filled = 0;
for (const size of SIZES) {
  await fill(filled, size);
  filled = size;
  runs.push(await measure(size, [await connected(ours), await connected(bare)]));
}
await ours.stop();
await bare.stop();
await admin.end();
await installation.close();

const ratios = (a: readonly number[], b: readonly number[]) => a.map((value, i) => value / (b[i] as number));
const shown = (values: number[], digits: number) => median(values).toFixed(digits);
for (const { rows, cases, results, bare, rate, bareRate } of runs) {
  const of = (key: string) => results[key] as Measured;
  const line = (name: string, one: Measured) => [name, shown(one.rps, 0), shown(one.cpuUs, 1)];
  table(
    [`${rows.toLocaleString('en')} relationships`, 'requests/s', 'CPU µs/request'],
    [...Object.entries(cases).map(([key, { name }]) => line(name, of(key))), line('bare Fastify route', bare)],
  );
  const owned = ratios(of('owner').rps, of('allow').rps);
  const ownedCpu = median(ratios(of('allow').cpuUs, of('owner').cpuUs));
  target(
    `decisions of ${rows.toLocaleString('en')} by one owner and one consent, requests/s`,
    '≥ 80 % of those by a relationship',
    `${(median(owned) * 100).toFixed(0)} % (by CPU per request ${(ownedCpu * 100).toFixed(0)} %)`,
    median(owned) >= 0.8,
  );
  console.log(`  ${noise(owned)}`);
  const share = ratios(of('allow').rps, bare.rps);
  const cpu = median(ratios(bare.cpuUs, of('allow').cpuUs));
  const size = rows.toLocaleString('en');
  target(
    `decisions of ${size}, a subject of 20, requests/s`,
    '≥ 35 % of the bare route',
    `${(median(share) * 100).toFixed(0)} % (by CPU per request ${(cpu * 100).toFixed(0)} %)`,
    median(share) >= 0.35,
  );
  console.log(`  ${noise(share)}`);
  const p99 = (rounds: readonly Float64Array[]) => rounds.map((round) => percentile(round, 0.99));
  const ourP99 = p99(of('allow').open);
  const slower = ratios(ourP99, p99(bare.own));
  target(`p99 at half load of ${size}`, '≤ 3 times the bare route', median(slower).toFixed(2), median(slower) <= 3);
  console.log(
    `  ${median(ourP99).toFixed(2)} ms at ${rate}/s, ${median(p99(bare.own)).toFixed(2)} at ${bareRate}/s; ${noise(slower)}`,
  );
  const sameRate = ratios(ourP99, p99(bare.open));
  console.log(
    `  the bare route at ${rate}/s too: ${median(sameRate).toFixed(2)} times ${median(p99(bare.open)).toFixed(2)} ms; ${noise(sameRate)}`,
  );
  for (const [allow, deny, of20] of [
    ['allow', 'deny', 'a subject of 20'],
    ['wide', 'wideDeny', 'wide groups'],
  ] as const) {
    const dearer = median(ratios(of(allow).rps, of(deny).rps));
    target(`a deny of ${size}, ${of20}`, '≤ 1.5 times an allow', dearer.toFixed(2), dearer <= 1.5);
  }
}
const [small, large] = [runs[0], runs.at(-1)];
if (small && large && small !== large) {
  const perBare = (run: typeof small) => median(ratios((run.results.allow as Measured).rps, run.bare.rps));
  const slower = perBare(small) / perBare(large);
  const sizes = [large, small].map(({ rows }) => rows.toLocaleString('en')).join(' against ');
  target(`decisions, ${sizes}`, '≤ 1.3 times', slower.toFixed(2), slower <= 1.3);
}
