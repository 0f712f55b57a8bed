/** Languages of documents, pure: how they are spelled, and in which one a question is answered. */
import { languageIn } from '../core/languages.ts';
import { limits } from '../core/limits.ts';
import { evaluateActive, hasEnded } from './evaluate.ts';
import type { Definition } from './schema.ts';

/** A language tag, as far as its syntax tells (RFC 4647, basic language range). Any other characteristic is a language too. */
const TAG = /^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*$/;

export function isTag(language: string): boolean {
  return TAG.test(language);
}

/** How another document spells the same language tag; undefined: in no other way. */
export function otherSpelling(language: string, others: Iterable<string>): string | undefined {
  if (!isTag(language)) return undefined;
  const lower = language.toLowerCase();
  for (const other of others) if (other !== language && isTag(other) && other.toLowerCase() === lower) return other;
  return undefined;
}

/** POSIX locales and tags that were joined by an underscore, as the tag that was probably meant. */
export function meantTag(language: string): string | undefined {
  const found = /^([A-Za-z]{2,3}(?:[_-][A-Za-z0-9]{2,8})+)(?:\.[A-Za-z0-9-]+)?(?:@[A-Za-z]+)?$/.exec(language)?.[1];
  return found === undefined || isTag(language) ? undefined : found.replaceAll('_', '-');
}

/**
 * The language to evaluate in: the one that is asked for, unless nothing is active in it, the definition says
 * `languageFallback: lookup` and there is a less specific one (RFC 4647 section 3.4).
 */
export function languageFor(definition: Definition, asked: string, now: number): string {
  if (definition.languageFallback !== 'lookup' || evaluateActive(definition, asked, now) !== undefined) return asked;
  if (!isTag(asked)) return asked;
  return languageIn(activeLanguages(definition, now).filter(isTag), asked) ?? asked;
}

/** The languages in which something is active, in byte order. */
export function activeLanguages({ versions }: Definition, now: number): string[] {
  const languages = new Set<string>();
  for (const version of versions) {
    if (hasEnded(version, now)) continue;
    for (const { language, effectiveDate } of version.documents) if (effectiveDate <= now) languages.add(language);
  }
  return [...languages].sort();
}

/** Why nothing is active, with the languages that there are. */
export function notActiveIn(definition: Definition, asked: string, now: number): string {
  const all = activeLanguages(definition, now);
  if (all.length === 0) return `Nothing of ${definition.name} is active now, in any language.`;
  const shown = all.slice(0, limits.consentLanguagesShownMax);
  const more = all.length === shown.length ? '' : ` and ${all.length - shown.length} more`;
  return `Nothing of ${definition.name} is active in ${asked} now. The languages that there are: ${shown.join(', ')}${more}.`;
}
