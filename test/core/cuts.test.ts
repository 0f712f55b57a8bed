/**
 * Every statement that takes some rows of many takes the same ones whatever plan Postgres chooses: it has an order, which has a
 * unique key. The exceptions are in statements/exceptions.ts. Of joins, lists and queries in `from` it is seen only that the order
 * has a column of some unique key; nothing is seen of a column or an order that is only known at run time, of GraphQL's statements,
 * which its library orders by keys, and of what is cut after it was read.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { asAdmin } from '../helpers/admin.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { type Cut, cutsOf } from './statements/cuts.ts';
import { exceptions } from './statements/exceptions.ts';
import { placeOf, Reader, type Statement } from './statements/templates.ts';

const root = join(import.meta.dirname, '../..');
const db = await createTestDatabase();
const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', 'server', 'operator', 'cli'],
  {
    cwd: root,
    encoding: 'utf8',
  },
).split('\n');

const typescript = files.filter((file) => file.endsWith('.ts'));

/** Statements with each part once: a template that others are made of is judged where it is used. */
function* statements(): Generator<Statement> {
  const readers = [new Reader(root, 0), new Reader(root, 1)];
  const read = readers.flatMap((reader) => typescript.flatMap((file) => [...reader.read(file)]));
  for (const { node, statement } of read) if (!readers.some(({ used }) => used.has(node))) yield statement;
  for (const file of files.filter((one) => one.endsWith('.sql')))
    yield { text: readFileSync(join(root, file), 'utf8'), pieces: [{ at: 0, file, offset: 0 }] };
}

type Key = { name: string; columns: string[] };

/** Why an order is none that is total. `keys`: the unique indexes of all tables. */
function wrong({ order, pinned, from, told }: Cut, keys: readonly Key[]): string | undefined {
  const one = keys.some((key) => key.name === from[0] && key.columns.every((column) => pinned.has(column)));
  if (one) return undefined;
  if (order === undefined) return 'has no order';
  const known = new Set([...order, ...pinned]);
  if (told.some((columns) => columns.every((one) => known.has(one)))) return undefined;
  const [table] = from;
  const own = keys.filter((key) => key.name === table);
  const said = `is in the order of ${order.join(', ')}`;
  if (own.length > 0) {
    const isTotal = own.some(({ columns }) => columns.every((one) => known.has(one)));
    return isTotal ? undefined : `${said}, which has no unique key of accord.${table} with ${[...pinned].join(', ')}`;
  }
  const ofKeys = new Set(keys.flatMap(({ columns }) => columns).filter((one) => one !== 'tenant' && !times.has(one)));
  return order.some((one) => ofKeys.has(one)) ? undefined : `${said}, none of which is of a unique key`;
}
const times = new Set(['at', 'time', 'hour', 'seen_at']);

/** A tenant's numbers are given once; the index of a table that is partitioned by time cannot say so. */
const numbered: Key[] = ['event', 'ledger_entry'].map((name) => ({ name, columns: ['tenant', 'sequence'] }));

async function keysOf(): Promise<Key[]> {
  const indexes = await asAdmin<Key>(
    db.adminUrl,
    `select c.relname as name, array_agg(a.attname::text) as columns from pg_index i join pg_class c on c.oid = i.indrelid
       join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey)
     where c.relnamespace = 'accord'::regnamespace and i.indisunique and i.indpred is null and not 0 = any (i.indkey)
     group by i.indexrelid, c.relname`,
  );
  return [...indexes, ...numbered];
}

test('what takes some rows of many has an order that is total', async () => {
  const keys = await keysOf();
  const found = new Map<string, { where: string; file: string; text: string }>();
  let cuts = 0;
  for (const statement of statements()) {
    for (const cut of cutsOf(statement.text)) {
      cuts++;
      const why = wrong(cut, keys);
      if (why === undefined) continue;
      const { file, line, text } = placeOf(root, statement, cut.at);
      found.set(`${file}:${line} ${cut.what}`, { where: `${file}:${line}: ${cut.what} ${why}`, file, text });
    }
  }
  const all = [...found.values()];
  const covers = (one: (typeof exceptions)[number], { file, text }: { file: string; text: string }) =>
    one.file === file && (one.line === undefined || text.includes(one.line));
  const refused = all.filter((cut) => !exceptions.some((one) => covers(one, cut)));
  expect(cuts).toBeGreaterThan(150);
  expect(refused.map(({ where }) => where).join('\n')).toBe('');
  const unused = exceptions.filter((one) => !all.some((cut) => covers(one, cut)));
  expect(unused, 'remove these from the list').toEqual([]);
});

test.each([
  ['select id from accord.policy where tenant = $ limit 5', 'has no order'],
  ['select id from (select id from accord.policy order by tenant, name) as p limit 5', 'has no order'],
  ['select * from accord.mail_message where tenant = $ order by created_at desc limit 5', 'created_at'],
  ['select * from accord.mail_message order by created_at, id limit 5', 'id'],
  ['select * from accord.mail_message where tenant = $ or true order by id limit 5', 'id'],
  ['select * from accord.mail_message where tenant = $ order by created_at offset 5', 'created_at'],
  ['select * from accord.mail_message where tenant = $ fetch first 5 rows only', 'has no order'],
  ['select distinct on (template) id from accord.mail_message where tenant = $ order by template', 'template'],
  ['select row_number() over (partition by tenant order by created_at) as n from accord.mail_message', 'created_at'],
  ['select (array_agg(answer order by created_at))[1] from accord.mail_message where tenant = $', 'created_at'],
  [
    'select * from accord.mail_message m join accord.tenant t using (tenant) order by m.created_at limit 5',
    'created_at',
  ],
])('%s: %s', async (text, why) => {
  const keys = await keysOf();
  expect(cutsOf(text).map((cut) => wrong(cut, keys))).toEqual([expect.stringContaining(why)]);
});

test.each([
  'select * from accord.mail_message where tenant = $ order by created_at desc, id limit 5',
  'select * from accord.mail_message where tenant = $ and id = $ limit 1',
  'select created_at from accord.mail_message where tenant = $ order by created_at desc nulls last limit 1',
  'select template, count(*) from accord.mail_message group by template order by count(*) desc, template limit 5',
  'select * from accord.mail_message where tenant = $ order by created_at fetch first (5) rows with ties',
  'select array_agg(answer) from accord.mail_message where tenant = $',
  'select l.at from lateral (select a.at from accord.audit_entry as a offset 0) as l',
])('%s is left', async (text) => {
  const keys = await keysOf();
  expect(
    cutsOf(text)
      .map((cut) => wrong(cut, keys))
      .filter(Boolean),
  ).toEqual([]);
});
