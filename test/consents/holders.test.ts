/** Reading whom data is about together with what they consented to: one round trip, however many they are. */
import pg from 'pg';
import { expect, test } from 'vitest';
import { HolderReader } from '../../server/consents/holders.ts';
import type { Database } from '../../server/core/db/database.ts';
import { limits } from '../../server/core/limits.ts';
import { createTestDatabase } from '../helpers/database.ts';

const { database, adminUrl } = await createTestDatabase();
const admin = new pg.Client({ connectionString: adminUrl });
await admin.connect();
await admin.query(`insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id)
  select 't', 'user', 'u' || lpad(n::text, 4, '0'), 'owns', 'record', 'r' || n / ${limits.dataSubjectsMax}
    from generate_series(0, 39 * ${limits.dataSubjectsMax} - 1) n`);
await admin.query(`insert into accord.user_consent (tenant, user_id, definition, version, document, language, given_at)
  select 't', 'u' || lpad(n::text, 4, '0'), 'care', '1', 'a', 'en', now() from generate_series(0, 3999) n`);
await admin.query(`insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id)
  select 't', 'user', 'm' || n, 'owns', 'record', 'many' from generate_series(1, 10000) n`);
await admin.query('vacuum analyze accord.user_consent, accord.relationship');
await admin.end();

const effectiveDate = Date.now() - 1000;
const version = { version: '1', documents: [{ version: 'a', language: 'en', effectiveDate }] };
const definitions = new Map([['care', { name: 'care', versions: [version] }]]) as never;
const owning = (id: string) => ({ from: 'user', name: 'owns', to: { type: 'record', id } });
const ask = (id: string, persons: string[] = []) => ({ tenant: 't', definitions, holding: owning(id), persons });

/** A reader on the database, and how often it read. */
function counted() {
  const read: Database['read'] = (...given) => {
    counter.reads++;
    return database.read(...given);
  };
  const counter = { reads: 0, reader: new HolderReader({ read }) };
  return counter;
}

test('all holders of one resource, those who are named, and the consents of all, in one reading', async () => {
  const it = counted();
  const { holders, consents } = await it.reader.read(ask('r3', ['u0000', 'u0301', 'nobody']), Date.now());
  expect([it.reads, holders.length, consents.size]).toEqual([1, limits.dataSubjectsMax, limits.dataSubjectsMax + 2]);
  expect(holders).toContain('u0301');
  expect(holders).not.toContain('u0000');
  for (const id of ['u0000', 'u0301', 'u0399'])
    expect(consents.get(id)).toMatchObject([{ name: 'care', status: 'given' }]);
  expect(consents.get('nobody')).toEqual([]);
});

test('of ten thousand holders one more than dataSubjectsMax are read', async () => {
  const { holders } = await counted().reader.read(ask('many'), Date.now());
  expect(holders).toHaveLength(limits.dataSubjectsMax + 1);
});

test('questions that are asked together are read together; of many rows fewer go together the next time', async () => {
  const it = counted();
  const few = { ...ask('none'), holding: undefined, persons: ['u0001'] };
  await Promise.all(Array.from({ length: limits.factsQuestionsMax }, () => it.reader.read(few as never, Date.now())));
  expect(it.reads).toBe(1);
  const asked = Array.from({ length: 30 }, (_, i) => it.reader.read(ask(`r${i}`), Date.now()));
  for (const { holders } of await Promise.all(asked)) expect(holders).toHaveLength(limits.dataSubjectsMax);
  expect(it.reads).toBe(2);
  await Promise.all(Array.from({ length: 30 }, (_, i) => it.reader.read(ask(`r${i}`), Date.now())));
  expect(it.reads).toBe(5); // limits.factsRowsTogetherMax rows each
});
