/** The events of the authz room: decisions of which the tenant keeps records. */
import { Type } from 'typebox';
import { limits } from '../core/limits.ts';
import { eventData, eventType, type NewEvent, newEvent } from '../room/events.ts';
import type { DecisionRecord } from './store.ts';

const free = Type.Record(Type.String(), Type.Unknown());

export const decisionMade = eventType('DECISION', {
  when: 'A decision was recorded: all, denies or a sample, as decisionLog of the Tenant says. One that is not recorded is no event.',
  operations: [
    ...['POST /authz/{tenant}', 'POST /authz/{tenant}/batch', 'POST /{tenant}/access/v1/evaluation'],
    'POST /{tenant}/access/v1/evaluations',
  ],
  data: eventData({
    at: Type.String({ format: 'date-time' }),
    action: Type.Optional(Type.String({ description: 'Name of the policy.' })),
    outcome: Type.Unknown({ description: 'allow, deny, or the object that the policy returned.' }),
    reason: Type.Optional(Type.String()),
    obligations: Type.Optional(Type.Array(Type.Unknown())),
    request: Type.Optional(
      Type.Object(
        { subject: Type.Optional(free), resource: Type.Optional(free), context: Type.Optional(free) },
        { description: 'Absent where the event would have more than 64 KiB.' },
      ),
    ),
    policyRevision: Type.Optional(Type.Integer()),
    revision: Type.Integer({ description: 'Revision of the configuration that decided.' }),
    requestId: Type.String(),
  }),
  example: {
    ...{ requestor: 'client:backend', at: '2026-11-23T09:30:00.000Z', action: 'car:read', outcome: 'allow' },
    request: { subject: { type: 'user', id: 'alice' }, resource: { type: 'car', id: 'car-1' } },
    ...{ policyRevision: 3, revision: 17, requestId: 'r-1' },
  },
  keyOf: ({ request }) => {
    const { type, id } = request?.resource ?? {};
    if (typeof type !== 'string' || typeof id !== 'string' || id === '') return 'decisions';
    return type.length + id.length > limits.entityIdBytesMax ? 'decisions' : `${type}/${id}`;
  },
});

export function eventOf(record: DecisionRecord): NewEvent {
  const { tenant, at, caller: requestor, request, answer, policyNumber, revision, requestId } = record;
  const { action, ...asked } = request;
  const { outcome, reason, obligations } = answer;
  const base = {
    ...{ requestor, at: new Date(at).toISOString(), revision, requestId },
    ...(action === undefined ? {} : { action }),
    ...(policyNumber === undefined ? {} : { policyRevision: policyNumber }),
  };
  const answered = {
    outcome,
    ...(reason === undefined ? {} : { reason }),
    ...(obligations === undefined ? {} : { obligations: [...obligations] }),
  };
  const whole = { ...base, ...answered, request: asked };
  const isLong = Buffer.byteLength(JSON.stringify(whole)) > limits.eventBodyBytesMax;
  const data = isLong ? { ...base, outcome: typeof outcome === 'string' ? outcome : {} } : whole;
  return newEvent(decisionMade, tenant, at, data);
}
