/**
 * Every statement of a store that compares with a value and takes so many rows reads them through an index, by the plan that Postgres
 * keeps for all values. It knows neither of them then, supposes a third of the rows for a range and a tenth for a limit, and goes
 * through the table unless the rows have the order of an index.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { nodesOf, type PlanNode } from '../helpers/explained.ts';
import { createFilledServer } from '../helpers/filled-server.ts';
import { statementsOfStores, storeFiles } from '../helpers/statements.ts';

const { admin } = await createFilledServer();
const all = await statementsOfStores();
const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

/** Functions whose statements go through a table, and why they may. */
const known: Record<string, string> = {
  'events/store.ts moveEvents': 'tenants, where events wait',
  'issuers/store.ts readUnchecked': 'issuers and tenants, every 5 to 30 s',
  'mail/store.ts tenantsDue': 'lanes, one for each tenant, where a mail is due',
  'mail/store.ts findExpired': 'the same, where a mail has expired',
  'members/member-invitation-store.ts readFirstAdmin': 'the members of a tenant',
};

/** What statements are made of that no store's function makes when it is called so, by the end of the text before the limit. */
const elsewhere: Record<string, string> = {
  ') order by name, to_type, to_id limit': 'test/facts/index-use.test.ts',
  '), i as materialized (select * from w limit': 'the same',
  'select from_type, from_id, name, to_type, to_id from w limit': 'the same',
  'order by place, owned_until nulls first, tenant, id limit': 'test/at-rest/at-rest.test.ts',
};

test('every limit of a store stands in a statement that is looked at here, or elsewhere', () => {
  const texts = [...all.values()].flatMap((some) => [...some].map(oneLine));
  const pieces = storeFiles.flatMap((file) =>
    [...oneLine(readFileSync(file, 'utf8')).matchAll(/([^`}]*\blimit) (?=\$\{|\d)/g)].map(
      ([, piece]) => piece as string,
    ),
  );
  expect(pieces.length).toBeGreaterThan(100);
  const missing = pieces.filter((piece) => !texts.some((text) => text.includes(piece.slice(-60))));
  expect(missing.filter((piece) => !Object.keys(elsewhere).some((end) => piece.endsWith(end)))).toEqual([]);
});

/** A value in the place of a fragment: of a statement that nobody makes. */
const isReal = (text: string) => !/\b(where|and|or) \$\d+ (and|or)\b/.test(text);
const withBoth = [...all].flatMap(([name, texts]) =>
  [...texts]
    .filter((text) => /\blimit\b/.test(text) && /[<>]=? \(*\$\d/.test(text) && isReal(oneLine(text)))
    .map((text) => ({ name, text })),
);

async function planOf(text: string, role: string): Promise<PlanNode> {
  await admin.query('begin');
  try {
    await admin.query(`set local role ${role}; set local accord.tenant = 't1'`);
    const { rows } = await admin.query(`explain (generic_plan, format json) ${text}`);
    return rows[0]['QUERY PLAN'][0].Plan;
  } finally {
    await admin.query('rollback');
  }
}

/** In the role that asks: the statement says the tenant, or it is across them. */
const planned = (text: string) =>
  planOf(text, text.includes('tenant = $') ? 'accord_app' : 'accord_system').catch(() => planOf(text, 'accord_system'));

test('those with a range and a limit go through no table', async () => {
  const { rows } = await admin.query(
    `select relname as name from pg_class where relnamespace = 'accord'::regnamespace and reltuples > 900`,
  );
  const large = new Set(rows.map(({ name }) => name));
  const { rows: partial } = await admin.query(
    'select indexrelid::regclass::text as name from pg_index where indpred is not null',
  );
  // A partial index may hold just what is asked for.
  const narrow = new Set(partial.map(({ name }) => name.replace('accord.', '')));
  const isWhole = (one: PlanNode) =>
    large.has(one['Relation Name']) &&
    (one['Node Type'] === 'Seq Scan' ||
      (one['Index Name'] !== undefined && !one['Index Cond'] && !narrow.has(one['Index Name'])));
  const found: string[] = [];
  for (const { name, text } of withBoth.filter((one) => known[one.name] === undefined))
    for (const one of nodesOf(await planned(text)).filter(isWhole))
      found.push(`${name}: ${one['Node Type']} of ${one['Relation Name']}: ${oneLine(text)}`);
  expect(found).toEqual([]);
  expect(withBoth.length).toBeGreaterThan(70);
});

test('this would notice', async () => {
  const plan = await planned('select from accord.relationship where tenant = $1 and created_at <= $2 limit $3');
  expect(nodesOf(plan).map((one) => one['Node Type'])).toContain('Seq Scan');
});
