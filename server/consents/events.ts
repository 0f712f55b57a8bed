/** The events of the consents room. */
import { Type } from 'typebox';
import { eventData, eventType } from '../room/events.ts';

const document = Type.Object({ version: Type.String(), language: Type.String() });
const version = {
  userId: Type.String({ description: 'The user whose consent it is.' }),
  name: Type.String({ description: 'Name of the consent definition.' }),
  version: Type.String({ description: 'Version of the consent definition.' }),
};
const consent = eventData({ ...version, document });
const instant = Type.String({ format: 'date-time' });
const invitation = eventData({ ...version, gracePeriodEnds: Type.Optional(instant) });
const requestor = 'user:user:alice';
const about = { requestor, userId: 'alice', name: 'terms', version: '1' };
const example = { ...about, document: { version: '1.0', language: 'en' } };
const keyOf = ({ userId }: { userId: string }) => `consents/${userId}`;

export const consentRegistered = eventType('CONSENT_REGISTERED', {
  ...{
    when: 'A user consented to a document.',
    operations: ['POST /{tenant}/consents', 'POST /tenants/{tenant}/consents'],
    data: consent,
    example,
    keyOf,
  },
});
export const consentRevoked = eventType('CONSENT_REVOKED', {
  ...{
    when: 'A consent was revoked, one event for each.',
    operations: ['DELETE /{tenant}/consents/{id}', 'POST /tenants/{tenant}/consents/{id}/revoke'],
  },
  ...{ data: consent, example, keyOf },
});
export const consentRefused = eventType('CONSENT_REFUSED', {
  ...{ when: 'A user refused a document.', operations: ['POST /{tenant}/consents/refusals'] },
  ...{ data: consent, example, keyOf },
});
export const consentInvited = eventType('CONSENT_INVITED', {
  when: 'A user was invited for the first time to consent to a newer version: its grace period began.',
  operations: [
    'POST /{tenant}/consents/invitations',
    'GET /{tenant}/consents/active',
    'GET /{tenant}/consents/outstanding',
  ],
  ...{ data: invitation, example: { ...about, gracePeriodEnds: '2026-12-23T09:30:00.000Z' }, keyOf },
});
/** The member of the events and answers that tell of a grace. @param ms its last instant */
export const gracePeriodEnds = (ms: number) => ({ gracePeriodEnds: new Date(ms).toISOString() });

const byTime = { ...about, requestor: 'accord' };
export const endOfLifeStarted = eventType('CONSENT_END_OF_LIFE_STARTED', {
  when: 'A version of a consent definition began to end: the startDate of its end of life came, and its users are invited to a newer one.',
  operations: [],
  data: eventData({
    name: version.name,
    version: Type.String({ description: 'The version that ends.' }),
    startDate: instant,
    endDate: instant,
    gracePeriod: Type.String({ description: 'An ISO 8601 duration, from the first invitation of each user.' }),
  }),
  example: {
    ...{ requestor: 'accord', name: 'terms', version: '1', startDate: '2026-11-23T09:30:00.000Z' },
    ...{ endDate: '2027-02-23T09:30:00.000Z', gracePeriod: 'P30D' },
  },
  keyOf: ({ name }) => `consent_definition/${name}`,
});
export const graceEnding = eventType('CONSENT_GRACE_ENDING', {
  when: 'The grace period of a user ends soon, events.graceEndingDays of the Tenant before, or as soon as it began where it is shorter; the user has consented to no newer version.',
  operations: [],
  data: eventData({ ...version, gracePeriodEnds: instant }),
  ...{ example: { ...byTime, gracePeriodEnds: '2026-11-30T09:30:00.000Z' }, keyOf },
});
export const consentExpired = eventType('CONSENT_EXPIRED', {
  when: 'The consent of a user does not suffice any more: its grace period ended, or its version did.',
  operations: [],
  data: eventData({ ...version, expiredAt: Type.String({ format: 'date-time', description: 'Its last instant.' }) }),
  ...{ example: { ...byTime, expiredAt: '2026-11-23T09:30:00.000Z' }, keyOf },
});

export const consentEvents = [
  ...[consentRegistered, consentRevoked, consentRefused, consentInvited],
  ...[endOfLifeStarted, graceEnding, consentExpired],
];
