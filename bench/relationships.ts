/**
 * Measures how relationships are best stored: identifiers as texts in every key, or interned (a table of entities, and
 * numbers in the keys). A million sharing-shaped rows, both layouts filled from the same staging table on one Postgres:
 * size, speed of the insert-select, and the reading that a decision makes, at one subject and at 32 in one query.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../server/embedded/postgres.ts';
import { median, noise, table } from './report.ts';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const USERS = Math.floor(ROWS / 5);
const ROUNDS = 30;

const directory = await mkdtemp(join(tmpdir(), 'accord-bench-'));
const postgres = await startPostgres(directory, { durable: false });
const client = new pg.Client({ connectionString: postgres.adminUrl('postgres') });
await client.connect();
const query = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows;

/** Ids as providers make them: `auth0|` and 24 hexadecimal digits; cars have UUIDs. */
const userId = (n: string) => `'auth0|' || substr(md5('u' || (${n})), 1, 24)`;
const carId = (n: string) => `md5('c' || (${n}))::uuid::text`;
const groupId = (n: string) => `'group-' || (${n})`;

async function stage(): Promise<void> {
  await query(`create table staging (from_type text collate "C", from_id text collate "C", name text collate "C",
    to_type text collate "C", to_id text collate "C", expires_at timestamptz)`);
  const soon = "case when random() < 0.1 then now() + interval '1 day' end";
  const cars = Math.floor(ROWS * 0.2);
  await query(`insert into staging select 'user', ${userId('n')}, 'owns', 'car', ${carId('n')}, null
    from generate_series(1, ${cars}) n`);
  // Every hundredth user drives 20 cars, the others 2 or 3.
  await query(`insert into staging select distinct on (1, 2, 3, 4, 5) 'user', ${userId('u')}, 'drives', 'car',
      ${carId(`1 + (hashint8(n::bigint * 7919)::bigint & 1073741823) % ${cars}`)}, ${soon}
    from (select n, case when n % 5 = 0 then 100 * (1 + n % ${Math.max(1, Math.floor(USERS / 100))}) else 1 + n % ${USERS} end as u
      from generate_series(1, ${Math.floor(ROWS * 0.6)}) n) drives`);
  // One group in a thousand is very wide.
  await query(`insert into staging select distinct on (1, 2, 3, 4, 5) 'user', ${userId(`1 + n % ${USERS}`)}, 'member_of', 'group',
      ${groupId(`case when n % 4 = 0 then n % 3 else n % ${Math.max(4, Math.floor(ROWS / 500))} end`)}, null
    from generate_series(1, ${Math.floor(ROWS * 0.19)}) n`);
  await query(`insert into staging select 'group', ${groupId('n')}, 'owns', 'car', ${carId('n')}, null
    from generate_series(1, ${Math.floor(ROWS * 0.01)}) n`);
  await query('analyze staging');
}

const layouts = {
  text: {
    tables: ['rel_text', 'entity_text'],
    create: `create table rel_text (tenant text collate "C", from_type text collate "C", from_id text collate "C", name text collate "C",
        to_type text collate "C", to_id text collate "C", expires_at timestamptz, created_at timestamptz not null default now(),
        primary key (tenant, from_type, from_id, name, to_type, to_id));
      create index on rel_text (tenant, to_type, to_id, name, from_type, from_id);
      create table entity_text (tenant text collate "C", type text collate "C", id text collate "C", attributes jsonb not null,
        primary key (tenant, type, id))`,
    fill: `insert into rel_text select 'carshare', from_type, from_id, name, to_type, to_id, expires_at from staging
      on conflict do nothing`,
    entities: `insert into entity_text select 'carshare', 'car', ${carId('n')}, '{"color": "red"}'
      from generate_series(1, ${Math.floor(ROWS * 0.02)}) n`,
    read: `select q.n, r.name, r.to_type, r.to_id, t.attributes
      from unnest($1::text[]) with ordinality q (id, n)
      join rel_text r on r.tenant = 'carshare' and r.from_type = 'user' and r.from_id = q.id
        and (r.expires_at is null or r.expires_at > $2)
      left join entity_text t on t.tenant = 'carshare' and t.type = r.to_type and t.id = r.to_id`,
  },
  interned: {
    tables: ['rel_key', 'entity_key', 'kind_key'],
    create: `create table entity_key (tenant text collate "C", key bigint generated always as identity, type text collate "C",
        id text collate "C", attributes jsonb, primary key (tenant, key), unique (tenant, type, id));
      create table kind_key (tenant text collate "C", key integer generated always as identity, from_type text, name text, to_type text,
        primary key (tenant, key));
      create table rel_key (tenant text collate "C", from_key bigint, kind integer, to_key bigint, expires_at timestamptz,
        created_at timestamptz not null default now(), primary key (tenant, from_key, kind, to_key));
      create index on rel_key (tenant, to_key, kind, from_key);
      insert into kind_key (tenant, from_type, name, to_type) values ('carshare', 'user', 'owns', 'car'),
        ('carshare', 'user', 'drives', 'car'), ('carshare', 'user', 'member_of', 'group'), ('carshare', 'group', 'owns', 'car')`,
    fill: `with ends as (select from_type as type, from_id as id from staging union select to_type, to_id from staging),
        made as (insert into entity_key (tenant, type, id) select 'carshare', type, id from ends
          on conflict do nothing returning key, type, id)
      insert into rel_key (tenant, from_key, kind, to_key, expires_at)
      select 'carshare', f.key, k.key, t.key, s.expires_at from staging s
        join made f on f.type = s.from_type and f.id = s.from_id
        join made t on t.type = s.to_type and t.id = s.to_id
        join kind_key k on k.from_type = s.from_type and k.name = s.name and k.to_type = s.to_type
      on conflict do nothing`,
    entities: `update entity_key set attributes = '{"color": "red"}' where tenant = 'carshare' and type = 'car'
      and id in (select ${carId('n')} from generate_series(1, ${Math.floor(ROWS * 0.02)}) n)`,
    read: `select q.n, k.name, t.type as to_type, t.id as to_id, t.attributes
      from unnest($1::text[]) with ordinality q (id, n)
      join entity_key f on f.tenant = 'carshare' and f.type = 'user' and f.id = q.id
      join rel_key r on r.tenant = 'carshare' and r.from_key = f.key and (r.expires_at is null or r.expires_at > $2)
      join kind_key k on k.tenant = 'carshare' and k.key = r.kind
      join entity_key t on t.tenant = 'carshare' and t.key = r.to_key`,
  },
} as const;
type Name = keyof typeof layouts;
const names = Object.keys(layouts) as Name[];

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

async function fill(name: Name): Promise<{ insertMs: number; bytes: number }> {
  const layout = layouts[name];
  for (const statement of layout.create.split(';')) await query(statement);
  const insertMs = await timed(() => query(layout.fill));
  await query(layout.entities);
  for (const one of layout.tables) await query(`vacuum analyze ${one}`);
  const sizes = await query(
    'select sum(pg_total_relation_size(t::regclass))::float8 as bytes from unnest($1::text[]) t',
    [layout.tables],
  );
  return { insertMs, bytes: sizes[0].bytes };
}

/** Milliseconds of one reading of so many subjects, in rounds that take turns. */
async function read(subjects: number): Promise<Record<Name, number[]>> {
  const ms: Record<Name, number[]> = { text: [], interned: [] };
  const ids = (await query(
    `select from_id from staging where from_type = 'user' group by from_id having count(*) between 15 and 25 limit 2000`,
  )) as { from_id: string }[];
  const counts: Record<Name, number> = { text: 0, interned: 0 };
  const now = new Date().toISOString();
  for (let round = 0; round <= ROUNDS; round++) {
    for (const name of names) {
      const calls = subjects === 1 ? 100 : 20;
      const each = await timed(async () => {
        for (let i = 0; i < calls; i++) {
          const some = Array.from(
            { length: subjects },
            (_, n) => ids[(round * 131 + i * 17 + n * 7) % ids.length]?.from_id,
          );
          const result = await client.query({
            name: `${name}-${subjects}`,
            text: layouts[name].read,
            values: [some, now],
          });
          counts[name] += result.rows.length;
        }
      });
      if (round > 0) ms[name].push(each / calls);
    }
  }
  if (counts.text !== counts.interned) throw new Error(`the layouts disagree: ${JSON.stringify(counts)}`);
  return ms;
}

await stage();
const [{ count }] = (await query('select count(*)::int as count from staging')) as [{ count: number }];
const filled = { text: await fill('text'), interned: await fill('interned') };
const one = await read(1);
const many = await read(32);
await client.end();
await postgres.stop();
await rm(directory, { recursive: true, force: true });

const ratio = (a: number[], b: number[]) => median(a.map((value, i) => value / (b[i] as number)));
const { text, interned } = filled;
table(
  [`${count} relationships`, 'text', 'interned', 'interned / text'],
  [
    [
      'bytes a relationship, indexes and entities',
      ...[text.bytes, interned.bytes].map((b) => Math.round(b / count)),
      (interned.bytes / text.bytes).toFixed(2),
    ],
    [
      'insert-select, s',
      ...[text, interned].map((f) => (f.insertMs / 1000).toFixed(1)),
      (interned.insertMs / text.insertMs).toFixed(2),
    ],
    [
      'one subject of 20, ms',
      median(one.text).toFixed(3),
      median(one.interned).toFixed(3),
      ratio(one.interned, one.text).toFixed(2),
    ],
    [
      '32 subjects, ms',
      median(many.text).toFixed(2),
      median(many.interned).toFixed(2),
      ratio(many.interned, many.text).toFixed(2),
    ],
  ],
);
console.log(`  ${noise(one.interned.map((value, i) => value / (one.text[i] as number)))}`);
