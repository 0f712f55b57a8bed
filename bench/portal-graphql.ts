/**
 * A page of 100 by GraphQL against the same rows by direct SQL, both over HTTP and under row-level security (portal-sql.ts), one
 * request at a time, in turns; and what the statement alone takes.
 */
import pg from 'pg';
import { Pool } from 'undici';
import { type Installation, type ServerProcess, startProcess, userId } from './installation.ts';
import { adminToken, DEFINITION, HUB } from './portal-seed.ts';
import { median, noise, table, target } from './report.ts';

const ROUNDS = 5;
const REQUESTS = 100;
const RATIO_MAX = 2.5;

/** Documents of the server, and each as SQL; one row more than a page, which tells whether there is another. */
const documents = [
  {
    name: 'relationshipsTo',
    variables: HUB,
    list: 'allRelationships',
    text: `select from_type as "fromType", from_id as "fromId", relationship, to_type as "toType", to_id as "toId",
        expires_at as "expiresAt", created_at as "createdAt"
      from graphql.relationship where to_type = $1 and to_id = $2
      order by from_type, from_id, relationship, to_type, to_id limit 101`,
    values: [HUB.type, HUB.id],
  },
  {
    name: 'relationshipsFrom',
    variables: { type: 'user', id: userId(7) },
    list: 'allRelationships',
    text: `select from_type as "fromType", from_id as "fromId", relationship, to_type as "toType", to_id as "toId",
        expires_at as "expiresAt", created_at as "createdAt"
      from graphql.relationship where from_type = $1 and from_id = $2
      order by from_type, from_id, relationship, to_type, to_id limit 101`,
    values: ['user', userId(7)],
  },
  {
    name: 'consentsOfDefinition',
    variables: { definition: DEFINITION },
    list: 'allConsents',
    text: `select id, user_id as "userId", version, document, language, given_at as "givenAt"
      from graphql.consent where definition = $1 order by id desc limit 101`,
    values: [DEFINITION],
  },
  {
    name: 'ledger',
    variables: {},
    list: 'allLedgerEntries',
    text: `select time, id, sequence, type, definition, version, outcome, user_id as "userId", actor_type as "actorType",
        actor_id as "actorId", request_id as "requestId"
      from graphql.ledger_entry order by time desc, id desc limit 101`,
    values: [],
  },
  {
    name: 'decisions',
    variables: {},
    list: 'allDecisions',
    text: `select at, id, action, outcome, reason, caller, subject_type as "subjectType", subject_id as "subjectId",
        resource_type as "resourceType", resource_id as "resourceId", policy_revision as "policyRevision", request_id as "requestId"
      from graphql.decision order by at desc, id desc limit 101`,
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
  const bare = await startProcess('bare-sql', installation.environment, 0);
  const { ACCORD_DATABASE_URL: connectionString } = installation.environment;
  const options = '-c accord.tenant=bench -c role=accord_reader_admin';
  const client = new pg.Client({ connectionString, options });
  await client.connect();
  try {
    await compare(installation, server, bare, client);
  } finally {
    await client.end();
    await bare.stop();
  }
}

type Page = { nodes: object[] };

/** @throws Error with what was answered, where it is not an answer */
async function post(pool: Pool, path: string, headers: Record<string, string>, body: string) {
  const json = { ...headers, 'content-type': 'application/json' };
  const answered = await pool.request({ method: 'POST', path, headers: json, body });
  if (answered.statusCode !== 200) throw new Error(`${answered.statusCode}: ${await answered.body.text()}`);
  return ((await answered.body.json()) as { data: unknown }).data;
}

async function compare(installation: Installation, server: ServerProcess, bare: ServerProcess, client: pg.Client) {
  const token = { authorization: `Bearer ${await adminToken(installation, 'bench')}` };
  const [ours, direct] = [server, bare].map(({ port }) => new Pool(`http://127.0.0.1:${port}`, { connections: 1 }));
  await Promise.all([server.profile(), bare.profile()]);
  const ratios: number[] = [];
  const lines: (string | number)[][] = [];
  for (const { name, variables, list, text, values } of documents) {
    const asked = JSON.stringify({ document: name, variables });
    const statement = JSON.stringify({ text, values });
    const byGraphql = async () => {
      const data = await post(ours as Pool, '/tenants/bench/graphql', token, asked);
      return (data as Record<string, Page>)[list]?.nodes.length ?? 0;
    };
    const bySql = async () => ((await post(direct as Pool, '/', {}, statement)) as Page).nodes.length;
    const alone = async () => Math.min(100, (await client.query({ text, values })).rows.length);
    const expected = await alone();
    await timed(byGraphql, expected);
    await timed(bySql, expected);
    const rounds: { graphql: number; sql: number; alone: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      rounds.push({
        graphql: await timed(byGraphql, expected),
        sql: await timed(bySql, expected),
        alone: await timed(alone, expected),
      });
    }
    const each = rounds.map(({ graphql, sql }) => graphql / sql);
    ratios.push(...each);
    const times = (['graphql', 'sql', 'alone'] as const).map((key) => median(rounds.map((one) => one[key])).toFixed(2));
    lines.push([name, expected, ...times, median(each).toFixed(2)]);
  }
  table(['document', 'rows', 'GraphQL ms', 'SQL ms', 'its statement ms', 'ratio'], lines);
  const ratio = median(ratios);
  target('a page of GraphQL', `≤ ${RATIO_MAX} times direct SQL`, ratio.toFixed(2), ratio <= RATIO_MAX);
  console.log(noise(ratios));
  await Promise.all([ours?.close(), direct?.close()]);
}
