/**
 * What a manifest asks of a stored definition, pure. One manifest carries all versions and documents, so most of it
 * is past: that must be as it is stored. What is new must not lie in the past, unless the tenant allows restoring.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ConsentDefinitionSpec } from '../../crds/index.ts';
import { instantMs, utc } from '../core/instants.ts';
import type { ProblemPlace } from '../core/problems.ts';
import type { TenantSpec } from '../tenants/index.ts';
import { changedContent, contentPlan, digestOf, wrongContent } from './content.ts';
import { evaluateActive } from './evaluate.ts';
import { removedFrom, sanitized } from './html.ts';
import { meantTag } from './languages.ts';
import {
  attributesOf,
  checkNotPast,
  checkSpelling,
  checkStartsLater,
  definitionOf,
  endOfLifeOf,
  fallbackOf,
  isDefinitionLocked,
  isDocumentLocked,
  isEndOfLifeLocked,
  isVersionLocked,
  lockedDocument,
  refused,
} from './rules.ts';
import type {
  DefinitionPlan,
  DocumentPlan,
  DocumentWrite,
  EndOfLifePlan,
  StoredDefinition,
  VersionPlan,
} from './schema.ts';

type ManifestVersion = ConsentDefinitionSpec['versions'][number];
type ManifestDocument = ManifestVersion['documents'][number];
type Context = { tenant: TenantSpec; now: number };

/**
 * The definition as it is to be.
 * @throws Problem document_locked, version_locked, definition_locked, end_of_life_locked, date_in_past,
 *   end_of_life_invalid, effective_date_taken, consent_language_ambiguous, consent_attributes_invalid, consent_content_invalid,
 *   each with its place in the spec
 */
export function planOf(
  stored: StoredDefinition | undefined,
  spec: ConsentDefinitionSpec,
  context: Context,
): DefinitionPlan {
  const { now } = context;
  const kept = stored && isDefinitionLocked(stored, now) ? stored : undefined;
  if (kept && !isDeepStrictEqual(kept.attributes, spec.attributes ?? {})) {
    const detail = 'The attributes cannot change because documents of the definition are in effect.';
    throw refused('definition_locked', '/attributes', detail);
  }
  const attributes = kept?.attributes ?? attributesIn(context, 'definition', spec, '');
  const before = new Map(stored?.versions.map((one) => [one.version, one]));
  const versions = spec.versions.map((one, i) =>
    versionPlan(spec.name, before.get(one.version), one, `/versions/${i}`, context),
  );
  checkNothingLost(stored, versions, now);
  checkDatesDiffer(versions);
  checkSpellings(stored, spec.versions);
  return { name: spec.name, attributes, ...fallbackOf(spec.languageFallback), versions };
}

function versionPlan(
  name: string,
  stored: VersionPlan | undefined,
  spec: ManifestVersion,
  pointer: string,
  context: Context,
): VersionPlan {
  const kept = stored && isVersionLocked(stored, context.now) ? stored : undefined;
  if (kept && !isDeepStrictEqual(kept.attributes, spec.attributes ?? {})) {
    const detail = 'The attributes cannot change because documents of the version are in effect.';
    throw refused('version_locked', `${pointer}/attributes`, detail);
  }
  const attributes = kept?.attributes ?? attributesIn(context, 'version', spec, pointer);
  const endOfLife = endOfLifePlan(stored?.endOfLife, spec.endOfLife, `${pointer}/endOfLife`, context);
  const documents = spec.documents.map((one, i) => {
    const before = stored?.documents.find((old) => old.language === one.language && old.version === one.version);
    return documentPlan({ name, version: spec.version }, before, one, `${pointer}/documents/${i}`, context);
  });
  return { version: spec.version, attributes, ...(endOfLife && { endOfLife }), documents };
}

function endOfLifePlan(
  stored: EndOfLifePlan | undefined,
  spec: ManifestVersion['endOfLife'],
  pointer: string,
  { now, tenant }: Context,
): EndOfLifePlan | undefined {
  const wanted = spec && endOfLifeOf(spec, pointer);
  if (isDeepStrictEqual(stored, wanted)) return wanted;
  if (stored && isEndOfLifeLocked(stored, now)) {
    const detail = `The startDate, ${utc(stored.startDate)}, has been reached: endDate stays ${utc(stored.endDate)} and gracePeriod stays ${stored.gracePeriod}.`;
    throw refused('end_of_life_locked', pointer, detail);
  }
  if (wanted && !mayRestore(tenant)) checkStartsLater(wanted, now, pointer);
  return wanted;
}

/** Without an effectiveDate a document takes effect when it is first accepted, and keeps that date. */
function documentPlan(
  of: { name: string; version: string },
  stored: DocumentPlan | undefined,
  spec: ManifestDocument,
  pointer: string,
  context: Context,
): DocumentWrite {
  const { now, tenant } = context;
  const { version, language } = spec;
  const given = spec.effectiveDate === undefined ? undefined : instantMs(spec.effectiveDate);
  if (stored !== undefined && isDocumentLocked(stored, now)) {
    const { effectiveDate, attributes, content } = stored;
    const changed = changedContent(content, spec.content);
    const isSame = effectiveDate === (given ?? effectiveDate) && isDeepStrictEqual(attributes, spec.attributes ?? {});
    if (isSame && changed === undefined)
      return { version, language, effectiveDate, attributes, ...(content && { content }) };
    throw lockedDocument({ ...of, document: stored }, pointer, changed);
  }
  const attributes = attributesIn(context, 'document', spec, pointer);
  const effectiveDate = given ?? now;
  if (stored?.effectiveDate !== effectiveDate && !mayRestore(tenant)) checkNotPast(effectiveDate, now, pointer);
  return { version, language, effectiveDate, attributes, ...contentPlan(stored?.content, spec.content, pointer) };
}

/**
 * What is wrong with the texts of a spec, as pointers into it. planOf says the first of these, of documents that are not in
 * effect; this asks without what is stored.
 */
export function wrongContents({ versions }: Pick<ConsentDefinitionSpec, 'versions'>): ProblemPlace[] {
  return eachContent(versions).flatMap(({ content, pointer }) => wrongContent(content, pointer) ?? []);
}

/** What sanitizing removes of the texts of a spec. */
export function sanitizedContents({ versions }: Pick<ConsentDefinitionSpec, 'versions'>): ProblemPlace[] {
  return eachContent(versions).flatMap(({ content: { body, mediaType }, pointer }) => {
    if (body === undefined || mediaType !== 'text/html') return [];
    const removed = removedFrom(body);
    if (removed.length === 0) return [];
    const detail = `${removed.join(', ')}; its digest is ${digestOf(sanitized(body))}`;
    return [{ pointer: `${pointer}/body`, detail }];
  });
}

/** @throws Problem consent_language_ambiguous for the second spelling of a tag, unless it is stored */
export function checkSpellings(
  stored: Pick<StoredDefinition, 'versions'> | undefined,
  versions: readonly ManifestVersion[],
): void {
  const isStored = (document: string, language: string, version: string) =>
    stored?.versions.some(
      (one) =>
        one.version === version && one.documents.some((old) => old.language === language && old.version === document),
    );
  const known = new Set<string>();
  const fresh: [language: string, pointer: string][] = [];
  for (const [v, { version, documents }] of versions.entries()) {
    for (const [d, { language, version: document }] of documents.entries()) {
      if (isStored(document, language, version)) known.add(language);
      else fresh.push([language, `/versions/${v}/documents/${d}/language`]);
    }
  }
  for (const [language, pointer] of fresh) {
    checkSpelling(language, known, pointer);
    known.add(language);
  }
}

/** Languages that look like a tag and are none, which a request for the tag does not find. */
export function malformedTags({ versions }: Pick<ConsentDefinitionSpec, 'versions'>): ProblemPlace[] {
  return versions.flatMap(({ documents }, v) =>
    documents.flatMap(({ language }, d) => {
      const meant = meantTag(language);
      if (meant === undefined) return [];
      const detail = `${language} is no BCP 47 language tag; did you mean ${meant}?`;
      return [{ pointer: `/versions/${v}/documents/${d}/language`, detail }];
    }),
  );
}

function eachContent(versions: readonly ManifestVersion[]) {
  return versions.flatMap(({ documents }, v) =>
    documents.flatMap(({ content }, d) =>
      content === undefined ? [] : [{ content, pointer: `/versions/${v}/documents/${d}/content` }],
    ),
  );
}

/** What is locked keeps the attributes that it has, whatever the tenant declares by now: these are of what is not. */
function attributesIn(
  { tenant }: Context,
  object: 'definition' | 'version' | 'document',
  { attributes = {} }: { attributes?: Record<string, unknown> },
  pointer: string,
) {
  return attributesOf(tenant, object, attributes, `${pointer}/attributes`);
}

/**
 * What of a spec is in the past already, as pointers into it: a tenant takes it only as it has it stored, or where it may
 * restore. planOf decides that with what is stored; this asks without it.
 */
export function pastDates({ versions }: ConsentDefinitionSpec, { tenant, now }: Context): string[] {
  if (mayRestore(tenant)) return [];
  return versions.flatMap(({ endOfLife, documents }, v) => [
    ...(endOfLife && (instantMs(endOfLife.startDate) ?? now) <= now ? [`/versions/${v}/endOfLife/startDate`] : []),
    ...documents.flatMap(({ effectiveDate }, d) => {
      const isPast = effectiveDate !== undefined && (instantMs(effectiveDate) ?? now) < now;
      return isPast ? [`/versions/${v}/documents/${d}/effectiveDate`] : [];
    }),
  ]);
}

function mayRestore({ restore }: TenantSpec): boolean {
  return restore?.allowPastDates === true;
}

/** @throws Problem effective_date_taken for the second document of a language with the same date */
function checkDatesDiffer(versions: readonly VersionPlan[]): void {
  const taken = new Map<string, string>();
  for (const [v, { version, documents }] of versions.entries()) {
    for (const [d, { version: name, language, effectiveDate }] of documents.entries()) {
      const key = `${effectiveDate} ${language}`;
      const other = taken.get(key);
      if (other !== undefined) {
        const detail = `${other} takes effect in ${language} at ${utc(effectiveDate)} too.`;
        throw refused('effective_date_taken', `/versions/${v}/documents/${d}/effectiveDate`, detail);
      }
      taken.set(key, `The document ${name} of version ${version}`);
    }
  }
}

/** What is or was in effect is not left out. */
function checkNothingLost(stored: StoredDefinition | undefined, versions: readonly VersionPlan[], now: number): void {
  for (const old of stored?.versions ?? []) {
    const index = versions.findIndex((one) => one.version === old.version);
    const kept = versions[index]?.documents ?? [];
    for (const document of old.documents) {
      if (!isDocumentLocked(document, now)) continue;
      if (kept.some((one) => one.language === document.language && one.version === document.version)) continue;
      const detail = `The document ${document.version} in ${document.language} of version ${old.version} has been in effect since ${utc(document.effectiveDate)} and cannot be removed.`;
      throw refused('document_locked', index < 0 ? '/versions' : `/versions/${index}/documents`, detail);
    }
  }
}

type Place = { language: string; version: string; document: string };
export type DefinitionState = {
  active: Place[];
  /** The documents whose text is not served as it was written; absent: there are none. */
  sanitized?: (Place & { digest: string; removed: string[] })[];
  locked: { version: string; endOfLife: boolean; documents: number }[];
};

/** What is active in each language, and what time has closed, at `now`. */
export function stateOf(stored: StoredDefinition, now: number): DefinitionState {
  const languages = new Set(stored.versions.flatMap((one) => one.documents.map((document) => document.language)));
  const definition = definitionOf(stored);
  const active = [...languages].sort().flatMap((language) => {
    const found = evaluateActive(definition, language, now);
    return found ? [{ language, version: found.version, document: found.document.version }] : [];
  });
  const locked = stored.versions
    .map(({ version, endOfLife, documents }) => ({
      version,
      endOfLife: endOfLife !== undefined && isEndOfLifeLocked(endOfLife, now),
      documents: documents.filter((one) => isDocumentLocked(one, now)).length,
    }))
    .filter((one) => one.endOfLife || one.documents > 0);
  const sanitized = stored.versions.flatMap(({ version, documents }) =>
    documents.flatMap(({ language, version: document, content }) =>
      content?.source === undefined || content.digest === undefined
        ? []
        : [{ ...{ language, version, document }, digest: content.digest, removed: content.removed ?? [] }],
    ),
  );
  return { active, ...(sanitized.length > 0 && { sanitized }), locked };
}
