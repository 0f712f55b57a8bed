/**
 * Catalogues of texts: English is complete in the bundle, other languages arrive when they are chosen and are complete by `satisfies`.
 * Dutch is everywhere. French is on the page of a tenant's users, and in what that shares with the portal.
 * A text is a string, or a function of what it names; plurals by `plural`.
 */
import { createContext, use, useContext } from 'react';
import { ownTenant } from './page.ts';

export const languages = { en: 'English', nl: 'Nederlands', fr: 'Français' } as const;
export type Language = keyof typeof languages;
/** Those that this page can be read in. */
export const offered: readonly Language[] = ownTenant === '' ? ['en', 'nl'] : ['en', 'nl', 'fr'];
type Others<T> = { nl: () => Promise<T>; fr?: () => Promise<T> };
export type Texts<T> = { readonly en: T; of(language: Language): T | Promise<T> };

/** A promise as React's `use` reads it: one that says that it is fulfilled does not suspend. */
type Arriving<T> = Promise<T> & { status?: 'fulfilled'; value?: T };

/** How long a file that did not arrive is not asked for again. */
const againMs = 10_000;

export function defineTexts<T extends object>(en: T, others: Others<NoInfer<T>>): Texts<T> {
  const arriving: { [K in Language]?: Promise<T> } = {};
  const failedAt: { [K in Language]?: number } = {};
  const loadOf = async (load: () => Promise<T>, language: Language): Promise<T> => {
    try {
      return await load();
    } catch {
      failedAt[language] = Date.now(); // the file did not arrive: English says it as well
      return en;
    }
  };
  /** Without a pause of the page, which shows English meanwhile. */
  const loadAgain = async (load: () => Promise<T>, language: Language) => {
    if (Date.now() - (failedAt[language] ?? 0) < againMs) return;
    delete failedAt[language];
    const value = await loadOf(load, language);
    if (failedAt[language] === undefined) arriving[language] = arrived(value);
  };
  return {
    en,
    of(language) {
      const load = language === 'en' ? undefined : others[language];
      if (load === undefined) return en;
      // Always the same promise, also when its texts are there: React renders again what was suspended, and the hooks behind `use`
      // fail when `use` is not called that time.
      arriving[language] ??= fulfilling(loadOf(load, language));
      if (failedAt[language] !== undefined) void loadAgain(load, language);
      return arriving[language];
    },
  };
}

const arrived = <T>(value: T): Arriving<T> =>
  Object.assign(Promise.resolve(value), { status: 'fulfilled' as const, value });

function fulfilling<T>(promise: Arriving<T>): Promise<T> {
  void promise.then((value) => Object.assign(promise, { status: 'fulfilled', value }));
  return promise;
}

export const LanguageContext = createContext<{ language: Language; choose(language: Language): void }>({
  language: 'en',
  choose: () => {},
});
export const useLanguage = () => useContext(LanguageContext);

/** The texts in the language of the page; suspends until they are there. */
export function useTexts<T>(texts: Texts<T>): T {
  const { language } = useLanguage();
  const found = texts.of(language);
  return found instanceof Promise ? use(found) : found;
}

type Forms = { [K in Intl.LDMLPluralRule]?: string } & { other: string };
const rules: { [K in Language]?: Intl.PluralRules } = {};

/** The form for a count, in which # is the count: plural('en', 3, {one: '# person', other: '# people'}). */
export function plural(language: Language, count: number, forms: Forms): string {
  rules[language] ??= new Intl.PluralRules(language);
  const form = forms[rules[language].select(count)] ?? forms.other;
  return form.replaceAll('#', count.toLocaleString(language));
}

const stored = 'accord.language';
export function firstLanguage(): Language {
  // The server knows which languages the tenant wants for its users.
  const ofPage = ownTenant === '' ? [] : [document.documentElement.lang];
  const wanted = [localStorage.getItem(stored) ?? '', ...ofPage, ...navigator.languages];
  const tags = wanted.map((one) => one.slice(0, 2));
  const found = tags.flatMap((tag) => offered.find((one) => one === tag) ?? [])[0];
  return found ?? 'en';
}
export const keepLanguage = (language: Language) => localStorage.setItem(stored, language);
