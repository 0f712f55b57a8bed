/** MailTemplate: what a mail of the tenant says in one language, in place of the built-in one or under a name of its own. */
import Type, { type Static } from 'typebox';
import { bounds } from './bounds.ts';
import { ownershipFields, strictObject, TenantRef, text } from './fields.ts';
import { column, columns, type Kind, Status } from './kind.ts';
import { patterns } from './patterns.ts';
import { immutable, type Rule, rule } from './rule.ts';

const part = (description: string, maxLength: number) => Type.String({ minLength: 1, maxLength, description });

export const MailTemplateSpec = strictObject(
  {
    tenantRef: TenantRef,
    name: text(
      patterns.mailTemplateName,
      bounds.labelCharsMax,
      'Name of the mail: of a built-in one, such as relationship-invitation, or another one, which POST M/mail/messages sends. Immutable.',
    ),
    language: text(patterns.languageTag, bounds.mailLanguageCharsMax, 'Language of the template (BCP 47). Immutable.'),
    subject: part('Subject, in Liquid.', bounds.mailSubjectCharsMax),
    html: Type.Optional(
      part('The HTML part, in Liquid. It is sanitized when it is rendered.', bounds.mailTemplateCharsMax),
    ),
    text: Type.Optional(
      part('The text part, in Liquid. Without it, it is made of the HTML part.', bounds.mailTemplateCharsMax),
    ),
    ...ownershipFields,
  },
  { description: 'What the mail says.' },
);
export type MailTemplateSpec = Static<typeof MailTemplateSpec>;

const rules: readonly Rule[] = [
  immutable('/spec/tenantRef/name', 'must not change: delete the template and make it in the other tenant'),
  immutable('/spec/name', 'must not change: delete the template and make one of the other name'),
  immutable('/spec/language', 'must not change: delete the template and make one in the other language'),
  rule<MailTemplateSpec>({
    at: '/spec',
    cel: 'has(self.html) || has(self.text)',
    message: 'must have html or text, or both',
    check: ({ html, text }) => html !== undefined || text !== undefined,
  }),
];

export const mailTemplate = {
  kind: 'MailTemplate',
  plural: 'mailtemplates',
  singular: 'mailtemplate',
  shortNames: ['amt'],
  scope: 'Namespaced',
  description: 'What a mail of the tenant says in one language.',
  specSchema: MailTemplateSpec,
  statusSchema: Status,
  printerColumns: columns({
    tenant: true,
    own: [
      column('Mail', '.spec.name', 'Name of the mail.'),
      column('Language', '.spec.language', 'Language of the template.'),
    ],
  }),
  rules,
  listKeys: [],
} as const satisfies Kind;
