/** A page of 100 by GraphQL over HTTP against the same rows by direct SQL, one request at a time, in turns. */
import pg from 'pg';
import { Pool } from 'undici';
import type { Installation, ServerProcess } from './installation.ts';
import { userId } from './installation.ts';
import { adminToken, DEFINITION, HUB } from './portal-seed.ts';
import { median, noise, table, target } from './report.ts';

const ROUNDS = 5;
const REQUESTS = 100;
const RATIO_MAX = 2.5;

/** Documents of the server, and the columns and the order of each as SQL. */
const documents = [
  {
    name: 'relationshipsTo',
    variables: HUB,
    list: 'allRelationships',
    text: `select from_type, from_id, name, to_type, to_id, expires_at, created_at from accord.relationship
      where tenant = 'bench' and to_type = $1 and to_id = $2 order by from_type, from_id, name, to_type, to_id limit 100`,
    values: [HUB.type, HUB.id],
  },
  {
    name: 'relationshipsFrom',
    variables: { type: 'user', id: userId(7) },
    list: 'allRelationships',
    text: `select from_type, from_id, name, to_type, to_id, expires_at, created_at from accord.relationship
      where tenant = 'bench' and from_type = $1 and from_id = $2 order by from_type, from_id, name, to_type, to_id limit 100`,
    values: ['user', userId(7)],
  },
  {
    name: 'consentsOfDefinition',
    variables: { definition: DEFINITION },
    list: 'allConsents',
    text: `select id, user_id, version, document, language, given_at from accord.user_consent
      where tenant = 'bench' and definition = $1 order by id desc limit 100`,
    values: [DEFINITION],
  },
  {
    name: 'ledger',
    variables: {},
    list: 'allLedgerEntries',
    text: `select time, id, sequence, type, name, version, outcome, user_id, actor_type, actor_id, request_id from accord.ledger_entry
      where tenant = 'bench' order by time desc, id desc limit 100`,
    values: [],
  },
  {
    name: 'decisions',
    variables: {},
    list: 'allDecisions',
    text: `select at, id, action, answer ->> 'outcome', answer ->> 'reason', caller, request #>> '{subject,type}', request #>> '{subject,id}',
        request #>> '{resource,type}', request #>> '{resource,id}', policy_number, request_id from accord.decision
      where tenant = 'bench' order by at desc, id desc limit 100`,
    values: [],
  },
];

/** Of each request of a round, ms. */
async function timed(ask: () => Promise<number>, expected: number): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < REQUESTS; i++) {
    const started = performance.now();
    const count = await ask();
    times.push(performance.now() - started);
    if (count !== expected) throw new Error(`${count} rows instead of ${expected}`);
  }
  return median(times);
}

export async function measureGraphql(installation: Installation, server: ServerProcess): Promise<void> {
  const { ACCORD_DATABASE_URL: connectionString } = installation.environment;
  const client = new pg.Client({ connectionString, options: '-c accord.tenant=bench' });
  await client.connect();
  try {
    await compare(installation, server, client);
  } finally {
    await client.end();
  }
}

async function compare(installation: Installation, server: ServerProcess, client: pg.Client): Promise<void> {
  const token = await adminToken(installation, 'bench');
  const pool = new Pool(`http://127.0.0.1:${server.port}`, { connections: 1 });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const ratios: number[] = [];
  const lines: (string | number)[][] = [];
  for (const { name, variables, list, text, values } of documents) {
    const body = JSON.stringify({ document: name, variables });
    const byGraphql = async () => {
      const answered = await pool.request({ method: 'POST', path: '/tenants/bench/graphql', headers, body });
      if (answered.statusCode !== 200) throw new Error(`${answered.statusCode}: ${await answered.body.text()}`);
      const { data } = (await answered.body.json()) as { data: Record<string, { nodes: object[] }> };
      return data[list]?.nodes.length ?? 0;
    };
    const bySql = async () => (await client.query({ name, text, values })).rows.length;
    const expected = await bySql();
    await timed(byGraphql, expected);
    const rounds: { graphql: number; sql: number }[] = [];
    for (let round = 0; round < ROUNDS; round++)
      rounds.push({ graphql: await timed(byGraphql, expected), sql: await timed(bySql, expected) });
    const each = rounds.map(({ graphql, sql }) => graphql / sql);
    ratios.push(...each);
    lines.push([
      ...[name, expected, median(rounds.map((one) => one.graphql)).toFixed(2)],
      ...[median(rounds.map((one) => one.sql)).toFixed(2), median(each).toFixed(2)],
    ]);
  }
  table(['document', 'rows', 'GraphQL ms', 'SQL ms', 'ratio'], lines);
  const ratio = median(ratios);
  target('a page of GraphQL', `≤ ${RATIO_MAX} times direct SQL`, ratio.toFixed(2), ratio <= RATIO_MAX);
  console.log(noise(ratios));
  await pool.close();
}
