/** Cars and who shares them, kept by Accord: relationships, invitations and the attributes of cars. */
import { randomBytes } from 'node:crypto';
import { type AccordClient, AccordResponseError } from '@accord/client';

export type Car = { id: string; name: string; plate: string };
export type Shared = { with: string; status: string };

const actor = (sub: string) => ({ type: 'user', id: sub });

/** What nobody has stored anything about is answered 404. */
async function unlessUnknown<Found>(work: Promise<Found>): Promise<Found | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AccordResponseError && error.status === 404) return undefined;
    throw error;
  }
}

/** @returns a car without a name has its id as one */
export async function readCar(server: AccordClient, id: string): Promise<Car> {
  const path = { type: 'car', id };
  const found = await unlessUnknown(server.call('GET', '/{tenant}/resources/{type}/{id}', { path }));
  const { name = id, plate = '' }: Record<string, unknown> = found?.data ?? {};
  return { id, name: String(name), plate: String(plate) };
}

export async function listCars(server: AccordClient, sub: string): Promise<Car[]> {
  const path = actor(sub);
  const found = await unlessUnknown(server.call('GET', '/{tenant}/actors/{type}/{id}/relationships', { path }));
  const cars = (found?.data ?? []).filter(
    ({ relationshipType, to }) => relationshipType === 'may_use' && to.type === 'car',
  );
  return Promise.all(cars.map(({ to }) => readCar(server, to.id)));
}

/** Stores a car, and that its owner may use it. @returns its id */
export async function addCar(server: AccordClient, sub: string, car: Omit<Car, 'id'>): Promise<string> {
  const id = `car-${randomBytes(4).toString('hex')}`;
  const { name, plate } = car;
  await server.call('PUT', '/{tenant}/resources/{type}/{id}', { path: { type: 'car', id }, body: { name, plate } });
  await server.call('POST', '/{tenant}/actors/{type}/{id}/relationships', {
    path: actor(sub),
    body: { relationshipType: 'may_use', to: { type: 'car', id } },
  });
  return id;
}

/** Invites as the user, so the tenant's policy says whether the user may. Accord mails the link. */
export async function shareCar(user: AccordClient, id: string, email: string, redirectUri: string): Promise<void> {
  await user.call('POST', '/{tenant}/sharing/invitations', {
    body: {
      relationshipType: 'may_use',
      to: { type: 'car', id },
      invitee: { contact: { type: 'email', value: email } },
      delivery: 'mail',
      language: 'en',
      redirectUri,
    },
  });
}

/** The invitations that the user made for a car. */
export async function listShares(user: AccordClient, id: string): Promise<Shared[]> {
  const { data } = await user.call('GET', '/{tenant}/sharing/invitations', { query: { toType: 'car', toId: id } });
  return data.invitations.map(({ invitee, status }) => ({ with: invitee.contact.masked, status }));
}
