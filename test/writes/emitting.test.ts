/** Which event each action emits, by real requests: the list of design page "Event streaming". */
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { afterEach, expect, test } from 'vitest';
import { allEventTypes } from '../../server/room/catalogue.ts';
import { rooms } from '../../server/rooms.ts';
import { consenting, day } from '../consents/consenting.ts';
import { EmittedEvents } from '../helpers/emitted.ts';
import { createTestServer } from '../helpers/server.ts';
import { body, invitingTenant, WallClock } from '../invitations/inviting.ts';
import { configClient } from '../policies/config-client.ts';
import { sharingTenant } from '../relationships/sharing.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const events = new EmittedEvents(server.db);
const types = allEventTypes(rooms);
/** But for those of configuration, which every change of it emits. */
async function emitted() {
  const taken = await events.take();
  for (const { type, data } of taken)
    expect([...Value.Errors(types.get(type)?.data as TSchema, data)], type).toEqual([]);
  return taken.filter(({ type }) => type !== 'CONFIGURATION_CHANGED').map(({ type, data }) => ({ type, ...data }));
}
const requestor = 'client:backend';
const [alice, car] = [
  { type: 'user', id: 'alice' },
  { type: 'car', id: '1' },
];

afterEach(async () => void (await events.take()));

test('policies', async () => {
  const config = await configClient(server, await server.tenant());
  const rego = 'package p\ndefault outcome := "deny"';
  for (let again = 0; again < 2; again++) await config('PUT', '/policies/car:read', { body: { rego } });
  await config('DELETE', '/policies/car:read');
  await config('DELETE', '/policies/car:read');
  const by = { requestor: expect.stringContaining('member:'), name: 'car:read' };
  expect(await emitted()).toEqual([
    { type: 'POLICY_UPDATED', ...by, number: 1 },
    { type: 'POLICY_DELETED', ...by },
  ]);
});

test('relationships', async () => {
  const { backend, relate } = await sharingTenant(server);
  expect(await emitted()).toEqual([]);
  await relate('user/alice', 'drives', 'car/1');
  await relate('user/alice', 'drives', 'car/1'); // updated
  await relate('user/alice', 'flies', 'car/1'); // refused
  const relationship = { from: alice, relationshipType: 'drives', to: car };
  expect(await emitted()).toEqual([{ type: 'RELATIONSHIP_CREATED', requestor, ...relationship }]);
  await relate('user/alice', 'is_owner_of', 'car/1');
  await relate('user/bob', 'drives', 'car/2');
  await events.take();
  const removed = { type: 'RELATIONSHIPS_DELETED', requestor, deleted: 1 };
  await backend('DELETE', '/relationships?fromType=user&fromId=bob');
  await backend('DELETE', '/relationships?fromType=user&fromId=bob');
  expect(await emitted()).toEqual([{ ...removed, fromType: 'user', fromId: 'bob' }]);
  await backend('DELETE', '/actors/user/alice/relationships/drives/car/1');
  const about = { fromType: 'user', fromId: 'alice', relationshipType: 'drives', toType: 'car', toId: '1' };
  expect(await emitted()).toEqual([{ ...removed, ...about }]);
  await backend('DELETE', '/resources/car/1');
  expect(await emitted()).toEqual([{ ...removed, toType: 'car', toId: '1' }]);
});

test('invitations', async () => {
  const { backend, invite, accept, path, user } = await invitingTenant(server);
  await events.take();
  const { invitationId, requestToken } = await invite();
  const one = { requestor, invitationId, target: car };
  const { relationshipType, invitor, invitee } = body();
  expect(await emitted()).toEqual([{ type: 'INVITATION_CREATED', ...one, relationshipType, invitor, invitee }]);
  clock.advance(1_800_000);
  const again = await backend('POST', path(`/${invitationId}/resend`));
  expect(await emitted()).toEqual([{ type: 'INVITATION_RESENT', ...one }]);
  const acceptor = { type: 'user', id: 'bob' };
  expect((await accept(backend, 'bob', requestToken)).status).not.toBe(200);
  expect(await emitted()).toEqual([]);
  for (let twice = 0; twice < 2; twice++) await accept(backend, 'bob', again.body.requestToken);
  expect(await emitted()).toEqual([
    { type: 'RELATIONSHIP_CREATED', requestor, from: acceptor, relationshipType: 'drives', to: car },
    { type: 'INVITATION_ACCEPTED', ...one, acceptor },
  ]);
  const [declined, revoked, forgotten] = [await invite(), await invite(), await invite()];
  await events.take();
  await (await user('carol'))('POST', path('/decline'), { body: { requestToken: declined.requestToken } });
  await backend('DELETE', path(`/${revoked.invitationId}`));
  await backend('DELETE', '/resources/car/1');
  const of = (id: string) => ({ invitationId: id, target: car });
  expect(await emitted()).toEqual([
    { type: 'INVITATION_DECLINED', requestor: 'user:user:carol', ...of(declined.invitationId) },
    { type: 'INVITATION_REVOKED', requestor, ...of(revoked.invitationId) },
    { type: 'INVITATION_REVOKED', requestor, ...of(forgotten.invitationId) },
    { type: 'RELATIONSHIPS_DELETED', requestor, toType: 'car', toId: '1', deleted: 1 },
  ]);
});

test('consents', async () => {
  const { define, end, user, admin } = await consenting(server, clock);
  await define('terms', { '1 a en': 1000, '2 a en': 40 * day });
  clock.advance(2000);
  await events.take();
  const erika = user('erika');
  const document = { version: 'a', language: 'en' };
  const item = { name: 'terms', version: '1', document };
  const about = { requestor: 'user:user:erika', userId: 'erika', ...item };
  await erika('POST', '', item);
  const given = await erika('POST', '', item); // given before
  expect(await emitted()).toEqual([{ type: 'CONSENT_REGISTERED', ...about }]);
  await erika('POST', '/refusals', item);
  expect(await emitted()).toEqual([{ type: 'CONSENT_REFUSED', ...about }]);
  expect((await end('terms', '1', { startDate: 45 * day, endDate: 90 * day, gracePeriod: 'P10D' })).status).toBe(200);
  clock.advance(46 * day);
  await events.take();
  await erika('GET', '/active?name=terms&language=en');
  await erika('GET', '/active?name=terms&language=en');
  const { document: _, ...invited } = about;
  const gracePeriodEnds = new Date(clock.now() + 10 * day).toISOString();
  expect(await emitted()).toEqual([{ type: 'CONSENT_INVITED', ...invited, gracePeriodEnds }]);
  await admin('DELETE', `/${given.body.id}`);
  expect(await emitted()).toEqual([{ type: 'CONSENT_REVOKED', ...about, requestor }]);
});
