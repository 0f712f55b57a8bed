import { utc } from '../core/instants.ts';
import type { Content, EndOfLifePlan, StoredDefinition, StoredDocument, StoredVersion } from './schema.ts';

export function shownDefinition({ name, attributes, archived, languageFallback }: StoredDefinition) {
  const optional = { ...(archived ? { archived } : {}), ...(languageFallback ? { languageFallback } : {}) };
  return { resources: ['versions'], config: { ...attributes, name, ...optional } };
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
  return { startDate: utc(startDate), endDate: utc(endDate), gracePeriod };
}

/** @param body of a content that has one */
export function shownDocument(
  { version, language, effectiveDate, attributes, content }: StoredDocument,
  body: string | undefined,
) {
  const shown = { ...attributes, version, language, effectiveDate: utc(effectiveDate) };
  return { config: content === undefined ? shown : { ...shown, content: writtenContent(content, body) } };
}

/** A content as it is sent, and taken. */
function writtenContent({ title, mediaType, url, digest }: Content, body: string | undefined) {
  return { title, mediaType, ...(body && { body }), ...(url && { url }), ...(digest && { digest }) };
}
