/**
 * Measures what a decision costs the server and Postgres, beside the relationships of a tenant and many other tenants: by a policy
 * of 20 rules that reads no records, and by one that looks for one relationship of the subject. Everything that runs by itself
 * meanwhile is in it. `--other DIRECTORY`: another checkout in turns with this one (checkouts.ts).
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { inTurns, type Load, postgresCpu, postmasterOf } from './checkouts.ts';
import { type Connection, closedLoop, openConnections, prepare, type Request } from './load.ts';

const { values } = parseArgs({
  options: {
    ...{ other: { type: 'string' }, measure: { type: 'string' } },
    ...{ rows: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '5' } },
  },
});
const ROWS = Number(values.rows);
const TENANTS = 40;
const OF_EACH = 20;
const CONNECTIONS = 16;
const WARM_MS = 3000;
const MEASURED_MS = 8000;
const kinds = [
  'without records, CPU of Postgres, us',
  'without records, CPU of the server, us',
  'without records, requests a second',
  'with records, CPU of Postgres, us',
  'with records, CPU of the server, us',
  'with records, requests a second',
] as const;
type Measured = Record<(typeof kinds)[number], number>;

const rules = Array.from(
  { length: 20 },
  (_, i) => `outcome := "allow" if { input.subject.level == ${i}; input.resource.kind == "kind-${i}" }`,
);
const without = `package p\ndefault outcome := "deny"\n${rules.join('\n')}`;
const within = `package p
default outcome := "deny"
outcome := "allow" if {
  some one in input.graph.subject
  one.relationshipType == "drives"
  one.to.type == "car"
  one.to.id == input.resource.id
}`;

async function measure(load: Load): Promise<Measured> {
  const { createInstallation, startProcess, writer } = await load('bench/installation.ts');
  // A checkout from before entities had that name has putThingType.
  const { putRelationshipType, putThingType, putEntityType = putThingType } = await load('server/types/index.ts');
  const { putPolicy } = await load('server/policies/index.ts');
  const { mintClientToken } = await load('server/keys/index.ts');
  const installation = await createInstallation({ durable: true });
  const { services } = installation;
  for (let n = 0; n < TENANTS; n++) await installation.tenant(n === 0 ? 'bench' : `other-${n}`);
  const kindsOf = { actor: 'user', resource: 'car' };
  for (const [kind, name] of Object.entries(kindsOf))
    await putEntityType(services.types, writer, 'bench', { kind, name, spec: {} });
  await putRelationshipType(services.types, writer, 'bench', { from: 'user', name: 'drives', to: 'car' }, {});
  await putPolicy(services.policies, writer, 'bench', 'car:without', { rego: without });
  await putPolicy(services.policies, writer, 'bench', 'car:within', { rego: within });
  const admin = new pg.Client({ connectionString: installation.adminUrl });
  await admin.connect();
  await admin.query(`insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id)
    select 'bench', 'user', 'user-' || n / ${OF_EACH}, 'drives', 'car', 'car-' || n from generate_series(0, ${ROWS - 1}) n`);
  await admin.query('vacuum analyze accord.relationship');
  // A checkout from before rooms created their services has `mint`.
  const { token } = await mintClientToken(services.mint ?? services.keys, 'bench', {
    clientId: 'backend',
    scopes: ['authz:evaluate'],
  });
  const postmaster = await postmasterOf(admin);
  const server = await startProcess('accord', installation.environment, 0);
  const connections: Connection[] = await openConnections(server.port, CONNECTIONS);
  const questions = (action: string): Request[] =>
    Array.from({ length: 1000 }, (_, i) => {
      const car = (i * 7919) % ROWS;
      const subject = { type: 'user', id: `user-${Math.floor(car / OF_EACH)}`, level: i % 20 };
      return prepare('/authz/bench', token, {
        ...{ action, subject, resource: { type: 'car', id: `car-${car}`, kind: `kind-${i % 20}` } },
      });
    });
  const costs = async (action: string) => {
    const list = questions(action);
    const answer = await connections[0]?.ask(list[0] as Request);
    if (!answer?.body.includes('"outcome":"allow"')) throw new Error(`${action}: ${answer?.body}`);
    await closedLoop(connections, list, WARM_MS);
    const [before, postgresBefore] = [await server.usage(), postgresCpu(postmaster)];
    const { answered, failed, seconds } = await closedLoop(connections, list, MEASURED_MS);
    if (failed > 0) throw new Error(`${failed} requests failed`);
    const postgres = ((postgresCpu(postmaster) - postgresBefore) * 1e6) / answered;
    return { postgres, server: ((await server.usage()).cpuUs - before.cpuUs) / answered, rate: answered / seconds };
  };
  const [plain, recorded] = [await costs('car:without'), await costs('car:within')];
  for (const connection of connections) connection.close();
  await server.stop();
  await admin.end();
  await installation.close();
  return {
    'without records, CPU of Postgres, us': plain.postgres,
    'without records, CPU of the server, us': plain.server,
    'without records, requests a second': plain.rate,
    'with records, CPU of Postgres, us': recorded.postgres,
    'with records, CPU of the server, us': recorded.server,
    'with records, requests a second': recorded.rate,
  };
}

await inTurns(
  {
    ...{ file: import.meta.filename, args: ['--rows', values.rows], other: values.other, measure: values.measure },
    ...{ rounds: Number(values.rounds), kinds },
    bounded: [
      'without records, CPU of the server, us',
      'with records, CPU of the server, us',
      'with records, CPU of Postgres, us',
    ],
  },
  measure,
);
