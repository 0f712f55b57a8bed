/** Cars and who shares them, kept by Accord: relationships, invitations and the attributes of cars. */
import { randomBytes } from 'node:crypto';
import { type AccordClient, AccordResponseError } from '@accord/client';

export type Car = { id: string; name: string; plate: string };
export type Shared = { with: string; status: string };

const actor = (sub: string) => ({ type: 'user', id: sub });

/** @returns a car that nobody registered has its id as a name */
export async function readCar(server: AccordClient, id: string): Promise<Car> {
  try {
    const { data } = await server.call('GET', '/{tenant}/resources/{type}/{id}', { path: { type: 'car', id } });
    return { id, name: String(data.name ?? id), plate: String(data.plate ?? '') };
  } catch (error) {
    if (error instanceof AccordResponseError && error.status === 404) return { id, name: id, plate: '' };
    throw error;
  }
}

export async function listCars(server: AccordClient, sub: string): Promise<Car[]> {
  const path = actor(sub);
  const { data } = await server.call('GET', '/{tenant}/actors/{type}/{id}/relationships', { path });
  const cars = data.filter(({ relationshipType, to }) => relationshipType === 'may_use' && to.type === 'car');
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
