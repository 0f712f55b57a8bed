/**
 * Which template a mail is written by, and writing it. All of its parts are of one template: the tenant's own one, or the built-in
 * one of its name.
 */
import type { Transaction } from '../core/db/database.ts';
import { languageIn } from '../core/languages.ts';
import { readTenant, type TenantRow } from '../tenants/index.ts';
import { sanitizedMail, textOf } from './html.ts';
import { renderLiquid, TemplateError } from './liquid.ts';
import { type MailLanguage, mailLanguageOf } from './rules.ts';
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
  return { ...writeOwn(own, given, options), language };
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

/** @throws TemplateError */
export function writeOwn(
  own: TemplateSpec,
  variables: Readonly<Record<string, unknown>>,
  options: { isLenient?: boolean } = {},
): Omit<Written, 'language'> {
  const subject = oneLine(renderLiquid('text', own.subject, variables, options));
  const html = own.html === undefined ? undefined : sanitizedMail(renderLiquid('html', own.html, variables, options));
  const text = own.text === undefined ? textOf(html ?? '') : renderLiquid('text', own.text, variables, options);
  return { subject, text, ...(html === undefined ? {} : { html }) };
}

/** A header ends where its line ends. */
function oneLine(value: string): string {
  return value.replaceAll(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
