/** Mails about consents: to whom, when, and only where the tenant wants them. */
import { beforeEach, expect, test } from 'vitest';
import { sql } from '../../server/core/db/sql.ts';
import { putTenant } from '../../server/tenants/index.ts';
import { createAccountsServer } from '../accounts/accounts.ts';
import { tellOnce } from '../events/timing.ts';
import { manifestWriter, tenantSpec } from '../helpers/server.ts';
import { consenting, day, item } from './consenting.ts';

const server = await createAccountsServer();
const { clock } = server;
beforeEach(() => server.mails());
const url = 'https://app.example/consents';

/** Version 1 of terms ends from day 20 to day 80 with 30 days of grace, version 2 is there from day 10 on; ann has an account. */
async function ending(consentMail: object | undefined, gracePeriod = 'P30D') {
  const { tenant, define, end, ...rest } = await consenting(server, clock);
  const change = { ...(consentMail && { consentMail: { url, renewal: false, receipt: false, ...consentMail } }) };
  await putTenant(server.services.tenants, manifestWriter, tenant, tenantSpec({ displayName: 'Carshare', ...change }));
  const ann = await server.account(tenant, 'ann@example.org');
  const start = clock.now();
  await define('terms', { '1 a en': 1000, '2 a en': 10 * day });
  expect((await end('terms', '1', { startDate: 20 * day, endDate: 80 * day, gracePeriod })).status).toBe(200);
  clock.advance(1000);
  const toDay = (n: number) => clock.advance(start + n * day - clock.now());
  const give = async (id: string, document = '1 a en') =>
    expect((await rest.user(id)('POST', '', item('terms', document))).status).toBe(201);
  return { ...rest, tenant, ann: ann.id, toDay, give };
}

test('a consent that ends is asked for again, as its grace begins and before it ends, and not after it was given', async () => {
  const { ann, toDay, give, user } = await ending({ renewal: true });
  await give(ann);
  await give('somebody');
  expect(await server.mails()).toEqual([]); // receipts are not wanted
  toDay(21);
  for (const id of [ann, 'somebody']) await user(id)('GET', '/active?name=terms&language=en');
  await user(ann)('GET', '/active?name=terms&language=en');
  const [mail, ...more] = await server.mails();
  expect(more).toEqual([]);
  expect(mail).toMatchObject({ to: 'ann@example.org', subject: expect.stringContaining('Carshare'), link: url });
  expect(mail?.text).toContain('terms');
  expect(server.observations).toContainEqual(
    expect.objectContaining({ kind: 'consent_mail_unaddressed', template: 'consent-renewal', count: 1 }),
  );
  toDay(45);
  await tellOnce(server);
  await tellOnce(server);
  expect((await server.mails()).map(({ to }) => to)).toEqual(['ann@example.org']);
  await give(ann, '2 a en');
  toDay(52);
  await tellOnce(server);
  expect(await server.mails()).toEqual([]);
});

test('a grace that is shorter than graceEndingDays has one mail', async () => {
  const { ann, toDay, give, user } = await ending({ renewal: true }, 'P3D');
  await give(ann);
  toDay(21);
  await user(ann)('GET', '/active?name=terms&language=en');
  await tellOnce(server);
  expect(await server.mails()).toHaveLength(1);
});

test('the first invitation by a back end mails, too', async () => {
  const { ann, toDay, give, admin } = await ending({ renewal: true });
  await give(ann);
  toDay(21);
  expect((await admin('POST', '/invitations', { userId: ann, name: 'terms' })).status).toBe(201);
  expect((await admin('POST', '/invitations', { userId: ann, name: 'terms' })).status).toBe(200);
  expect(await server.mails()).toHaveLength(1);
});

test('a receipt is mailed once for each consent that is new', async () => {
  const { ann, give, user } = await ending({ receipt: true });
  await give(ann);
  const again = await user(ann)('POST', '', item('terms', '1 a en'));
  expect(again.status).toBe(200);
  const mails = await server.mails();
  expect(mails).toHaveLength(1);
  expect(mails[0]).toMatchObject({ to: 'ann@example.org', link: url });
});

test('without the setting, and without a verified address, nobody gets one', async () => {
  const silent = await ending(undefined);
  await silent.give(silent.ann);
  silent.toDay(21);
  await silent.user(silent.ann)('GET', '/active?name=terms&language=en');
  expect(await server.mails()).toEqual([]);
  const { tenant, ann, give } = await ending({ receipt: true });
  await server.services.accounts.database.tenant(tenant, async (tx) => {
    await tx.run(sql`update accord.account set email_verified = false where tenant = ${tenant} and id = ${ann}`);
  });
  await give(ann);
  expect(await server.mails()).toEqual([]);
});
