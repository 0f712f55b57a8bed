/** What a person shares, has and agreed to, at the page of its account: its own only, and ended as at the API. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { ownersMay } from '../invitations/inviting.ts';
import { accountServer, idsOf } from './own-account.ts';

const { server, cars, tenant, account, person, define } = await accountServer();
const { backend, policy, user } = cars;
const invitee = { contact: { type: 'email', value: 'bob@example.com' } };

/** Alice owns a car of her own; owners may do everything with it. */
async function owner() {
  const alice = await person();
  const car = { type: 'car', id: `car-${randomBytes(4).toString('hex')}` };
  const made = await backend('POST', `/actors/user/${alice.id}/relationships`, {
    body: { relationshipType: 'is_owner_of', to: car },
  });
  expect(made.status).toBe(201);
  const invitor = { type: 'user', id: alice.id };
  return {
    ...{ alice, car },
    invite: (more: object = {}) => cars.invite({ to: car, invitor, invitee, ...more }),
  };
}

/** Who has the car, and how. */
const driversOf = async (car: { id: string }) =>
  (await backend('GET', `/resources/car/${car.id}/relationships`)).body.map(
    ({ from, relationshipType }: { from: { id: string }; relationshipType: string }) =>
      `${from.id} ${relationshipType}`,
  );
const statusOf = async (id: string) => (await backend('GET', `/sharing/invitations/${id}`)).body.status;

for (const action of ['user:drives:car:invitation:revoke', 'user:drives:car:delete']) await policy(action, ownersMay());
await server.services.snapshots.refresh(tenant);

test('an invitation that waits is shown with the masked address, and withdrawn', async () => {
  const { alice, car, invite } = await owner();
  const made = await invite();
  const page = await alice.show();
  expect(page.text).toContain(`car ${car.id} → b***@example.com Not accepted yet`);
  expect(page.html).not.toContain('bob@example.com');
  const [id = ''] = idsOf(page, '/shares/end');
  const asked = await alice.browser.submit(page, '/shares/end');
  expect(asked.text).toContain(`Withdraw the invitation to car ${car.id}`);
  expect(await statusOf(made.invitationId)).toBe('pending');
  expect((await alice.end('/shares/end', { id })).text).toContain('It was ended.');
  expect(await statusOf(made.invitationId)).toBe('revoked');
});

test('what somebody accepted is shown until it is ended, and then the other has it no more', async () => {
  const { alice, car, invite } = await owner();
  const bob = `bob-${car.id}`;
  const { requestToken } = await invite({ relationshipExpiresAt: '2090-01-01T00:00:00Z' });
  expect((await cars.accept(await user(bob), bob, requestToken)).status).toBe(200);
  const page = await alice.show();
  expect(page.text).toContain(`car ${car.id} → b***@example.com`);
  expect(page.text).not.toContain('Not accepted yet');
  expect(page.text).toContain('until 1 January 2090');
  expect(page.html).not.toContain(bob); // whom she invited she knows by the address
  const [id = ''] = idsOf(page, '/shares/end');
  expect(await driversOf(car)).toContain(`${bob} drives`);
  expect((await alice.end('/shares/end', { id })).text).toContain('It was ended.');
  expect(await driversOf(car)).toEqual([`${alice.id} is_owner_of`]);
  expect((await alice.show()).text).toContain('You share nothing.');
  expect((await alice.end('/shares/end', { id })).status).toBe(404);
});

test('what the policies do not let the person end is shown without a button, and not ended', async () => {
  const { alice, car, invite } = await owner();
  await invite({ relationshipType: 'cleans' });
  const page = await alice.show();
  expect(page.text).toContain(`car ${car.id} → b***@example.com`);
  expect(idsOf(page, '/shares/end')).toEqual([]);
});

test("others' shares are neither shown nor ended", async () => {
  const [{ alice, invite, car }, other] = [await owner(), await owner()];
  const waiting = await invite();
  const bob = `bob-${car.id}`;
  const { requestToken } = await invite();
  await cars.accept(await user(bob), bob, requestToken);
  const ids = idsOf(await alice.show(), '/shares/end');
  expect(ids).toHaveLength(2);
  expect(idsOf(await other.alice.show(), '/shares/end')).toEqual([]);
  for (const id of [...ids, `invitation:${waiting.invitationId}`])
    expect((await other.alice.end('/shares/end', { id, confirmed: '1' })).status).toBe(404);
  expect(await statusOf(waiting.invitationId)).toBe('pending');
  expect(await driversOf(car)).toContain(`${bob} drives`);
});

test('its own relationships are shown where the policy lets the person list them, and ended where it may', async () => {
  const { alice, car } = await owner();
  expect((await alice.show()).text).not.toContain('What you have access to');
  await policy('user:relationships:list', 'package p\noutcome := "allow" if input.subject.id == input.resource.id');
  await policy('user:is_owner_of:car:delete', ownersMay());
  await server.services.snapshots.refresh(tenant);
  const other = { relationshipType: 'lends', to: { type: 'car', id: 'of-others' } };
  await backend('POST', `/actors/user/${alice.id}/relationships`, { body: other });
  const page = await alice.show();
  expect(page.text).toContain('car of-others lends');
  const ids = idsOf(page, '/relationships/end');
  expect(ids).toHaveLength(1); // no policy lets her end the other
  const stranger = await person();
  expect((await stranger.end('/relationships/end', { id: ids[0] ?? '', confirmed: '1' })).status).toBe(404);
  expect(await driversOf(car)).toEqual([`${alice.id} is_owner_of`]);
  await alice.end('/relationships/end', { id: ids[0] ?? '' });
  expect(await driversOf(car)).toEqual([]);
});

test('a consent is shown with its text, and taken back as at the API: the ledger has it', async () => {
  const [alice, bob] = [await person(), await person()];
  await define('trip-data', 'Use of trip data');
  const item = { name: 'trip-data', version: '1', document: { version: '1.0', language: 'en' } };
  for (const { id } of [alice, bob]) {
    const given = await (await user(id))('POST', '/consents', { body: item });
    expect(given.status).toBe(201);
  }
  const page = await alice.show();
  expect(page.text).toContain('Use of trip data version 1');
  expect(page.html).toContain(`/${tenant}/consents/documents/trip-data/1/1.0/en`);
  const [own = ''] = idsOf(page, '/consents/end');
  const [theirs = ''] = idsOf(await bob.show(), '/consents/end');
  expect((await alice.end('/consents/end', { id: theirs, confirmed: '1' })).status).toBe(404);
  const asked = await alice.browser.submit(page, '/consents/end');
  expect(asked.text).toContain('Take back your consent to Use of trip data?');
  expect(idsOf(await alice.show(), '/consents/end')).toEqual([own]);
  expect((await alice.end('/consents/end', { id: own })).text).toContain('It was ended.');
  expect((await alice.show()).text).toContain('You have agreed to nothing.');
  expect(idsOf(await bob.show(), '/consents/end')).toEqual([theirs]);
  const { body } = await (await user(alice.id))('GET', '/consents/events/me?type=revoked');
  expect(body.logs).toMatchObject([
    { type: 'revoked', userId: alice.id, name: 'trip-data', clientId: 'accord-account' },
  ]);
});

test('the page is in the ledger of consents where it shows one, and not otherwise', async () => {
  const alice = await person();
  const own = await user(alice.id);
  /** Those of the page. */
  const reads = async () =>
    (await own('GET', '/consents/events/me?type=read')).body.logs.filter(
      ({ clientId }: { clientId: string }) => clientId === 'accord-account',
    );
  await alice.show();
  expect(await reads()).toEqual([]);
  await define('shown', 'What is shown');
  const item = { name: 'shown', version: '1', document: { version: '1.0', language: 'en' } };
  expect((await own('POST', '/consents', { body: item })).status).toBe(201);
  await alice.show();
  expect(await reads()).toMatchObject([{ type: 'read', userId: alice.id }]);
});

test('a page of before ends nothing twice, and says so', async () => {
  const { alice, invite } = await owner();
  await invite();
  const page = await alice.show();
  const asked = await alice.browser.submit(page, '/shares/end');
  expect((await alice.browser.submit(asked, '/shares/end', { confirmed: '1' })).url).toBe(`${account}?notice=ended`);
  expect((await alice.browser.submit(asked, '/shares/end', { confirmed: '1' })).status).toBe(404);
});
