/** The events of the definitions room: what takes effect at its instant. */
import { Type } from 'typebox';
import { eventData, eventType } from '../room/events.ts';

const instant = Type.String({ format: 'date-time' });
const keyOf = ({ name }: { name: string }) => `consent_definition/${name}`;

export const documentEffective = eventType('CONSENT_DOCUMENT_EFFECTIVE', {
  when: 'A document of a consent definition took effect: its effectiveDate came.',
  operations: [],
  data: eventData({
    name: Type.String({ description: 'Name of the consent definition.' }),
    version: Type.String({ description: 'Version of the consent definition.' }),
    document: Type.Object({ version: Type.String(), language: Type.String() }),
    effectiveDate: instant,
  }),
  example: {
    ...{ requestor: 'accord', name: 'terms', version: '2', document: { version: '1.0', language: 'en' } },
    effectiveDate: '2026-11-23T09:30:00.000Z',
  },
  keyOf,
});
