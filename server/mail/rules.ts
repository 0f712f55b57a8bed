/** In which language a mail is written, pure. */
export const mailLanguages = ['en', 'nl', 'fr'] as const;
export type MailLanguage = (typeof mailLanguages)[number];

/** The first of the wishes (BCP 47) that there are templates in, by its primary subtag. */
export function mailLanguageOf(...wishes: readonly (string | null | undefined)[]): MailLanguage {
  for (const wish of wishes) {
    const primary = wish?.toLowerCase().split('-', 1)[0];
    const found = mailLanguages.find((language) => language === primary);
    if (found !== undefined) return found;
  }
  return 'en';
}
