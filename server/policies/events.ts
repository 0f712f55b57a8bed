/** The events of the policies room. */
import { Type } from 'typebox';
import { eventData, eventType } from '../room/events.ts';

const requestor = 'member:ada@example.com';
const name = Type.String({ description: 'Name of the policy.' });

export const policyUpdated = eventType('POLICY_UPDATED', {
  when: 'A policy was created or changed, or compiled again with another revision of a library.',
  operations: [
    'PUT /tenants/{tenant}/policies/{policyName}',
    'POST /tenants/{tenant}/policies/{policyName}/revisions/{number}/restore',
    'PUT /tenants/{tenant}/policy-libraries/{package}',
    'POST /tenants/{tenant}/policy-libraries/{package}/revisions/{number}/restore',
  ],
  data: eventData({ name, number: Type.Integer({ description: 'Number of the revision of the policy.' }) }),
  example: { requestor, name: 'car:read', number: 3 },
  keyOf: (data) => `policy/${data.name}`,
});
export const policyDeleted = eventType('POLICY_DELETED', {
  when: 'A policy was deleted.',
  operations: ['DELETE /tenants/{tenant}/policies/{policyName}'],
  data: eventData({ name }),
  example: { requestor, name: 'car:read' },
  keyOf: (data) => `policy/${data.name}`,
});
export const policyEvents = [policyUpdated, policyDeleted];
