/** The events of the ledger room: every entry is one. */
import { Type } from 'typebox';
import { eventData, eventType } from '../room/events.ts';
import { RegisterEvent } from './schema.ts';

const consents = '/{tenant}/consents';
const byMembers = '/tenants/{tenant}/consents';

export const registerEvent = eventType('REGISTER_EVENT', {
  when: 'An entry of the ledger of consents was sealed, about half a second after the request that it records.',
  operations: [
    ...[`POST ${consents}`, `POST ${consents}/refusals`, `POST ${consents}/invitations`, `DELETE ${consents}/{id}`],
    ...[`DELETE ${consents}/users/{userId}`, `GET ${consents}`, `GET ${consents}/active`, `GET ${consents}/me`],
    ...[`GET ${consents}/outstanding`, `GET ${consents}/{id}/receipt`, `GET ${consents}/events/verify`],
    ...[`GET ${consents}/events`, `GET ${consents}/events/me`, `GET ${consents}/export`],
    ...['POST /{tenant}/actors/{type}/{id}/erase', 'POST /tenants/{tenant}/actors/{type}/{id}/erase'],
    ...[`POST ${byMembers}`, `POST ${byMembers}/{id}/revoke`, `GET ${byMembers}`, `GET ${byMembers}/{id}/receipt`],
    ...[`GET ${byMembers}/events`, `GET ${byMembers}/events/verify`, `GET ${byMembers}/export`],
  ],
  data: eventData({
    ...RegisterEvent.properties,
    sequence: Type.Integer({ description: "Number in the ledger's chain." }),
  }),
  example: {
    ...{ requestor: 'user:user:alice', id: '0199f2f0-7f5e-7c3a-9a53-5f4b1e0c2d11', sequence: 12 },
    ...{ time: '2026-11-23T09:30:00.000Z', type: 'registered', actor: { type: 'user', id: 'alice' }, userId: 'alice' },
    ...{
      name: 'terms',
      version: '1',
      document: { version: '1.0', language: 'en' },
      outcome: 'given',
      requestId: 'r-1',
    },
  },
  keyOf: ({ userId }) => (userId === undefined ? 'consents' : `consents/${userId}`),
});
