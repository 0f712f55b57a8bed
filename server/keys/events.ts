/** The event of the keys room. */
import { Type } from 'typebox';
import { eventData, eventType } from '../room/events.ts';

export const signingKeyRotated = eventType('SIGNING_KEY_ROTATED', {
  when: "A new key for the tenant's tokens was made, because the one before it is 90 days old or somebody asked for it. It is published at once and signs from activatesAt on.",
  operations: ['POST /tenants/{tenant}/keys/rotate'],
  data: eventData({
    purpose: Type.Enum(['access', 'identity'], { description: 'What it signs: access tokens, or ID tokens.' }),
    kid: Type.String({ description: 'Its id in the JWKS.' }),
    activatesAt: Type.String({ format: 'date-time' }),
  }),
  example: {
    ...{ requestor: 'accord', purpose: 'access', kid: 'sPh2ZJbl0xW3', activatesAt: '2026-11-23T09:45:00.000Z' },
  },
  keyOf: ({ purpose }) => `key/${purpose}`,
});
