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
const invitation = eventData(version);
const requestor = 'user:user:alice';
const about = { requestor, userId: 'alice', name: 'terms', version: '1' };
const example = { ...about, document: { version: '1.0', language: 'en' } };
const keyOf = ({ userId }: { userId: string }) => `consents/${userId}`;

export const consentRegistered = eventType('CONSENT_REGISTERED', {
  ...{
    when: 'A user consented to a document.',
    operations: ['POST /{tenant}/consents'],
    data: consent,
    example,
    keyOf,
  },
});
export const consentRevoked = eventType('CONSENT_REVOKED', {
  ...{ when: 'A consent was revoked, one event for each.', operations: ['DELETE /{tenant}/consents/{id}'] },
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
  ...{ data: invitation, example: about, keyOf },
});
export const consentEvents = [consentRegistered, consentRevoked, consentRefused, consentInvited];
