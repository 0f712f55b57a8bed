/** The events of the consents room. */
import { eventType } from '../room/events.ts';

type Consent = { userId: string; name: string; version: string; document?: { version: string; language: string } };

export const consentRegistered = eventType<Consent>('CONSENT_REGISTERED');
export const consentRevoked = eventType<Consent>('CONSENT_REVOKED');
export const consentRefused = eventType<Consent>('CONSENT_REFUSED');
export const consentInvited = eventType<Consent>('CONSENT_INVITED');
export const consentEvents = [consentRegistered, consentRevoked, consentRefused, consentInvited];
