/** The built-in mails: of each a subject, paragraphs and a link, as plain text and as simple HTML, in each language. Pure. */

import { escapeHtml } from '../core/escape-html.ts';
import type { MailLanguage } from './rules.ts';
import { type Body, texts } from './texts.ts';

/** What every mail says: whose it is. `url` is the link that it is about. */
type Linked = { tenantName: string; url: string };

/** The variables of each template. */
export type MailVariables = {
  'email-verification': Linked & { validHours: number };
  'password-reset': Linked & { validMinutes: number };
  /** Somebody wanted to sign up with an address that has an account. */
  'account-exists': Linked;
  'relationship-invitation': Linked & { invitor?: string; expiresAt: string };
  'portal-invitation': Linked & { role: string; expiresAt: string };
};
export type MailTemplate = keyof MailVariables;

type RenderedMail = { subject: string; text: string; html: string };

/** @throws Error naming a variable that is missing */
export function render<Template extends MailTemplate>(
  template: Template,
  language: MailLanguage,
  variables: MailVariables[Template],
): RenderedMail {
  for (const name of ['tenantName', 'url'] as const) {
    if (typeof variables[name] !== 'string' || variables[name] === '')
      throw new Error(`the mail ${template} has no ${name}`);
  }
  const words = texts[language];
  const { subject, before, button, after } = (words[template] as (given: MailVariables[Template]) => Body)(variables);
  const foot = words.foot(variables.tenantName);
  const text = [...before, variables.url, ...after, `-- \n${foot}`].join('\n\n');
  const paragraphs = (all: readonly string[]) => all.map((one) => `<p>${escapeHtml(one)}</p>`).join('\n');
  const html = `<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>
<body style="font-family: sans-serif; max-width: 34em; margin: 2em auto; padding: 0 1em">
${paragraphs(before)}
<p><a href="${escapeHtml(variables.url)}">${escapeHtml(button)}</a></p>
<p style="word-break: break-all">${escapeHtml(variables.url)}</p>
${paragraphs(after)}
<p><small>${escapeHtml(foot)}</small></p>
</body></html>`;
  return { subject, text, html };
}
