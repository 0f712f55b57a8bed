/**
 * Measures what a decision costs, server and Postgres together, by the way in which its policy is written: two rules that compare
 * with `==`, and the memberships, functions and comprehensions that stand for the same. A million relationships; each subject has
 * 20 cars of its own and is in a chain of nested groups that has cars, too.
 */
import { readFileSync } from 'node:fs';
import { mintClientToken } from '../server/keys/index.ts';
import { putPolicy } from '../server/policies/index.ts';
import {
  createInstallation,
  fillRelationships,
  pinToCore1,
  putTypes,
  startProcess,
  through,
  userId,
  userIdSql,
  writer,
} from './installation.ts';
import { closedLoop, openConnections, prepare, type Request } from './load.ts';
import { median, noise, table, target } from './report.ts';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const ROUNDS = Number(process.argv[3] ?? 10);
const ROUND_MS = 500;
const CONNECTIONS = 32;
const OF_EACH = 20;
const GROUPS = 1000;
const PROBES = 2000;
/** Of /proc/PID/stat. */
const TICK_US = 10_000;

pinToCore1();
const installation = await createInstallation({ durable: false, first: true });
const { services } = installation;
await installation.tenant('bench');
const related = await putTypes(installation, 'bench', { actor: ['user', 'group'], resource: ['car'] });
await related('group', 'part_of', 'group');
await related('user', 'member_of', 'group', through('user:member_of:group', 'group:part_of:group'));
for (const name of ['owner', 'co_admin']) {
  await related('group', name, 'car');
  await related('user', name, 'car', through('user:member_of:group', `group:${name}:car`));
}

const HEAD = 'package bench\ndefault outcome := "deny"\n';
const SUBJECT = 'some r in input.graph.subject';
const TO_RESOURCE = 'r.to.type == "car"; r.to.id == input.resource.id';
const forms = {
  'two rules with ==': `outcome := "allow" if {${SUBJECT}; r.type == "owner"; ${TO_RESOURCE}}
outcome := "allow" if {${SUBJECT}; r.type == "co_admin"; ${TO_RESOURCE}}`,
  'a literal set': `outcome := "allow" if {${SUBJECT}; r.type in {"owner", "co_admin"}; ${TO_RESOURCE}}`,
  'a rule that is a set': `sharing := {"owner", "co_admin"}
outcome := "allow" if {${SUBJECT}; r.type in sharing; ${TO_RESOURCE}}`,
  'a function': `to_resource(r) if {${TO_RESOURCE}}
outcome := "allow" if {${SUBJECT}; to_resource(r); r.type == "owner"}
outcome := "allow" if {${SUBJECT}; to_resource(r); r.type == "co_admin"}`,
  'a comprehension': `outcome := "allow" if input.resource.id in {r.to.id | ${SUBJECT}; r.type in {"owner", "co_admin"}; r.to.type == "car"}`,
  'all relationships': `outcome := "allow" if {${SUBJECT}; startswith(r.type, "owner"); ${TO_RESOURCE}}
outcome := "allow" if {${SUBJECT}; startswith(r.type, "co_admin"); ${TO_RESOURCE}}
reason := "many" if count(input.graph.subject) > 100000`,
} as const;
const names = Object.keys(forms) as (keyof typeof forms)[];
for (const [i, name] of names.entries())
  await putPolicy(services.policies, writer, 'bench', `car:use${i}`, { rego: HEAD + forms[name] });

const { admin, insert, analyze } = await fillRelationships(installation, 'bench');
const subjects = Math.floor(ROWS / (OF_EACH + 1));
await insert(`'user', ${userIdSql(`n / ${OF_EACH}`)}, case n % 2 when 0 then 'owner' else 'co_admin' end, 'car', 'car-' || n
  from generate_series(0, ${subjects * OF_EACH - 1}) n`);
await insert(`'user', ${userIdSql('n')}, 'member_of', 'group', 'g' || n % ${GROUPS}
  from generate_series(0, ${subjects - 1}) n`);
// Chains of five groups, each with 20 cars.
await insert(
  `'group', 'g' || n, 'part_of', 'group', 'g' || n + 1 from generate_series(0, ${GROUPS - 2}) n where n % 5 < 4`,
);
await insert(`'group', 'g' || n % ${GROUPS}, 'owner', 'car', 'shared-' || n
  from generate_series(0, ${GROUPS * OF_EACH - 1}) n`);
await analyze();

const { token } = await mintClientToken(services.keys, 'bench', { clientId: 'backend', scopes: ['authz:evaluate'] });
/** Every other one is a deny. */
const requestsOf = (policy: number): Request[] =>
  Array.from({ length: PROBES }, (_, i) => {
    const subject = (i * 7919) % subjects;
    const car = OF_EACH * subject + (i % OF_EACH) + (i % 2) * OF_EACH * 3;
    return prepare('/authz/bench', token, {
      action: `car:use${policy}`,
      subject: { type: 'user', id: userId(subject) },
      resource: { type: 'car', id: `car-${car}` },
    });
  });

/** CPU of all backends, us. */
async function postgresCpu(): Promise<number> {
  const { rows } = await admin.query<{ pid: number }>('select pid from pg_stat_activity where pid <> pg_backend_pid()');
  const ticks = rows.map(({ pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, one) => sum + one, 0) * TICK_US;
}

const server = await startProcess('accord', installation.environment, 0);
const connections = await openConnections(server.port, CONNECTIONS);
const requests = names.map((_, i) => requestsOf(i));
for (const [i, list] of requests.entries()) {
  const answer = await connections[0]?.ask(list[0] as Request);
  if (!answer?.body.includes('"outcome":"allow"')) throw new Error(`${names[i]}: ${answer?.body}`);
}
for (const list of requests) await closedLoop(connections, list, 2000);

const measured = names.map(() => ({ server: [] as number[], postgres: [] as number[], rps: [] as number[] }));
for (let round = 0; round < ROUNDS; round++) {
  for (const [i, list] of requests.entries()) {
    const [before, beforePostgres] = [await server.usage(), await postgresCpu()];
    const { answered, failed, seconds } = await closedLoop(connections, list, ROUND_MS);
    const [after, afterPostgres] = [await server.usage(), await postgresCpu()];
    if (failed > 0) throw new Error(`${failed} requests failed`);
    measured[i]?.server.push((after.cpuUs - before.cpuUs) / answered);
    measured[i]?.postgres.push((afterPostgres - beforePostgres) / answered);
    measured[i]?.rps.push(answered / seconds);
  }
}
for (const connection of connections) connection.close();
await server.stop();
await admin.end();
await installation.close();

table(
  [`${ROWS.toLocaleString('en')} relationships`, 'requests/s', 'server µs', 'Postgres µs'],
  names.map((name, i) => {
    const one = measured[i] as (typeof measured)[number];
    return [name, median(one.rps).toFixed(0), median(one.server).toFixed(1), median(one.postgres).toFixed(1)];
  }),
);
const [twin, ...others] = measured.map((one) => one.server.map((us, round) => us + (one.postgres[round] as number)));
for (const [i, other] of others.entries()) {
  const ratios = other.map((us, round) => us / (twin?.[round] as number));
  const name = names[i + 1] as string;
  if (name === 'all relationships') console.log(`${name}: ${median(ratios).toFixed(2)} times two rules with ==`);
  else
    target(
      `CPU of a decision by ${name}`,
      '≤ 1.2 times two rules with ==',
      median(ratios).toFixed(2),
      median(ratios) <= 1.2,
    );
  console.log(`  ${noise(ratios)}`);
}
