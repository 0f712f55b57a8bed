/**
 * Measures search over HTTP: the first and a middle page of 100 of what a subject may, of 100,000 entities that it has by
 * relationships of its own, or that its group owns; and who may an entity that 100,000 may. The policy is narrowed. Beside
 * it the same page of ids by bare `pg`, unchecked. In one tenant of a million relationships. CPU is this process', in which
 * server and client are; Postgres has its own.
 */
import pg from 'pg';
import { Agent, fetch } from 'undici';
import { createApp } from '../server/app.ts';
import { mintClientToken } from '../server/keys/index.ts';
import { putPolicy } from '../server/policies/index.ts';
import { putEntityType, putRelationshipType } from '../server/types/index.ts';
import { createInstallation, writer } from './installation.ts';
import { median, noise, percentile, table, target } from './report.ts';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const WIDE = 100_000;
const PAGE = 100;
const ROUNDS = 200;

const installation = await createInstallation({ durable: false });
const { services } = installation;
await installation.tenant('bench');
const { types } = services;
for (const name of ['user', 'group']) await putEntityType(types, writer, 'bench', { kind: 'actor', name, spec: {} });
await putEntityType(types, writer, 'bench', { kind: 'resource', name: 'car', spec: {} });
const relationship = (from: string, name: string, to: string, spec = {}) =>
  putRelationshipType(types, writer, 'bench', { from, name, to }, spec);
await relationship('user', 'member_of', 'group');
await relationship('group', 'owns', 'car');
await relationship('user', 'drives', 'car', {
  inheritedThrough: [{ relationship: 'user:member_of:group', from: 'group:owns:car' }],
});
const rego = `package bench.car.drive
default outcome := "deny"
outcome := "allow" if {
  some link in input.graph.subject
  link.relationshipType == "drives"
  link.to.type == "car"
  link.to.id == input.resource.id
}`;
await putPolicy(services.policies, writer, 'bench', 'car:drive', { rego });
await services.snapshots.refresh('bench');

const admin = new pg.Client({ connectionString: installation.adminUrl });
await admin.connect();
const insert = (select: string) =>
  admin.query(
    `insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id) select 'bench', ${select}`,
  );
const id = (n: string) => `'0195b3c2-8d5e-7c1a-9f00-' || lpad((${n})::text, 12, '0')`;
const rest = Math.max(0, ROWS - 3 * WIDE);
await insert(
  `'user', 'u' || n % ${Math.ceil(rest / 20) || 1}, 'drives', 'car', ${id('(n::bigint * 7919) % 1000000')} from generate_series(1, ${rest}) n`,
);
await insert(`'user', 'rich', 'drives', 'car', ${id('n')} from generate_series(1, ${WIDE}) n`);
await insert(`'group', 'fleet', 'owns', 'car', ${id('n')} from generate_series(1, ${WIDE}) n`);
await insert(`'user', 'f' || n, 'drives', 'car', 'everybody' from generate_series(1, ${WIDE}) n`);
await insert(`'user', 'driver', 'member_of', 'group', 'fleet'`);
await admin.query('vacuum analyze accord.relationship');

const app = await createApp(installation.config, services);
const address = await app.listen({ port: 0, host: '127.0.0.1' });
const { token } = await mintClientToken(services.keys, 'bench', { clientId: 'bench', scopes: ['authz:evaluate'] });
const agent = new Agent({ connections: 1 });

type Found = { results: { id: string }[]; page: { next_token: string } };
async function search(kind: string, body: object): Promise<Found> {
  const response = await fetch(`${address}/bench/access/v1/search/${kind}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    dispatcher: agent,
  });
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json()) as Found;
}

const bare = new pg.Pool({
  connectionString: installation.environment.ACCORD_DATABASE_URL as string,
  max: 1,
  options: '-c accord.tenant=bench',
});
const leaving = `select to_id as id from accord.relationship r where tenant = 'bench' and from_type = $1 and from_id = $2 and name = $3
  and to_type = 'car' and to_id > $4 and (expires_at is null or expires_at > now()) order by to_id limit ${PAGE}`;
const arriving = `select from_id as id from accord.relationship r where tenant = 'bench' and to_type = 'car' and to_id = $1
  and name = 'drives' and from_type = 'user' and from_id > $2 and (expires_at is null or expires_at > now()) order by from_id limit ${PAGE}`;
const rowsOf = async (name: string, text: string, values: string[]) => (await bare.query({ name, text, values })).rows;

const drive = (user: string) => ({
  subject: { type: 'user', id: user },
  action: { name: 'drive' },
  resource: { type: 'car' },
});
const who = { subject: { type: 'user' }, action: { name: 'drive' }, resource: { type: 'car', id: 'everybody' } };
const second = (await search('resource', drive('rich'))) satisfies Found;
const middle = second.results.at(-1)?.id ?? '';
const cases = [
  {
    name: 'its own, first page',
    ours: () => search('resource', drive('rich')),
    theirs: () => rowsOf('leaving', leaving, ['user', 'rich', 'drives', '']),
  },
  {
    name: 'its own, next page',
    ours: () => search('resource', { ...drive('rich'), page: { token: second.page.next_token } }),
    theirs: () => rowsOf('leaving', leaving, ['user', 'rich', 'drives', middle]),
  },
  {
    name: 'of its group, first page',
    ours: () => search('resource', drive('driver')),
    theirs: () => rowsOf('leaving', leaving, ['group', 'fleet', 'owns', '']),
  },
  {
    name: 'who, first page',
    ours: () => search('subject', who),
    theirs: () => rowsOf('arriving', arriving, ['everybody', '']),
  },
];

const times = cases.map(() => ({ ours: [] as number[], theirs: [] as number[], cpu: [] as number[] }));
async function timed<T>(work: () => Promise<T>): Promise<[number, T]> {
  const started = performance.now();
  const result = await work();
  return [performance.now() - started, result];
}
for (let round = -20; round < ROUNDS; round++) {
  for (const [i, { ours, theirs }] of cases.entries()) {
    const cpu = process.cpuUsage();
    const [ms, found] = await timed(ours);
    const used = process.cpuUsage(cpu);
    const [bareMs, rows] = await timed(theirs);
    const listed = rows.map((row: { id: string }) => row.id).join();
    if (found.results.map((one) => one.id).join() !== listed) throw new Error('the pages differ');
    if (round < 0) continue;
    times[i]?.ours.push(ms);
    times[i]?.theirs.push(bareMs);
    times[i]?.cpu.push((used.user + used.system) / 1000);
  }
}
await admin.end();
await bare.end();
await agent.close();
await app.close();
await installation.close();

const p95 = (values: readonly number[]) => percentile(values, 0.95);
table(
  [`page of ${PAGE} of ${WIDE}, ms`, 'p50', 'p95', 'bare p50', 'bare p95', 'p50 / bare', 'CPU p50'],
  cases.map(({ name }, i) => {
    const { ours, theirs, cpu } = times[i] as (typeof times)[0];
    const figures = [median(ours), p95(ours), median(theirs), p95(theirs), median(ours) / median(theirs), median(cpu)];
    return [name, ...figures.map((value) => value.toFixed(2))];
  }),
);
const [first] = times as [(typeof times)[0]];
target('first page', '≤ 15 ms at p95', `${p95(first.ours).toFixed(1)} ms`, p95(first.ours) <= 15);
console.log(`  ${noise(first.ours.map((value, i) => value / (first.theirs[i] as number)))}`);
