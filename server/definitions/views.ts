/** Owns how the Config API shows consent definitions and their parts. */
import { textOf } from './rules.ts';
import type { EndOfLifePlan, StoredDefinition, StoredDocument, StoredVersion } from './schema.ts';

export function shownDefinition({ name, attributes, archived }: StoredDefinition) {
  return { resources: ['versions'], config: { ...attributes, name, ...(archived ? { archived } : {}) } };
}

export function shownVersion({ version, attributes, endOfLife }: StoredVersion) {
  return {
    resources: ['documents', ...(endOfLife ? ['end-of-life'] : [])],
    config: {
      ...attributes,
      version,
      ...(endOfLife ? { endOfLife: shownEndOfLife(endOfLife) } : {}),
      optInConfig: [{ type: 'direct' }],
    },
  };
}

export function shownEndOfLife({ startDate, endDate, gracePeriod }: EndOfLifePlan) {
  return { startDate: textOf(startDate), endDate: textOf(endDate), gracePeriod };
}

export function shownDocument({ version, language, effectiveDate, attributes }: StoredDocument) {
  return { config: { ...attributes, version, language, effectiveDate: textOf(effectiveDate) } };
}
