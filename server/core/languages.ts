/** Choosing among languages (BCP 47); pure. */
import { lookup } from 'bcp-47-match';

/**
 * The first of the wishes that is there, as it is or less specific (RFC 4647 section 3.4).
 * @returns as it is spelled in `there`
 */
export function languageIn(
  there: readonly string[],
  ...wishes: readonly (string | null | undefined)[]
): string | undefined {
  // The library takes the first that is the tag or a beginning of it: the most specific must come first.
  const tags = [...there].sort((a, b) => b.length - a.length);
  for (const wish of wishes) {
    const found = wish ? lookup(tags, wish) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

export type InLanguage = { language: string; name: string };

/** The name in the first of the wishes, or else in English, or else any. */
export function nameIn(
  names: readonly InLanguage[],
  ...wishes: readonly (string | null | undefined)[]
): string | undefined {
  const there = names.map(({ language }) => language);
  const language = languageIn(there, ...wishes, 'en');
  return (names.find((one) => one.language === language) ?? names[0])?.name;
}
