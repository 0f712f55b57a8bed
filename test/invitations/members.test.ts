/** Invitations for members, in the Config API. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { createTestServer } from '../helpers/server.ts';
import { membersOf } from '../members/roles.ts';
import { invitingTenant, WallClock } from './inviting.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const cars = await invitingTenant(server);
const members = await membersOf(server, cars.tenant);
const admin = members['security-admin'];
const path = (rest = '') => `/sharing/invitations${rest}`;

describe('reading', () => {
  test('lists and reads what anybody made, never with a requestToken; support sees nobody', async () => {
    const { invitationId } = await cars.invite();
    const { body } = await admin('GET', path('?status=pending&toType=car&toId=1'));
    expect(body.invitations[0]).toMatchObject({ invitationId, to: { id: '1' }, invitor: { id: 'alice' } });
    const one = await members['config-editor']('GET', path(`/${invitationId}`));
    expect([one.status, one.body.deliveries.length]).toEqual([200, 1]);
    expect(one.body.requestToken).toBeUndefined();
    const masked = await members.support('GET', path(`/${invitationId}`));
    expect(masked.body).toMatchObject({
      to: { id: '***' },
      invitor: { id: '***' },
      invitee: { contact: { masked: '***' } },
    });
    expect((await members.support('GET', path('?toType=car&toId=1'))).body.code).toBe('forbidden');
    expect((await admin('GET', path('?cursor=x'))).status).toBe(400);
    for (const asked of [path(), path(`/${invitationId}`)])
      await members.refuses('GET', asked, ['security-admin', 'config-editor', 'support']);
  });

  test('goes on page by page', async () => {
    await cars.invite();
    const first = await admin('GET', path('?limit=1'));
    const second = await admin('GET', path(`?limit=1&cursor=${first.body.cursor}`));
    expect(second.body.invitations[0].invitationId).not.toBe(first.body.invitations[0].invitationId);
  });
});

describe('changing', () => {
  test('resends one that was mailed, too early not, and does not tell the token', async () => {
    const { invitationId } = await cars.invite({ delivery: 'mail' });
    expect((await admin('POST', path(`/${invitationId}/resend`))).body.code).toBe('rate_limited');
    clock.advance(61_000);
    const sent = await admin('POST', path(`/${invitationId}/resend`));
    expect([sent.status, sent.body.requestToken]).toEqual([200, undefined]);
    expect((await members.audit('resend', 'invitation')).at(-1)).toMatchObject({
      name: invitationId,
      actor: expect.stringMatching(/^member:/),
    });
    await members.refuses('POST', path(`/${invitationId}/resend`), ['security-admin']);
  });

  test('one whose token only a back end gets is refused with the reason', async () => {
    const { invitationId } = await cars.invite();
    clock.advance(61_000);
    const refused = await admin('POST', path(`/${invitationId}/resend`));
    expect([refused.status, refused.body.detail]).toEqual([403, expect.stringContaining('Only a back end')]);
  });

  test('revokes a pending one; one that is accepted stays', async () => {
    const { invitationId, requestToken } = await cars.invite();
    await members.refuses('DELETE', path(`/${invitationId}`), ['security-admin']);
    expect(await admin('DELETE', path(`/${invitationId}`))).toMatchObject({ status: 200, body: {} });
    expect((await cars.accept(cars.backend, 'bob', requestToken)).status).toBe(410);
    expect((await members.audit('revoke', 'invitation')).at(-1)?.name).toBe(invitationId);
    const taken = await cars.invite();
    expect((await cars.accept(cars.backend, 'bob', taken.requestToken)).status).toBe(200);
    expect((await admin('DELETE', path(`/${taken.invitationId}`))).body.code).toBe('invitation_accepted');
  });
});

describe('inviting for an actor', () => {
  const wanted = {
    relationshipType: 'drives',
    to: { type: 'car', id: '1' },
    invitor: { type: 'user', id: 'zoe' },
    invitee: { contact: { type: 'email', value: 'bob@example.com' } },
    reason: 'ticket 4711',
  };
  const { reason: _, ...unexplained } = wanted;

  test('mails the invitation whatever the policies say, tells no token, and is audited with its reason', async () => {
    const made = await admin('POST', path(), { body: wanted });
    const { invitationId } = made.body;
    expect(made).toMatchObject({ status: 201, body: { status: 'pending', invitor: { id: 'zoe' } } });
    expect(made.headers.location).toBe(`/tenants/${cars.tenant}/sharing/invitations/${invitationId}`);
    expect(JSON.stringify(made.body)).not.toContain('eyJ');
    const { deliveries } = (await admin('GET', path(`/${invitationId}`))).body;
    expect(deliveries).toMatchObject([{ kind: 'mail' }]);
    expect((await members.audit('create', 'invitation')).at(-1)).toMatchObject({
      name: invitationId,
      actor: expect.stringMatching(/^member:/),
      detail: { invitor: 'user/zoe', to: 'car/1', reason: 'ticket 4711', delivery: 'mail' },
    });
    await members.refuses('POST', path(), ['security-admin'], wanted);
  });

  test('makes one invitation of requests with one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'invite-once' };
    const [one, two] = [
      await admin('POST', path(), { body: wanted, headers }),
      await admin('POST', path(), { body: wanted, headers }),
    ];
    expect(two.body.invitationId).toBe(one.body.invitationId);
  });

  test.each<[string, object, string]>([
    ['no reason', unexplained, ''],
    ['an empty reason', { ...wanted, reason: '' }, '/reason'],
    ['a reason that is too long', { ...wanted, reason: 'x'.repeat(limits.memberReasonCharsMax + 1) }, '/reason'],
    ['no invitor', { ...wanted, invitor: undefined }, ''],
    ['a delivery that would tell the token', { ...wanted, delivery: 'response' }, ''],
    [
      'an address that no mail reaches',
      { ...wanted, invitee: { contact: { type: 'email', value: 'bob' } } },
      '/invitee/contact/value',
    ],
  ])('refuses %s', async (_, body, pointer) => {
    const refused = await admin('POST', path(), { body });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_request']);
    if (pointer !== '') expect(refused.body.errors[0].pointer).toBe(pointer);
  });

  test('takes a reason of memberReasonCharsMax, and forgets it with the invitor', async () => {
    const reason = 'y'.repeat(limits.memberReasonCharsMax);
    const invitor = { type: 'user', id: 'to-be-erased' };
    expect((await admin('POST', path(), { body: { ...wanted, invitor, reason } })).status).toBe(201);
    expect((await admin('POST', '/actors/user/to-be-erased/erase', { body: {} })).status).toBe(200);
    expect(JSON.stringify(await members.audit('create', 'invitation'))).not.toMatch(/yyyy|to-be-erased/);
  });
});
