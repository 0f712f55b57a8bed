/** What time brings to consents: documents that take effect, versions that begin to end, graces, and consents that expire. */
import { afterEach, expect, test } from 'vitest';
import { seedConsents } from '../../server/consents/index.ts';
import { limits } from '../../server/core/limits.ts';
import { putTenant } from '../../server/tenants/index.ts';
import { tellOnce } from '../events/timing.ts';
import { asAdmin } from '../helpers/admin.ts';
import { EmittedEvents } from '../helpers/emitted.ts';
import { createTestServer, manifestWriter, tenantSpec } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { consenting, day, item } from './consenting.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const other = await createTestServer({}, server.db, clock);
const events = new EmittedEvents(server.db);
type Told = { type: string; userId?: string } & Record<string, unknown>;

/** What was told of since the last time, by two servers. */
async function told(): Promise<Told[]> {
  await Promise.all([tellOnce(server), tellOnce(other)]);
  await tellOnce(server);
  const taken = (await events.take()).filter(({ data }) => data.requestor === 'accord');
  return (
    taken
      .map(({ type, data: { requestor: _, ...data } }) => ({ type, ...data }) as Told)
      // Two servers tell at once: which is first is not said.
      .sort((a, b) => `${a.userId} ${a.type}`.localeCompare(`${b.userId} ${b.type}`))
  );
}
afterEach(async () => void (await told()));
const at = (ms: number) => new Date(clock.now() + ms).toISOString();

/** Version 1 of terms since a second ago, version 2 in 40 days; version 1 ends from day 50 to day 80, with 10 days of grace. */
async function ending() {
  const tenant = await consenting(server, clock);
  const start = clock.now();
  await tenant.define('terms', { '1 a en': 1000, '2 a en': 40 * day });
  const { status } = await tenant.end('terms', '1', { startDate: 50 * day, endDate: 80 * day, gracePeriod: 'P10D' });
  expect(status).toBe(200);
  clock.advance(1000);
  const give = async (id: string, document = '1 a en') =>
    expect((await tenant.user(id)('POST', '', item('terms', document))).status).toBe(201);
  const invite = (id: string) => tenant.user(id)('GET', '/active?name=terms&language=en');
  const toDay = (n: number, ms = 0) => clock.advance(start + n * day + ms - clock.now());
  const dayText = (n: number) => new Date(start + n * day).toISOString();
  await told();
  return { ...tenant, give, invite, toDay, dayText };
}
const of = (userId: string) => ({ userId, name: 'terms', version: '1' });

test('documents that take effect, and versions that begin to end, are told once at their instants', async () => {
  const { define, put, toDay, dayText, end } = await ending();
  toDay(40, -1);
  expect(await told()).toEqual([]);
  toDay(40);
  const document = { version: 'a', language: 'en' };
  const effective = { type: 'CONSENT_DOCUMENT_EFFECTIVE', name: 'terms', version: '2', document };
  expect(await told()).toEqual([{ ...effective, effectiveDate: dayText(40) }]);
  // An end that is moved is told at its new instant only.
  expect((await end('terms', '1', { startDate: 15 * day, endDate: 50 * day, gracePeriod: 'P10D' })).status).toBe(200);
  toDay(54);
  expect(await told()).toEqual([]);
  toDay(55);
  const started = { type: 'CONSENT_END_OF_LIFE_STARTED', name: 'terms', version: '1', gracePeriod: 'P10D' };
  expect(await told()).toEqual([{ ...started, startDate: dayText(55), endDate: dayText(90) }]);
  // Of a document whose date was moved, too.
  await define('news', { '1 a en': day });
  await put('/news/versions/1/documents/en/a', { effectiveDate: at(2 * day) });
  clock.advance(day);
  expect(await told()).toEqual([]);
  clock.advance(day);
  expect(await told()).toEqual([
    { ...effective, name: 'news', version: '1', effectiveDate: new Date(clock.now()).toISOString() },
  ]);
  expect(await told()).toEqual([]);
});

test('a grace is told of when it begins, before it ends, and when it has ended', async () => {
  const { give, invite, toDay, dayText, user, admin } = await ending();
  for (const id of ['ada', 'bob', 'cleo', 'dora', 'eve']) await give(id);
  toDay(51);
  expect((await told()).map(({ type }) => type)).toEqual(['CONSENT_DOCUMENT_EFFECTIVE', 'CONSENT_END_OF_LIFE_STARTED']);
  for (const id of ['ada', 'bob', 'cleo', 'dora']) await invite(id);
  const gracePeriodEnds = dayText(61);
  const invited = (await events.take()).filter(({ type }) => type === 'CONSENT_INVITED');
  expect(invited.map(({ data }) => data)).toContainEqual({ requestor: 'user:user:ada', ...of('ada'), gracePeriodEnds });
  await give('bob', '2 a en'); // renewed
  const { body: own } = await user('cleo')('GET', '/me');
  await admin('DELETE', `/${own.consents[0].id}`); // revoked
  toDay(54, -1);
  expect(await told()).toEqual([]);
  toDay(54);
  const soon = { type: 'CONSENT_GRACE_ENDING', gracePeriodEnds };
  expect(await told()).toEqual([
    { ...soon, ...of('ada') },
    { ...soon, ...of('dora') },
  ]);
  await give('dora', '2 a en');
  toDay(61); // the last instant
  expect(await told()).toEqual([]);
  toDay(61, 1);
  expect(await told()).toEqual([{ type: 'CONSENT_EXPIRED', ...of('ada'), expiredAt: gracePeriodEnds }]);
  // Who was not invited loses the consent with the version.
  toDay(80, 1);
  expect(await told()).toEqual([{ type: 'CONSENT_EXPIRED', ...of('eve'), expiredAt: dayText(80) }]);
  expect(await told()).toEqual([]);
});

test('a tenant sets how long before the end it is told; with 0 days it is not', async () => {
  const { tenant, give, invite, toDay, dayText } = await ending();
  await give('ada');
  toDay(51);
  await invite('ada');
  await told();
  const setting = async (graceEndingDays: number) => {
    await putTenant(
      server.services.tenants,
      manifestWriter,
      tenant,
      tenantSpec({ events: { retentionDays: 14, graceEndingDays } }),
    );
    return (await told()).filter(({ type }) => type === 'CONSENT_GRACE_ENDING');
  };
  toDay(56);
  expect(await setting(4)).toEqual([]);
  toDay(59);
  expect(await setting(2)).toEqual([{ type: 'CONSENT_GRACE_ENDING', ...of('ada'), gracePeriodEnds: dayText(61) }]);
  expect(await setting(9)).toEqual([]);
  const none = await ending();
  await none.give('ada');
  none.toDay(51);
  await none.invite('ada');
  await putTenant(
    server.services.tenants,
    manifestWriter,
    none.tenant,
    tenantSpec({ events: { retentionDays: 14, graceEndingDays: 0 } }),
  );
  none.toDay(61);
  expect((await told()).filter(({ type }) => type === 'CONSENT_GRACE_ENDING')).toEqual([]);
});

test('a version that ends is told to all its users in portions, once, also when one is lost', async () => {
  const { tenant, toDay, give } = await ending();
  await give('renewed');
  const users = limits.timedEventsMax + 50;
  await asAdmin(
    server.db.adminUrl,
    `insert into accord.user_consent (tenant, user_id, definition, version, document, language, given_at)
      select $1, 'u' || n, 'terms', '1', 'a', l, $3 from generate_series(1, $2::int) n, unnest(array['en', 'nl']) l`,
    [tenant, users, at(0)],
  );
  toDay(45);
  await told();
  toDay(49);
  await give('renewed', '2 a en');
  toDay(80, 1);
  await asAdmin(
    server.db.adminUrl,
    `create function public.fail() returns trigger language plpgsql as $$ begin
    if new.body ->> 'userId' = 'u240' then raise exception 'killed'; end if; return new; end $$`,
  );
  await asAdmin(
    server.db.adminUrl,
    'create trigger fail before insert on accord.event_inbox for each row execute function public.fail()',
  );
  const first = await told();
  await asAdmin(server.db.adminUrl, 'drop trigger fail on accord.event_inbox');
  const all = [...first, ...(await told())].filter(({ type }) => type === 'CONSENT_EXPIRED');
  expect(first.length).toBeGreaterThan(0);
  expect(all.map(({ userId }) => userId).sort()).toEqual(Array.from({ length: users }, (_, n) => `u${n + 1}`).sort());
  expect(await told()).toEqual([]);
});

test('invitations that were imported before the version began to end have its start', async () => {
  const { tenant, toDay, dayText } = await ending();
  const seed = (userId: string, more: object) =>
    JSON.stringify({
      userId,
      name: 'terms',
      version: '1',
      document: { version: 'a', language: 'en' },
      givenAt: at(0),
      ...more,
    });
  const lines = [seed('ada', { invitedAt: at(0) }), seed('bob', {})];
  expect(await seedConsents(server.services.consents, tenant, lines)).toEqual([]);
  toDay(50);
  await told();
  toDay(53);
  expect(await told()).toEqual([{ type: 'CONSENT_GRACE_ENDING', ...of('ada'), gracePeriodEnds: dayText(60) }]);
  toDay(60, 1);
  expect(await told()).toEqual([{ type: 'CONSENT_EXPIRED', ...of('ada'), expiredAt: dayText(60) }]);
});
