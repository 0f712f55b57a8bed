/** The events of the mail room. */
import { Type } from 'typebox';
import { eventData, eventType } from '../room/events.ts';

/** Nobody asks for what the service tells of its own accord. */
export const SERVICE = 'service';

const mail = {
  messageId: Type.String(),
  template: Type.String(),
  to: Type.String({ description: 'The address, masked.' }),
};
const example = {
  ...{ requestor: SERVICE, messageId: '6f1c2f0e-7f5e-4c3a-9a53-5f4b1e0c2d11', template: 'relationship-invitation' },
  to: 'b***@example.com',
};
const keyOf = ({ messageId }: { messageId: string }) => `mail/${messageId}`;

export const mailSent = eventType('MAIL_SENT', {
  when: 'A mail server accepted a mail.',
  operations: [],
  data: eventData(mail),
  ...{ example, keyOf },
});
export const mailFailed = eventType('MAIL_FAILED', {
  when: 'A mail will not be delivered: it was refused, came back, or expired before it could be sent.',
  operations: ['POST /{tenant}/mail/bounces'],
  data: eventData({
    ...mail,
    reason: Type.String({
      description:
        'refused: by the mail server. bounced: it came back. suppressed: the address gets no mail. expired: it could not be sent in time. template: its template cannot be rendered.',
    }),
    answer: Type.Optional(Type.String({ description: 'What the mail server said, without addresses.' })),
  }),
  example: { ...example, reason: 'refused', answer: '550 5.1.1 no such user' },
  keyOf,
});
export const mailEvents = [mailSent, mailFailed];
