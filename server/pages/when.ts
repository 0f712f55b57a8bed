/** Instants as people read them. A page without a script does not know the zone of its reader: it is UTC, and says so. */
import { type Html, html } from './html.ts';
import type { Language } from './language.ts';

/** @param instant RFC 3339 */
export function whenText(language: Language, instant: string): string {
  const format = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' } as const;
  return `${new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, format).format(new Date(instant))} UTC`;
}

export const dayText = (language: Language, instant: string) =>
  new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, { dateStyle: 'long', timeZone: 'UTC' }).format(
    new Date(instant),
  );

/** A sentence with the day, and the exact instant for whoever points at it. */
export function when(language: Language, instant: string, sentence: (when: string) => string): Html {
  return html`<time datetime="${instant}" title="${whenText(language, instant)}">${sentence(dayText(language, instant))}</time>`;
}

/** The same with the time of the day, where a day has several. */
export function whenExactly(language: Language, instant: string, sentence: (when: string) => string): Html {
  return html`<time datetime="${instant}">${sentence(whenText(language, instant))}</time>`;
}
