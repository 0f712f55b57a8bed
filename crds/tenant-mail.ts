/** What a Tenant says of mail: how it is sent, and which mails about consents its users get. */
import Type from 'typebox';
import { bounds } from './bounds.ts';
import { strictObject, text } from './fields.ts';
import { patterns } from './patterns.ts';

export const Mail = strictObject(
  {
    from: text(patterns.mailFrom, bounds.mailFromCharsMax, 'Sender: an e-mail address, or NAME <ADDRESS>.'),
    smtp: strictObject(
      {
        host: text(patterns.host, bounds.hostCharsMax, 'Host name or IPv4 address of the mail server.'),
        port: Type.Integer({
          minimum: 1,
          maximum: 65_535,
          default: 587,
          description: 'Port of the mail server. 465: TLS from the start; another: STARTTLS, which is required.',
        }),
        secretRef: Type.Optional(
          strictObject(
            {
              name: text(
                patterns.subdomain,
                bounds.objectNameCharsMax,
                "Name of a Secret in the tenant's secretNamespace with the keys username and password.",
              ),
            },
            { description: 'Credentials for the mail server. If absent, none are sent.' },
          ),
        ),
      },
      { description: 'The mail server.' },
    ),
  },
  { description: "How the tenant's mail is sent. If absent, by the mail server of the installation, if it has one." },
);

export const ConsentMail = strictObject(
  {
    url: text(
      patterns.visible,
      bounds.urlCharsMax,
      'Page of the application where a user sees and renews consents: the link of the mails. https, or http to a loopback host.',
    ),
    renewal: Type.Boolean({
      default: false,
      description:
        'Whether a user gets the mail consent-renewal when the grace period of a consent begins, and again before it ends (events.graceEndingDays).',
    }),
    receipt: Type.Boolean({
      default: false,
      description: 'Whether a user gets the mail consent-receipt after each consent.',
    }),
  },
  {
    description:
      "Mails about consents, to the verified address of the user's account at the tenant's own issuer. Users without one get none. If absent, there are none.",
  },
);
