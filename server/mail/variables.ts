/** The built-in mails by name, and what each of them says: its variables. Pure. */
import { instantMs } from '../core/instants.ts';
import { type InLanguage, nameIn } from '../core/languages.ts';
import type { ProblemPlace } from '../core/problems.ts';
import { type MailLanguage, mailLanguageOf } from './rules.ts';

/** What every mail says: whose it is, and the link that it is about. */
type Linked = { application: string; actionUrl: string };

/** A text, or one in each of some languages: that of the mail is taken. */
type Names = string | readonly InLanguage[];

export type MailVariables = {
  'email-verification': Linked & { validHours: number };
  'password-reset': Linked & { validMinutes: number };
  /** Somebody wanted to sign up with an address that has an account. */
  'account-exists': Linked;
  /** `name`: of who invites. `relationship` and `type`: what is shared, the display names of the relationship type and of the target's type. */
  'relationship-invitation': Linked & { name?: string; relationship?: Names; type?: Names; expiresAt: string };
  'portal-invitation': Linked & { role: string; expiresAt: string };
  'consent-renewal': Linked & { consent: string; endsAt: string };
  'consent-receipt': Linked & { consent: string; registeredAt: string };
};
export type MailTemplate = keyof MailVariables;

/** The same as they stand in the text: all there, instants in words. */
export type ShownVariables<Template extends MailTemplate> = { [Name in keyof MailVariables[Template]]-?: string };

type Kind = 'text' | 'names' | 'url' | 'number' | 'instant';
type About = { variables: Readonly<Record<string, Kind>>; optional?: readonly string[]; notTransactional?: true };

const linked = { application: 'text', actionUrl: 'url' } as const;

export const builtIn: Readonly<Record<MailTemplate, About>> = {
  'email-verification': { variables: { ...linked, validHours: 'number' } },
  'password-reset': { variables: { ...linked, validMinutes: 'number' } },
  'account-exists': { variables: linked },
  'relationship-invitation': {
    variables: { ...linked, name: 'text', relationship: 'names', type: 'names', expiresAt: 'instant' },
    optional: ['name', 'relationship', 'type'],
  },
  'portal-invitation': { variables: { ...linked, role: 'text', expiresAt: 'instant' } },
  'consent-renewal': { variables: { ...linked, consent: 'text', endsAt: 'instant' }, notTransactional: true },
  'consent-receipt': { variables: { ...linked, consent: 'text', registeredAt: 'instant' } },
};

export function isBuiltIn(name: string): name is MailTemplate {
  return Object.hasOwn(builtIn, name);
}

/** What is wrong with the variables of a built-in mail. */
export function wrongVariables(template: MailTemplate, given: Readonly<Record<string, unknown>>): ProblemPlace[] {
  const { variables, optional = [] } = builtIn[template];
  const places: ProblemPlace[] = [];
  for (const [name, kind] of Object.entries(variables)) {
    const detail =
      given[name] === undefined ? !optional.includes(name) && 'Is missing.' : wrongValue(kind, given[name]);
    if (detail) places.push({ pointer: `/variables/${name}`, detail });
  }
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(variables, name)) continue;
    const detail = `The template ${template} has no such variable; it has ${Object.keys(variables).join(', ')}.`;
    places.push({ pointer: `/variables/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, detail });
  }
  return places;
}

function wrongValue(kind: Kind, value: unknown): string | undefined {
  if (kind === 'number') return Number.isFinite(value) ? undefined : 'Must be a number.';
  if (kind === 'names' && isNames(value)) return undefined;
  if (typeof value !== 'string' || value === '') return 'Must be a text that is not empty.';
  if (kind === 'instant') return instantMs(value) === undefined ? 'Must be an instant as RFC 3339 has it.' : undefined;
  if (kind === 'url' && !['https:', 'http:'].includes(URL.parse(value)?.protocol ?? ''))
    return 'Must be a URL with https or http.';
  return undefined;
}

function isNames(value: unknown): value is readonly InLanguage[] {
  const isOne = (one: unknown) => {
    const { language, name } = (one ?? {}) as Record<string, unknown>;
    return typeof language === 'string' && typeof name === 'string' && name !== '';
  };
  return Array.isArray(value) && value.length > 0 && value.every(isOne);
}

/** The variables as they stand in a text of the language. @throws Error naming one that is missing or wrong */
export function shownVariables<Template extends MailTemplate>(
  template: Template,
  language: string,
  given: MailVariables[Template],
  somebody: string,
): ShownVariables<Template> {
  const wrong = wrongVariables(template, given)[0];
  if (wrong !== undefined) throw new Error(`the mail ${template}: ${wrong.pointer}: ${wrong.detail}`);
  const values = given as Readonly<Record<string, unknown>>;
  const shown = Object.entries(builtIn[template].variables).map(([name, kind]) => {
    const value = values[name] ?? (name === 'name' ? somebody : '');
    if (isNames(value)) return [name, nameIn(value, language)];
    return [name, kind === 'instant' ? when(value as string, language) : String(value)];
  });
  return Object.fromEntries(shown) as ShownVariables<Template>;
}

/** The day and time of an instant, in words of the language and in UTC. */
function when(instant: string, tag: string): string {
  const language = mailLanguageOf(tag);
  // As the pages write it: without AM and PM.
  const format = new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  return `${format.format(Date.parse(instant))} UTC`;
}

const sampleInstant = '2027-01-31T12:00:00.000Z';
const samples: Readonly<Record<Kind, string | number>> = {
  ...{ text: 'Example', names: 'example', url: 'https://app.example.com/example', number: 24, instant: sampleInstant },
};

/** Of variables that a sentence is made with: so that it reads as one. */
const samplesByName: Readonly<Record<string, string | Readonly<Record<MailLanguage, string>>>> = {
  name: 'Maria Jansen',
  relationship: { en: 'may drive', nl: 'mag rijden', fr: 'peut conduire' },
  type: { en: 'car', nl: 'auto', fr: 'voiture' },
  consent: { en: 'Trip data', nl: 'Ritgegevens', fr: 'Données de trajet' },
  role: 'config-editor',
};

/** Variables to try a template with, in the language of its mails. */
export function sampleVariables<Template extends MailTemplate>(
  template: Template,
  { application, language }: { application: string; language: string },
) {
  const all = Object.entries(builtIn[template].variables).map(([name, kind]) => {
    const sample = samplesByName[name] ?? samples[kind];
    return [name, typeof sample === 'object' ? sample[mailLanguageOf(language)] : sample];
  });
  return { ...Object.fromEntries(all), application } as MailVariables[Template] & Record<string, string | number>;
}
