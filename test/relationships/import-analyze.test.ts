/** An import that creates a large share of all relationships lets the planner know of them. */
import { beforeEach, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { sharingTenant } from './sharing.ts';

const server = await createTestServer();
const cars = await sharingTenant(server);
const { adminUrl } = server.db;
await asAdmin(adminUrl, 'alter table accord.relationship set (autovacuum_enabled = false)');
const least = limits.importAnalyzeRowsMin;

const importing = async (count: number, prefix: string) => {
  const lines = Array.from({ length: count }, (_, i) =>
    JSON.stringify({
      from: { type: 'user', id: `${prefix}${i}` },
      relationshipType: 'drives',
      to: { type: 'car', id: `${i % 7}` },
    }),
  );
  const raw = lines.join('\n');
  return (await cars.backend('POST', '/relationships/import', { raw, type: 'application/x-ndjson' })).body.created;
};
/** How often it was, and how many rows it has as the planner knows. */
const analyzed = async () => {
  const [row] = await asAdmin<{ times: number; rows: number }>(
    adminUrl,
    `select analyze_count::int as times, reltuples::int as rows from pg_stat_all_tables s join pg_class c on c.oid = s.relid
      where s.schemaname = 'accord' and s.relname = 'relationship'`,
  );
  return row as { times: number; rows: number };
};

beforeEach(async () => {
  await asAdmin(adminUrl, 'truncate accord.relationship, accord.relationship_change');
});

test.each([
  [least - 1, 0],
  [least, 1],
])('%i relationships in a table of which nothing is known: analyzed %i times', async (count, times) => {
  const before = await analyzed();
  expect(before.rows).toBeLessThanOrEqual(0);
  expect(await importing(count, 'first')).toBe(count);
  const after = await analyzed();
  expect([after.times - before.times, after.rows]).toEqual([times, times === 0 ? before.rows : count]);
});

test('of a table whose next importAnalyzePercentMin is one more, it is not; with that one it is', async () => {
  const size = (100 * least) / limits.importAnalyzePercentMin + 1;
  await asAdmin(
    adminUrl,
    `insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id)
      select 'other', 'user', n::text, 'drives', 'car', '1' from generate_series(1, $1::int) n`,
    [size],
  );
  await asAdmin(adminUrl, 'analyze accord.relationship');
  const before = await analyzed();
  expect(before.rows).toBe(size);
  expect(await importing(least, 'share')).toBe(least);
  expect(await analyzed()).toEqual(before);
  // What was there before is not what an import brought.
  expect(await importing(least + 1, 'share')).toBe(1);
  expect(await analyzed()).toEqual(before);
  expect(await importing(least + 1, 'enough')).toBe(least + 1);
  expect(await analyzed()).toEqual({ times: before.times + 1, rows: size + 2 * least + 2 });
});
