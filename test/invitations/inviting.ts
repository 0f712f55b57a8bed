/** A tenant that shares cars by invitation, for the tests of invitations. */
import { expect } from 'vitest';
import type { TenantSpec } from '../../server/tenants/index.ts';
import { TestClock } from '../core/auth/test-clock.ts';
import type { TestServer } from '../helpers/server.ts';
import { type Client, sharingTenant } from '../relationships/sharing.ts';

/** Dates stand still until they are told to go on; how long a server has not heard of its database is real. */
export class WallClock extends TestClock {
  override monotonic = () => performance.now();
}

const invitation = { enabled: true };
/** user drives car (one use, or three as maxUses says), user holds seat of a car (two at most), car has_guest user. */
const types: [path: string, body: object][] = [
  ['/actor-types/user', { attributes: { displayName: { type: 'string' } } }],
  ['/actor-types/group', {}],
  ['/resource-types/car', {}],
  ['/relationship-types/user:is_owner_of:car', { maxPerTarget: 1 }],
  [
    '/relationship-types/user:drives:car',
    { invitation: { ...invitation, redirectUris: ['https://app.example/done?a=1'] } },
  ],
  ['/relationship-types/user:holds_seat_of:car', { maxPerTarget: 2, invitation: { ...invitation, maxUses: 100 } }],
  ['/relationship-types/user:cleans:car', { invitation: { ...invitation, maxUses: 50, ttl: 'PT1H' } }],
  ['/relationship-types/car:has_guest:user', { invitation }],
  ['/relationship-types/user:may_use:car', { invitation }],
  ['/relationship-types/group:may_use:car', { invitation }],
  ['/relationship-types/user:paints:car', { invitation: { enabled: false } }],
  ['/relationship-types/user:borrows:car', { invitation: { binding: 'contact' } }],
  ['/relationship-types/user:lends:car', { invitation }],
];

/** Who owns the car may do it. @param then more of the policy */
export const ownersMay = (then = '') => `package p
default outcome := "deny"
outcome := "allow" if {
  some link in input.graph.subject
  link.relationshipType == "is_owner_of"
  link.to.id == input.resource.id
}
${then}`;

export const body = (more: object = {}) => ({
  relationshipType: 'drives',
  to: { type: 'car', id: '1' },
  invitor: { type: 'user', id: 'alice' },
  invitee: { contact: { type: 'email', value: 'Bob.Builder@example.com' } },
  ...more,
});

export async function invitingTenant(server: TestServer, spec: Partial<TenantSpec> = {}) {
  const cars = await sharingTenant(server, types, spec);
  const { backend } = cars;
  const path = (rest = '') => `/sharing/invitations${rest}`;
  return {
    ...cars,
    path,
    /** Invites as the back end, and gives what was answered. */
    async invite(more: object = {}) {
      const answer = await backend('POST', path(), { body: body(more) });
      expect([answer.status, answer.body.code]).toEqual([200, undefined]);
      return answer.body as { invitationId: string; requestToken: string; expiresAt: string } & Record<string, unknown>;
    },
    accept: (as: Called, id: string, requestToken: string, type = 'user') =>
      as('POST', path('/accept'), { body: { acceptor: { type, id }, requestToken } }),
    relationshipsOf: async (id: string) => {
      const { status, body: list } = await backend('GET', `/actors/user/${id}/relationships`);
      return status === 404 ? [] : list;
    },
  };
}
export type Called = Client['backend'];
