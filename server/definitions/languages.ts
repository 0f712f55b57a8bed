/** In which language a question is answered, pure. */
import { lookup } from 'bcp-47-match';
import { limits } from '../core/limits.ts';
import { evaluateActive, hasEnded } from './evaluate.ts';
import type { Definition } from './schema.ts';

/**
 * The language to evaluate in: the one that is asked for, unless nothing is active in it, the definition says
 * `languageFallback: lookup` and there is a less specific one (RFC 4647 section 3.4).
 */
export function languageFor(definition: Definition, asked: string, now: number): string {
  if (definition.languageFallback !== 'lookup' || evaluateActive(definition, asked, now) !== undefined) return asked;
  return lookup(activeLanguages(definition, now), asked) ?? asked;
}

/** The languages in which something is active, in byte order. */
function activeLanguages({ versions }: Definition, now: number): string[] {
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
