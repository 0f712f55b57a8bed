/** Which tenants have something due: one look, however many rows are due, of whichever tenants. */
import pg from 'pg';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { tenantsWithGraces } from '../../server/consents/timed-store.ts';
import { removeDue } from '../../server/core/db/due.ts';
import { limits } from '../../server/core/limits.ts';
import { tenantsDue } from '../../server/mail/store.ts';
import { tenantsWithExpired } from '../../server/relationships/expiring-store.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { fill } from '../helpers/filled.ts';

const db = await createTestDatabase();
const admin = new pg.Client({ connectionString: db.adminUrl });
await admin.connect();
afterAll(() => admin.end());

const NOW = '2030-01-01T00:00:00Z';
const before = (seconds: number) => `timestamptz '${NOW}' - make_interval(secs => ${seconds})`;
const addTenant = (code: string, spec = '{}', state = 'active') =>
  fill(admin, 'tenant', 1, { tenant: `'${code}'`, spec: `'${spec}'`, state: `'${state}'` });
const expire = (tenant: string, count: number, at: string) =>
  fill(admin, 'relationship', count, { tenant: `'${tenant}'`, expires_at: at });
const due = () => db.database.system((tx) => tenantsWithExpired(tx, NOW));

beforeEach(async () => {
  for (const table of ['tenant', 'relationship', 'consent_invitation'])
    await admin.query(`delete from accord.${table}`);
  for (const code of ['many', 'one', 'none']) await addTenant(code);
});

test.each([limits.dueRowsLookedAtMax - 1, limits.dueRowsLookedAtMax, limits.dueRowsLookedAtMax + 1])(
  'a tenant with %d rows that are due hides no other one',
  async (count) => {
    await expire('many', count, before(60));
    await expire('one', 1, before(0));
    await expire('none', 5, `${before(-1)}`);
    expect(await due()).toEqual(['many', 'one']);
  },
);

test('neither does a disabled tenant, whose rows stay', async () => {
  await addTenant('off', '{}', 'disabled');
  await expire('off', limits.dueRowsLookedAtMax + 1, before(60));
  expect(await due()).toEqual([]);
  await expire('one', 1, before(0));
  expect(await due()).toEqual(['one']);
});

test('a tenant reminds of graces as early as it says', async () => {
  await addTenant('early', '{"events": {"graceEndingDays": 30}}');
  await addTenant('late', '{"events": {"graceEndingDays": 1}}');
  const ends = (tenant: string, days: number) =>
    fill(admin, 'consent_invitation', 1, { tenant: `'${tenant}'`, grace_ends: before(-days * 24 * 3600) });
  for (const tenant of ['early', 'late', 'one']) await ends(tenant, 20);
  const told = () => db.database.system((tx) => tenantsWithGraces(tx, 'ending', NOW));
  expect(await told()).toEqual(['early']);
  await admin.query(`update accord.consent_invitation set grace_ends = ${before(-5 * 24 * 3600)}`);
  expect(await told()).toEqual(['early', 'one']);
});

test.each([limits.dueRowsLookedAtMax - 1, limits.dueRowsLookedAtMax])(
  'a tenant with %d mails to send hides no other one',
  async (count) => {
    await admin.query('delete from accord.mail_message; delete from accord.mail_lane');
    const wait = (tenant: string, many: number, at: string) =>
      fill(admin, 'mail_message', many, {
        ...{ tenant: `'${tenant}'`, status: `'waiting'`, content_encrypted: `'x'`, settled_at: 'null', next_at: at },
      });
    await wait('many', count, before(60));
    await wait('one', 1, before(0));
    await wait('none', 1, before(-1));
    for (const tenant of ['many', 'one', 'none'])
      await fill(admin, 'mail_lane', 1, { tenant: `'${tenant}'`, lane: `'mail'` });
    expect((await db.database.system((tx) => tenantsDue(tx, NOW))).sort()).toEqual(['many', 'one']);
  },
);

test('what is due is removed, the first first, and no more than asked for', async () => {
  await expire('many', 3, `${before(10)} + make_interval(secs => n * 4)`);
  const removed = (limit: number) =>
    db.database.system((tx) => removeDue(tx, ['relationship', 'expires_at'], NOW, limit));
  expect(await removed(1)).toBe(1);
  const { rows } = await admin.query('select from_id from accord.relationship order by from_id');
  expect(rows).toEqual([{ from_id: 'x2' }, { from_id: 'x3' }]);
  expect(await removed(5)).toBe(1);
});
