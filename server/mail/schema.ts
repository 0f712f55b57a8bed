/** Shapes of the mail room's requests and answers. */
import { type Static, Type } from 'typebox';
import { bounds, patterns } from '../../crds/index.ts';
import { limits } from '../core/limits.ts';

const Language = Type.String({ pattern: patterns.languageTag.source, maxLength: bounds.mailLanguageCharsMax });
const Name = Type.String({ pattern: patterns.mailTemplateName.source });
const Address = (description: string) =>
  Type.Object(
    {
      type: Type.String({ pattern: patterns.contactType.source, maxLength: 16 }),
      value: Type.String({ minLength: 1, maxLength: bounds.emailCharsMax, description }),
    },
    { additionalProperties: false },
  );
const part = (description: string, maxLength: number = limits.mailTemplateCharsMax) =>
  Type.String({ minLength: 1, maxLength, description });

export const TemplateParams = Type.Object({ tenant: Type.String(), name: Name, language: Language });

const parts = {
  subject: part('Subject, in Liquid.', limits.mailSubjectCharsMax),
  html: Type.Optional(part('The HTML part, in Liquid. It is sanitized when it is rendered.')),
  text: Type.Optional(part('The text part, in Liquid. Default: made of the HTML part. One of the two is required.')),
};
export const TemplateBody = Type.Object(parts, { additionalProperties: false });
export const TemplateView = Type.Object({
  ...{ name: Type.String(), language: Type.String(), ...parts },
  builtIn: Type.Boolean({
    description: 'Whether it is the built-in template, as one of the tenant would say the same.',
  }),
  variables: Type.Array(Type.String(), {
    description: 'The variables of the mail. Of a name that is not built in: those that the template uses.',
  }),
  samples: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
      description:
        'Of a name that is built in: values of the variables, with which a test is sent unless others are given.',
    }),
  ),
  ...{ revision: Type.Optional(Type.Integer()), updatedAt: Type.Optional(Type.String()) },
  ...{ updatedBy: Type.Optional(Type.String()), managedBy: Type.Optional(Type.String()) },
});
const Variables = Type.Record(Type.String({ maxLength: 64 }), Type.Unknown(), {
  description: 'Values of the variables of the template.',
});
export const PreviewBody = Type.Object(
  {
    subject: Type.Optional(parts.subject),
    html: parts.html,
    text: parts.text,
    variables: Type.Optional(Variables),
    lenient: Type.Optional(
      Type.Boolean({
        description:
          'true: variables that are not given are empty. Default: they are an error of a template that reads them.',
      }),
    ),
  },
  { additionalProperties: false },
);
export const PreviewView = Type.Object({
  subject: Type.String(),
  text: Type.String(),
  html: Type.Optional(Type.String()),
  language: Type.String(),
});
export const TemplatesView = Type.Object({
  templates: Type.Array(
    Type.Object({
      ...{ name: Type.String(), language: Type.String(), builtIn: Type.Boolean() },
      managedBy: Type.Optional(Type.String({ description: 'Whose it is, of one of the tenant.' })),
    }),
  ),
});

const from = Type.String({
  pattern: patterns.mailFrom.source,
  maxLength: bounds.mailFromCharsMax,
  description: 'Sender: an e-mail address, or NAME <ADDRESS>.',
});
const replyTo = Type.Optional(
  Type.String({
    pattern: patterns.email.source,
    maxLength: bounds.emailCharsMax,
    description: 'Where answers go. Default: the address of from.',
  }),
);
export const SettingsBody = Type.Object({ from, replyTo }, { additionalProperties: false });
export const SettingsView = Type.Object({
  from: Type.Optional(from),
  replyTo,
  via: Type.Unsafe<'tenant' | 'installation' | 'none'>(
    Type.Enum(['tenant', 'installation', 'none'], {
      description: "The mail server: that of the Tenant's spec.mail, that of the installation, or none.",
    }),
  ),
  sender: Type.Optional(
    Type.String({
      description: 'The address that mails have as their sender. That of the installation cannot be chosen.',
    }),
  ),
  managedBy: Type.String(),
});

export const TestBody = Type.Object(
  {
    ...{ template: Name, language: Type.Optional(Language), to: Address('Where the test goes.') },
    variables: Type.Optional(Variables),
  },
  { additionalProperties: false },
);
export const MessageBody = Type.Object(
  {
    template: Name,
    language: Type.Optional(Language),
    to: Address('One address, without a display name.'),
    variables: Type.Optional(Variables),
  },
  { additionalProperties: false },
);
export type MessageBody = Static<typeof MessageBody>;

const status = Type.Unsafe<'waiting' | 'sent' | 'failed'>(
  Type.Enum(['waiting', 'sent', 'failed'], { description: 'sent: a mail server accepted it.' }),
);
export const AcceptedView = Type.Object({ messageId: Type.String(), status });
export const MessageView = Type.Object({
  ...{ messageId: Type.String(), template: Type.String(), language: Type.Optional(Type.String()) },
  to: Type.String({ description: 'The address, masked.' }),
  status,
  reason: Type.Optional(
    Type.String({ description: 'Why it failed: refused, bounced, suppressed, expired or template.' }),
  ),
  answer: Type.Optional(Type.String({ description: 'What the mail server said last, without addresses.' })),
  ...{ attempts: Type.Integer(), createdAt: Type.String(), nextAttemptAt: Type.Optional(Type.String()) },
  settledAt: Type.Optional(Type.String()),
});
export const MessagesPage = Type.Object({ messages: Type.Array(MessageView), cursor: Type.Optional(Type.String()) });

export const BounceBody = Type.Object(
  {
    report: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'The report of a mail server (RFC 3464) as it came.',
        maxLength: limits.mailReportBytesMax,
      }),
    ),
    messageId: Type.Optional(Type.String({ pattern: patterns.uuid.source })),
    kind: Type.Optional(
      Type.Unsafe<'hard' | 'soft' | 'complaint'>(
        Type.Enum(['hard', 'soft', 'complaint'], {
          description: 'hard: the address does not exist. soft: it may exist. complaint: its owner took it for spam.',
        }),
      ),
    ),
  },
  { additionalProperties: false },
);
export const BounceView = Type.Object({
  messageId: Type.String(),
  suppressed: Type.Boolean({ description: 'Whether the address gets no more mail.' }),
});

export const SuppressionsPage = Type.Object({
  suppressions: Type.Array(
    Type.Object({
      id: Type.String({ description: 'Names the address, without telling it.' }),
      to: Type.Optional(Type.String({ description: 'The address, masked.' })),
      reason: Type.String({
        description: 'bounced, complained, or unsubscribed, which transactional mails are sent despite.',
      }),
      at: Type.String(),
    }),
  ),
  cursor: Type.Optional(Type.String()),
});

const outboxMail = { id: Type.String(), at: Type.String(), to: Type.String(), subject: Type.String() };
export const OutboxView = Type.Object({
  isOutbox: Type.Boolean({ description: 'Whether this installation keeps mail and sends none.' }),
  mails: Type.Array(Type.Object(outboxMail)),
});
export const OutboxMailView = Type.Object({ ...outboxMail, text: Type.String() });
