/** The built-in mails: of each a subject, paragraphs and a link, as plain text and as HTML, in each language. Pure. */
import { layout } from './layout.ts';
import type { MailLanguage } from './rules.ts';
import { type Body, texts } from './texts.ts';
import { builtIn, type MailTemplate, type MailVariables, type ShownVariables, shownVariables } from './variables.ts';

export type RenderedMail = { subject: string; text: string; html: string };

/** @throws Error naming a variable that is missing */
export function render<Template extends MailTemplate>(
  template: Template,
  language: MailLanguage,
  variables: MailVariables[Template],
): RenderedMail {
  return written(template, language, shownVariables(template, language, variables, texts[language].somebody));
}

/** A built-in mail as a template of a tenant would have to be written to say the same. */
export function sourceOf(template: MailTemplate, language: MailLanguage): RenderedMail {
  const names = Object.keys(builtIn[template].variables).map((name) => [name, `{{ ${name} }}`]);
  return written(template, language, Object.fromEntries(names) as ShownVariables<MailTemplate>);
}

function written<Template extends MailTemplate>(
  template: Template,
  language: MailLanguage,
  shown: ShownVariables<Template>,
): RenderedMail {
  const words = texts[language];
  const body = (words[template] as (given: ShownVariables<Template>) => Body)(shown);
  const { application, actionUrl } = shown as unknown as { application: string; actionUrl: string };
  const foot = words.foot(application);
  const text = [...body.before, actionUrl, ...body.after, `-- \n${foot}`].join('\n\n');
  return { subject: body.subject, text, html: layout({ ...body, language, foot, application, actionUrl }) };
}
