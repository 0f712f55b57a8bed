/**
 * Which template a mail is written by, and writing it. All of its parts are of one template: the tenant's own one, or the built-in
 * one of its name.
 */
import type { Transaction } from '../core/db/database.ts';
import { languageIn } from '../core/languages.ts';
import { readTenant, type TenantRow } from '../tenants/index.ts';
import { type ActionLink, actionLink, refusePlaceholder, withLink } from './action-link.ts';
import { sanitizedMail, textOf } from './html.ts';
import { type Part, renderLiquid } from './liquid.ts';
import { type MailLanguage, mailLanguageOf } from './rules.ts';
import { TemplateError } from './template-error.ts';
import { loadTemplates, type TemplateSpec } from './template-store.ts';
import { render } from './templates.ts';
import { texts } from './texts.ts';
import { isBuiltIn, type MailTemplate, type MailVariables, shownVariables } from './variables.ts';

export type Written = { subject: string; text: string; html?: string; language: string };

/** `own`: the tenant's template; absent: the built-in one of the name. */
export type Chosen = { own?: TemplateSpec; language: string; builtIn: MailLanguage };

/**
 * The tenant's template in the language, in a less specific one (RFC 4647 section 3.4), in the tenant's own, or in the one that the
 * built-in template would have: it goes before that. Else the built-in one in the language or in English.
 * @returns undefined where there is none of this name
 */
export async function chooseTemplate(
  tx: Transaction,
  tenant: string,
  name: string,
  wish: string | null | undefined,
  tenantRow?: TenantRow,
): Promise<Chosen | undefined> {
  const [rows, row] = await Promise.all([loadTemplates(tx, tenant, name), tenantRow ?? readTenant(tx, tenant)]);
  const tenants = row?.spec.login?.languages?.[0];
  const there = rows.map(({ language }) => language);
  const builtIn = mailLanguageOf(wish, tenants);
  // A name that only the tenant knows has nothing to fall back to: then any of its languages is better than none.
  const language =
    languageIn(there, wish, tenants, builtIn) ?? (isBuiltIn(name) ? undefined : (languageIn(there, 'en') ?? there[0]));
  if (language !== undefined) {
    return { own: rows.find((one) => one.language === language)?.spec as TemplateSpec, language, builtIn };
  }
  return isBuiltIn(name) ? { language: builtIn, builtIn } : undefined;
}

/**
 * @param options isLenient: variables that are missing are empty
 * @throws TemplateError of the tenant's template; Error for variables that a built-in mail needs and that are wrong
 */
export function writeMail(
  name: string,
  chosen: Chosen,
  variables: Readonly<Record<string, unknown>>,
  options: { isLenient?: boolean } = {},
): Written {
  const { own, language, builtIn } = chosen;
  if (own === undefined) {
    return { ...render(name as MailTemplate, builtIn, variables as MailVariables[MailTemplate]), language: builtIn };
  }
  const given = isBuiltIn(name)
    ? shownVariables(name, language, variables as MailVariables[MailTemplate], texts[mailLanguageOf(language)].somebody)
    : variables;
  return { ...writeOwn(name, own, given, options), language };
}

/**
 * Writes a mail that waits: the built-in text is better than none where the tenant's template fails.
 * @param failed told of that
 * @returns the error where there is no built-in text either
 */
export function writeWaiting(
  name: string,
  chosen: Chosen,
  variables: Readonly<Record<string, unknown>>,
  failed: () => void,
): Written | TemplateError {
  try {
    return writeMail(name, chosen, variables);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    failed();
    if (!isBuiltIn(name)) return error;
    return writeMail(name, { language: chosen.builtIn, builtIn: chosen.builtIn }, variables);
  }
}

/** @param variables as they stand in the text @throws TemplateError */
export function writeOwn(
  name: string,
  own: TemplateSpec,
  variables: Readonly<Record<string, unknown>>,
  options: { isLenient?: boolean } = {},
): Omit<Written, 'language'> {
  const input = renderingInput(name, variables, options);
  const subject = writePart('subject', own.subject, input);
  const rendered = own.html === undefined ? undefined : renderedHtml(own.html, input);
  const html = rendered === undefined ? {} : { html: linked('html', rendered, input) };
  const text =
    own.text === undefined ? linked('text', textOf(rendered ?? ''), input) : writePart('text', own.text, input);
  return { subject, text, ...html };
}

/** What a template's parts are rendered with. `link`: of a built-in mail, which Liquid has a placeholder for. */
export type RenderingInput = { variables: Readonly<Record<string, unknown>>; link?: ActionLink; isLenient?: boolean };

export function renderingInput(
  name: string,
  variables: RenderingInput['variables'],
  options: { isLenient?: boolean } = {},
): RenderingInput {
  if (!isBuiltIn(name)) return { variables, ...options };
  const link = actionLink(String(variables.actionUrl));
  return { variables: { ...variables, actionUrl: link.placeholder }, link, ...options };
}

/** One part of a tenant's template. @throws TemplateError */
export function writePart(field: 'subject' | 'html' | 'text', source: string, input: RenderingInput): string {
  const { link } = input;
  if (field === 'html') return linked('html', renderedHtml(source, input), input);
  const text = renderLiquid('text', source, input.variables, input);
  if (field === 'text') return linked('text', text, input);
  if (link !== undefined) refusePlaceholder(text, link);
  return oneLine(text);
}

/** With the placeholder. */
const renderedHtml = (source: string, input: RenderingInput) =>
  sanitizedMail(renderLiquid('html', source, input.variables, input));

const linked = (part: Part, rendered: string, { link }: RenderingInput) =>
  link === undefined ? rendered : withLink(part, rendered, link);

/** A header ends where its line ends. */
function oneLine(value: string): string {
  return value.replaceAll(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
