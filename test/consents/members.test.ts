/** Consents and their ledger for members, in the Config API: acting for a user with a reason. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { sealTenant } from '../../server/ledger/seal.ts';
import { createTestServer } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { membersOf } from '../members/roles.ts';
import { consenting, day, item } from './consenting.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const consents = await consenting(server, clock);
const { tenant } = consents;
await consents.define('terms', { '1 1.0 en': 0 });
clock.advance(day);
const members = await membersOf(server, tenant);
const admin = members['security-admin'];
const reason = 'Signed form 4711';
const wanted = (userId: string, more: object = {}) => item('terms', '1 1.0 en', { userId, reason, ...more });
const seal = () => sealTenant({ ...server.services, clock, observe: () => {} }, tenant);
const entries = async (query = '') => (await admin('GET', `/consents/events?limit=200${query}`)).body.logs;

describe('registering and revoking for a user', () => {
  test('stands with its reason in the ledger and in the audit, and the user has the consent', async () => {
    const made = await admin('POST', '/consents', { body: wanted('alice') });
    expect([made.status, made.body]).toMatchObject([201, { userId: 'alice', name: 'terms', version: '1' }]);
    expect((await admin('POST', '/consents', { body: wanted('alice') })).status).toBe(200);
    const mine = await consents.user('alice')('GET', '/me');
    expect(mine.body.consents).toMatchObject([{ id: made.body.id, status: 'given' }]);
    const revoked = await admin('POST', `/consents/${made.body.id}/revoke`, { body: { reason: 'On the phone' } });
    expect([revoked.status, revoked.body]).toEqual([200, {}]);
    const logs = await entries('&userId=alice');
    expect(logs.filter((one: { reason?: string }) => one.reason)).toMatchObject([
      { type: 'revoked', reason: 'On the phone', actor: { type: 'member' } },
      { type: 'registered', outcome: 'already_given', reason },
      { type: 'registered', outcome: 'registered', reason, userId: 'alice' },
    ]);
    expect(await members.audit('register', 'consent')).toMatchObject([
      { name: 'terms/1', detail: { userId: 'alice', reason }, actor: expect.stringMatching(/^member:/) },
    ]);
    expect(await members.audit('revoke', 'consent')).toMatchObject([{ detail: { reason: 'On the phone' } }]);
    const gone = await admin('POST', `/consents/${made.body.id}/revoke`, { body: { reason } });
    expect(gone.body.code).toBe('consent_not_found');
  });

  test.each([
    ['no reason', { ...wanted('bob'), reason: undefined }, '/reason'],
    ['a reason without a word', wanted('bob', { reason: '  ' }), '/reason'],
    ['a reason that is too long', wanted('bob', { reason: 'x'.repeat(limits.memberReasonCharsMax + 1) }), '/reason'],
    ['no user', { ...wanted('bob'), userId: undefined }, '/userId'],
    ['an unknown field', wanted('bob', { resaon: 'x' }), '/resaon'],
  ])('%s is refused', async (_, body, pointer) => {
    const { status, body: answer } = await admin('POST', '/consents', { body });
    expect([status, answer.errors[0].pointer]).toEqual([400, pointer]);
  });

  test('the longest reason is taken, and verifies with its chain', async () => {
    const longest = wanted('carol', { reason: 'x'.repeat(limits.memberReasonCharsMax) });
    expect((await admin('POST', '/consents', { body: longest })).status).toBe(201);
  });

  test('a security admin only', async () => {
    await members.refuses('POST', '/consents', ['security-admin'], wanted('bob'));
    const { body } = await admin('GET', '/consents?userId=carol');
    await members.refuses('POST', `/consents/${body.consents[0].id}/revoke`, ['security-admin'], { reason });
  });
});

describe('reading', () => {
  test('consents and their receipts; support sees no users', async () => {
    const { body } = await members['config-editor']('GET', '/consents?name=terms&status=given');
    expect(body.consents.map((one: { userId: string }) => one.userId)).toEqual(['carol']);
    const receipt = await members['config-editor']('GET', `/consents/${body.consents[0].id}/receipt`);
    expect(receipt.body.receipt).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect((await members.support('GET', '/consents')).body.consents).toMatchObject([{ userId: '***' }]);
    expect((await members.support('GET', '/consents?userId=carol')).status).toBe(403);
    await members.refuses('GET', '/consents', ['security-admin', 'config-editor', 'support']);
    await members.refuses('GET', `/consents/${body.consents[0].id}/receipt`, ['security-admin', 'config-editor']);
  });

  test('the ledger: entries, verification and export', async () => {
    const masked = (await members.support('GET', '/consents/events')).body.logs;
    expect(JSON.stringify(masked)).not.toMatch(/alice|carol|4711/);
    expect(masked.some((one: { userId?: string }) => one.userId === '***')).toBe(true);
    expect((await members.support('GET', '/consents/events?userId=alice')).status).toBe(403);
    await seal();
    const { body } = await admin('GET', '/consents/events/verify');
    expect(body).toMatchObject({ valid: true, checkpoint: expect.any(String) });
    expect(body.entries).toBeGreaterThan(5);
    const token = await server.member(tenant, 'security-admin');
    const url = `/tenants/${tenant}/consents/export?format=csv&type=registered`;
    const csv = await server.app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${token}` } });
    expect(csv.body.split('\r\n')[0]).toMatch(/,clientId,reason$/);
    expect(csv.body).toContain(`,${reason}\r\n`);
    const readers = ['security-admin', 'config-editor', 'support'] as const;
    await members.refuses('GET', '/consents/events', readers);
    await members.refuses('GET', '/consents/events/verify', readers);
    await members.refuses('GET', '/consents/export', ['security-admin']);
  });
});

test('a person that is erased leaves no reason behind, and the chain still verifies', async () => {
  await admin('POST', '/consents', { body: wanted('dora', { reason: 'Dora said so' }) });
  await seal();
  const preview = await admin('POST', '/actors/user/dora/erase/preview');
  expect([preview.status, preview.body]).toMatchObject([200, { complete: true, removed: { consents: 1 } }]);
  expect((await admin('GET', '/consents?userId=dora')).body.consents.length).toBe(1);
  await members.refuses('POST', '/actors/user/dora/erase/preview', ['security-admin']);
  const erased = await admin('POST', '/actors/user/dora/erase');
  expect([erased.status, erased.body.removed.consents]).toEqual([200, 1]);
  expect(JSON.stringify(await entries())).not.toContain('Dora');
  expect(JSON.stringify(await members.audit('register', 'consent'))).not.toContain('Dora');
  expect((await admin('GET', '/consents/events/verify')).body).toMatchObject({ valid: true });
  const wrong = await admin('POST', '/actors/car/1/erase/preview', { body: { contacts: 1 } });
  expect(wrong.status).toBe(400);
});
