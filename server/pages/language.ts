/** In which language a page is shown. */
import Negotiator from 'negotiator';
import { en } from './texts/en.ts';
import { fr } from './texts/fr.ts';
import { nl } from './texts/nl.ts';
import type { Texts } from './texts/texts.ts';

const texts = { en, nl, fr } satisfies Record<string, Texts>;
export type Language = keyof typeof texts;
export const languages = Object.keys(texts) as readonly Language[];
export const textsOf = (language: Language): Texts => texts[language];

/** @returns the language of a tag such as nl-BE, if pages have it */
export function languageOf(tag: string | undefined): Language | undefined {
  const primary = tag?.split('-', 1)[0]?.toLowerCase();
  return languages.find((language) => language === primary);
}

type LanguageWishes = Readonly<{
  /** OpenID Connect: language tags, preferred first, separated by spaces. */
  uiLocales?: string | undefined;
  acceptLanguage?: string | undefined;
  /** The tenant's languages, its own first. Without it, all that there are, English first. */
  tenant?: readonly string[] | undefined;
}>;

/** ui_locales, then Accept-Language, then the tenant. */
export function chooseLanguage({ uiLocales = '', acceptLanguage, tenant }: LanguageWishes): Language {
  const offered = (tenant ?? []).flatMap((tag) => languageOf(tag) ?? []);
  const available = offered.length === 0 ? languages : offered;
  for (const tag of uiLocales.split(' ')) {
    const language = languageOf(tag);
    if (language !== undefined && available.includes(language)) return language;
  }
  const accepted = new Negotiator({ headers: { 'accept-language': acceptLanguage ?? '*' } }).language([...available]);
  return languageOf(accepted) ?? (available[0] as Language);
}
