/**
 * Measures relationships as they are: importing them (lines of JSON, checked, in batches under row-level security) against
 * a bare insert-select into the same table without it; and gathering the facts of a decision (20 relationships with their
 * attributes) against the same rows read by bare `pg`, one at a time and 64 at once.
 */
import { Readable } from 'node:stream';
import pg from 'pg';
import { GraphReader, importRelationships } from '../server/relationships/index.ts';
import { putEntityType, putRelationshipType } from '../server/types/index.ts';
import { createInstallation, writer } from './installation.ts';
import { median, noise, table, target } from './report.ts';

const ROWS = Number(process.argv[2] ?? 200_000);
const OF_EACH = 20;
const SUBJECTS = Math.floor(ROWS / OF_EACH);
const ROUNDS = 20;

const installation = await createInstallation({ durable: false });
const { services } = installation;
await installation.tenant('bench');
const { types } = services;
await putEntityType(types, writer, 'bench', { kind: 'actor', name: 'user', spec: {} });
const color = { attributes: { color: { type: 'string', required: false } } } as const;
await putEntityType(types, writer, 'bench', { kind: 'resource', name: 'car', spec: color });
await putRelationshipType(types, writer, 'bench', { from: 'user', name: 'drives', to: 'car' }, {});
await services.snapshots.refresh('bench');
const admin = new pg.Client({ connectionString: installation.adminUrl });
await admin.connect();

const userOf = (n: number) => `auth0|5f7c8ec7c33c6c00${String(n).padStart(8, '0')}`;
const carOf = (n: number) => `0195b3c2-8d5e-7c1a-9f00-${String(n).padStart(12, '0')}`;

async function* lines(): AsyncGenerator<Buffer> {
  for (let at = 0; at < ROWS; at += 1000) {
    let text = '';
    for (let i = at; i < Math.min(ROWS, at + 1000); i++) {
      const [from, to] = [userOf(i % SUBJECTS), carOf((i * 7919) % ROWS)];
      text += `{"from":{"type":"user","id":"${from}"},"relationshipType":"drives","to":{"type":"car","id":"${to}"}}\n`;
    }
    yield Buffer.from(text);
  }
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

const columns = 'from_type, from_id, name, to_type, to_id';

async function measureImport(): Promise<{ ours: number; bare: number }> {
  const record = { tenant: 'bench', by: { actor: 'bench' } };
  const ours = await seconds(() =>
    importRelationships(services.relationships, record, { id: 'one', firstLine: 1 }, Readable.from(lines())),
  );
  await admin.query(
    `create table staging as select ${columns}, expires_at from accord.relationship order by md5(from_id || to_id)`,
  );
  await admin.query('create table bare (like accord.relationship including all)');
  const bare = await seconds(() =>
    admin.query(
      `insert into bare (tenant, ${columns}, expires_at) select 'bench', ${columns}, expires_at from staging on conflict do nothing`,
    ),
  );
  return { ours, bare };
}

async function measureFacts(): Promise<Record<'one' | 'many', { ours: number[]; bare: number[] }>> {
  await admin.query(`insert into accord.entity (tenant, type, id, attributes)
    select distinct on (to_id) 'bench', 'car', to_id, '{"color": "red"}'::jsonb from accord.relationship where random() < 0.1`);
  await admin.query('vacuum analyze accord.relationship');
  await admin.query('vacuum analyze accord.entity');
  const source = new GraphReader(services.database);
  const pool = new pg.Pool({
    connectionString: installation.environment.ACCORD_DATABASE_URL,
    max: 2,
    options: '-c accord.tenant=bench',
  });
  const text = `select r.name, r.to_type, r.to_id, t.attributes from accord.relationship r
    left join accord.entity t on t.tenant = 'bench' and t.type = r.to_type and t.id = r.to_id
    where r.tenant = 'bench' and r.from_type = $1 and r.from_id = $2 and (r.expires_at is null or r.expires_at > $3)`;
  const snapshot = services.snapshots.get('bench');
  if (snapshot === undefined) throw new Error('not served');
  const needed = {
    subject: true,
    resource: false,
    subjectAttributes: false,
    resourceAttributes: false,
  };
  const ours = async (n: number) => {
    const subject = { type: 'user', id: userOf(n % SUBJECTS) };
    const question = { tenant: 'bench', types: snapshot.types, subject, resource: {}, needed, now: Date.now() };
    return (await source.read(question)).graph.subject.length;
  };
  const bare = async (n: number) =>
    (await pool.query({ name: 'bare', text, values: ['user', userOf(n % SUBJECTS), new Date().toISOString()] })).rows
      .length;
  const result = {
    one: { ours: [] as number[], bare: [] as number[] },
    many: { ours: [] as number[], bare: [] as number[] },
  };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [way, ask] of [
      ['ours', ours],
      ['bare', bare],
    ] as const) {
      const one = await seconds(async () => {
        for (let i = 0; i < 50; i++) if ((await ask(round * 997 + i * 31)) !== OF_EACH) throw new Error('wrong facts');
      });
      const many = await seconds(async () => {
        for (let i = 0; i < 5; i++)
          await Promise.all(Array.from({ length: 64 }, (_, n) => ask(round * 997 + i * 64 + n)));
      });
      if (round === 0) continue;
      result.one[way].push((one / 50) * 1000);
      result.many[way].push((many / 320) * 1000);
    }
  }
  await pool.end();
  return result;
}

const imported = await measureImport();
const facts = await measureFacts();
await admin.end();
await installation.close();

const ratio = (a: number[], b: number[]) => median(a.map((value, i) => value / (b[i] as number)));
const speed = (s: number) => Math.round(ROWS / s).toLocaleString('en');
table(
  [`${ROWS} relationships`, 'ours', 'bare', 'ours / bare'],
  [
    ['import, a second', speed(imported.ours), speed(imported.bare), (imported.bare / imported.ours).toFixed(2)],
    [
      'facts of 20, one at a time, ms',
      median(facts.one.ours).toFixed(3),
      median(facts.one.bare).toFixed(3),
      ratio(facts.one.ours, facts.one.bare).toFixed(2),
    ],
    [
      'facts of 20, 64 at once, ms each',
      median(facts.many.ours).toFixed(3),
      median(facts.many.bare).toFixed(3),
      ratio(facts.many.ours, facts.many.bare).toFixed(2),
    ],
  ],
);
target(
  'import',
  '≥ 0.60 of the bare insert-select',
  (imported.bare / imported.ours).toFixed(2),
  imported.bare / imported.ours >= 0.6,
);
console.log(`  ${noise(facts.many.ours.map((value, i) => value / (facts.many.bare[i] as number)))}`);
