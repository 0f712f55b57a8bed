/**
 * What a server runs by itself reads only what is due, by the plan that Postgres keeps for all values: every task of every room,
 * and what the snapshots ask, on tables of which each has many rows.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sql } from '../../server/core/db/sql.ts';
import { type Explained, explaining, nodesOf, type PlanNode } from '../helpers/explained.ts';
import { fill } from '../helpers/filled.ts';
import { createFilledServer, runOnce } from '../helpers/filled-server.ts';

const { server, tasks, admin, late } = await createFilledServer();

/** Of one statement, of which most read nothing. */
const PAGES_MAX = 300;
const ROWS_MAX = 1100;

/** What reads more, by the beginning of its text, and why it may. */
const known: Record<string, string> = {
  'select tenant, revision, created_at from accord.tenant': 'the revision of every tenant, which the snapshots follow',
  'select tenant from accord.event_counter': 'each tenant, once an hour: how long it keeps its events is its own',
  'select tenant, state, spec, revision, owner, created_at from accord.tenant order by tenant': 'the same',
  'with free as materialized ( select l.tenant, l."subscription" as id':
    'each lane and each counter: whether it is behind is in both',
  "select t.tenant, t.spec ->> 'issuer' as issuer":
    'each issuer, every 5 to 30 s: whether a live server has read its keys',
  'select tenant, kind, id, issued_until, expires_at from accord.denied_token':
    'of a tenant that was changed, for its snapshot',
  'delete from accord.policy_artifact a': 'each compiled policy, once a day',
};
const textOf = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
const scanned = (one: PlanNode) =>
  ((one['Actual Rows'] ?? 0) + (one['Rows Removed by Filter'] ?? 0)) * (one['Actual Loops'] ?? 1);

/** What a statement read too much; a function's are those of what it runs. */
function tooMuch({ text, plan }: Explained): string[] {
  const scans = nodesOf(plan).filter((one) => one['Relation Name'] !== undefined || one['Index Name'] !== undefined);
  const asked = textOf(text);
  if (scans.length === 0 || Object.keys(known).some((beginning) => asked.startsWith(beginning))) return [];
  const pages = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
  const rows = scans.reduce((sum, one) => sum + scanned(one), 0);
  return pages > PAGES_MAX || rows > ROWS_MAX ? [`${pages} pages, ${rows} rows: ${asked}`] : [];
}

const namesOf = tasks.map((task) => [task.name, task] as const);

test('this would notice', async () => {
  const all = await explaining(() =>
    server.services.database.system((tx) =>
      tx.run(sql`select from accord.relationship where created_at <= ${'2000-01-01'} limit 1`),
    ),
  );
  expect(all.flatMap(tooMuch)).toHaveLength(1);
});

describe('with nothing due', () => {
  test.each(namesOf)('%s', async (_, task) => {
    const all = await explaining(() => runOnce(task));
    expect([...new Set(all.flatMap(tooMuch))]).toEqual([]);
  });
});

const PAST = `now() - interval '2 hours' - make_interval(secs => n)`;
const AGES = `now() - interval '2 years'`;

/** A few rows of each kind that are due now, or are kept no longer, in a tenant of their own; and which of them are left. */
const due: [table: string, values: Record<string, string>, left: string][] = [
  ['relationship', { expires_at: PAST }, 'told_expiry is distinct from expires_at'],
  ['invitation', { expires_at: PAST }, 'not told_expired'],
  ['consent_definition', {}, 'false'],
  ['consent_document', { effective_date: PAST, document: `'1'` }, 'told_effective is null'],
  [
    'consent_version',
    { start_date: PAST, end_date: `now() - interval '1 hour'` },
    'told_start is null or told_end is null',
  ],
  [
    'consent_invitation',
    { grace_ends: PAST, definition: `'x1'`, version: `'x1'` },
    'not told_ending or not told_expired',
  ],
  ['user_consent', { given_at: AGES, definition: `'x1'`, version: `'x1'` }, 'false'],
  ['denied_token', { expires_at: PAST }, 'true'],
  ['oidc_record', { expires_at: PAST }, 'true'],
  ['account_token', { expires_at: PAST }, 'true'],
  ['account_challenge', { expires_at: PAST }, 'true'],
  ['login_attempt', { counted_at: AGES }, 'true'],
  ['idempotency_key', { created_at: AGES }, 'true'],
  ['mail_message', { status: `'sent'`, content_encrypted: 'null', settled_at: PAST, kept_until: PAST }, 'true'],
  ['event_replay', { finished_at: AGES }, 'true'],
  ['event_count', { hour: AGES }, `hour < now() - interval '1 year'`],
  ['policy_artifact', { created_at: AGES }, 'true'],
  ['ledger_inbox', { time: PAST }, 'true'],
  ['event_inbox', { time: PAST }, 'true'],
];

describe('with a little due', () => {
  test('all of it is done, and little is read', async () => {
    for (const [table, values] of due) await fill(admin, table, 3, { tenant: `'${late}'`, ...values });
    await admin.query(`update accord.signing_key set created_at = ${AGES}, activates_at = ${AGES} where tenant = $1`, [
      late,
    ]);
    const all = await explaining(async () => {
      for (const task of tasks) await runOnce(task);
      for (const task of tasks) await runOnce(task);
    });
    expect([...new Set(all.flatMap(tooMuch))]).toEqual([]);
    expect(server.observations.filter(({ kind }) => kind === 'background_failed')).toEqual([]);
    for (const [table, , left] of due) {
      const { rows } = await admin.query(`select * from accord.${table} where tenant = $1 and (${left})`, [late]);
      expect(rows, table).toEqual([]);
    }
  });
});

test('what repeats without being a task stands here, and is looked at with the tasks', () => {
  const root = join(import.meta.dirname, '../../server');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const repeating = files.filter((file) => readFileSync(join(root, file), 'utf8').includes('setInterval('));
  expect(repeating.sort()).toEqual([
    'core/db/query-watchdog.ts', // asks nothing
    'snapshot/snapshots.ts', // asks while the tasks run
    'subscriptions/lanes/replay.ts', // while a replay is under way
  ]);
});
