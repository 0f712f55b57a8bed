/** In which language a mail is written, and how an address is shown; pure. */
import { limits } from '../core/limits.ts';

export const mailLanguages = ['en', 'nl', 'fr'] as const;
export type MailLanguage = (typeof mailLanguages)[number];

/** The first of the wishes (BCP 47) that there are built-in texts in, by its primary subtag. */
export function mailLanguageOf(...wishes: readonly (string | null | undefined)[]): MailLanguage {
  for (const wish of wishes) {
    const primary = wish?.toLowerCase().split('-', 1)[0];
    const found = mailLanguages.find((language) => language === primary);
    if (found !== undefined) return found;
  }
  return 'en';
}

/** `a***@example.com`: enough for who knows the address. */
export function maskOf(address: string): string {
  const at = address.lastIndexOf('@');
  return `${at > 1 ? String.fromCodePoint(address.codePointAt(0) as number) : ''}***${address.slice(at)}`;
}

/** What a mail server said, as it may be stored and shown: without addresses, on one line. */
export function answerOf(text: string): string {
  const line = text.replaceAll(/[\s\p{C}]+/gu, ' ').trim();
  // Looking for addresses takes the square of the length, which the mail server chooses. An address that is cut could not be told.
  const most = limits.mailAnswerCharsLookedAtMax;
  const looked = line.length > most ? line.slice(0, most).replace(/ [^ ]*$/, '') : line;
  return looked.replaceAll(/[^\s<>@"'(),;:]+@[^\s<>@"'(),;]+/g, '***').slice(0, limits.mailAnswerCharsMax);
}
