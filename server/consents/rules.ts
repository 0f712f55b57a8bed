/** The rules of users' consents, pure: what may be registered, what is still to be answered, what a revocation takes. */
import { limits } from '../core/limits.ts';
import { type Problem, problem } from '../core/problems.ts';
import {
  type ConsentEvaluation,
  type Definition,
  definitionProblem,
  documentUrl,
  evaluateActive,
  evaluateConsent,
  graceEnd,
  hasEnded,
  isOlder,
  newestGiven,
  type UserPast,
  type UserStatus,
} from '../definitions/index.ts';
import { consentProblem } from './problems.ts';
import type {
  ConsentItem,
  ConsentRow,
  EvaluationView,
  GivenRow,
  ListedConsent,
  MineConsent,
  UserConsentView,
} from './schema.ts';

/** What a user gave of one definition, as it is evaluated. */
export function pastOf(rows: readonly GivenRow[]): UserPast {
  return {
    consents: rows.map(({ version, document, language }) => ({ version, document: { version: document, language } })),
    invitations: new Map(
      rows.flatMap((row) => (row.invited_at === null ? [] : [[row.version, Date.parse(row.invited_at)] as const])),
    ),
  };
}

/** What was given last: decisions evaluate a definition in its language. */
export function lastGiven(rows: readonly GivenRow[]): GivenRow | undefined {
  const isLater = (a: GivenRow, b: GivenRow) => a.given_at > b.given_at || (a.given_at === b.given_at && a.id > b.id);
  return rows.reduce<GivenRow | undefined>((last, row) => (last && isLater(last, row) ? last : row), undefined);
}

/** The last instant of the grace of a user who is invited away from a version; undefined where that does not end yet. */
export function graceOf(
  definition: Definition | undefined,
  version: string,
  { invitedAt, now }: { invitedAt: number; now: number },
): number | undefined {
  const endOfLife = definition?.versions.find((one) => one.version === version)?.endOfLife;
  // Before its startDate it may change.
  return endOfLife === undefined || now < endOfLife.startDate ? undefined : graceEnd(endOfLife, invitedAt);
}

/**
 * What has become of a consent to a version: its grace runs, it has expired, or something else counts for the user, such as a
 * newer version or no consent at all.
 */
export function endingOf(
  definition: Definition | undefined,
  version: string,
  given: readonly GivenRow[],
  now: number,
): 'grace' | 'expired' | undefined {
  const language = lastGiven(given)?.language;
  if (definition === undefined || language === undefined) return undefined;
  const past = pastOf(given);
  if (newestGiven(definition, language, past.consents, now)?.version !== version) return undefined;
  // Where nothing is active any more, nothing suffices.
  const status = evaluateConsent(definition, language, past, now)?.status ?? 'expired';
  return status === 'grace' || status === 'expired' ? status : undefined;
}

type Named = Pick<ConsentItem, 'name' | 'version' | 'document'>;

/** @throws Problem 404 for what there is not */
export function documentOf(
  definition: Definition | undefined,
  { version, document }: Pick<Named, 'version' | 'document'>,
) {
  if (definition === undefined) throw definitionProblem('consent_definition_not_found');
  const found = definition.versions.find((one) => one.version === version);
  if (found === undefined) throw definitionProblem('consent_version_not_found');
  const its = found.documents.find((one) => one.version === document.version && one.language === document.language);
  if (its === undefined) throw definitionProblem('consent_document_not_found');
  return { version: found, document: its };
}

/**
 * Whether the user may consent to a document now: of the active version, or of the version that it consented to, before that
 * begins to end.
 * @throws Problem 404, consent_not_effective, consent_version_ended, consent_superseded
 */
export function checkRegistrable(
  definition: Definition | undefined,
  item: Named,
  given: readonly GivenRow[],
  now: number,
): void {
  const { version, document } = documentOf(definition, item);
  if (now < document.effectiveDate) {
    const detail = `It takes effect at ${new Date(document.effectiveDate).toISOString()}.`;
    throw refused('consent_not_effective', '/document', detail);
  }
  if (version.endOfLife && hasEnded(version, now)) {
    const detail = `It ended at ${new Date(version.endOfLife.endDate).toISOString()} (endDate).`;
    throw refused('consent_version_ended', '/version', detail);
  }
  const active = evaluateActive(definition as Definition, document.language, now);
  if (active?.version === version.version) return;
  const old = newestGiven(definition as Definition, document.language, pastOf(given).consents, now);
  const untouched = version.endOfLife === undefined || now < version.endOfLife.startDate;
  if (old?.version === version.version && untouched) return;
  throw refused('consent_superseded', '/version', `The version ${active?.version} is active.`);
}

function refused(code: Parameters<typeof consentProblem>[0], pointer: string, detail: string): Problem {
  return consentProblem(code, { detail, errors: [{ pointer, detail }] });
}

/** @throws Problem invalid_request */
export function checkProof({ proof }: ConsentItem, pointer: string): void {
  const bytes = proof === undefined ? 0 : Buffer.byteLength(JSON.stringify(proof));
  if (bytes <= limits.proofBytesMax) return;
  const detail = `A proof can have at most ${limits.proofBytesMax} bytes; this one has ${bytes}.`;
  throw problem('invalid_request', { detail, errors: [{ pointer: `${pointer}/proof`, detail }] });
}

/** Whether the user still has something to answer, or will have when it is invited. */
export function isOutstanding({ status, invites }: ConsentEvaluation): boolean {
  return status === 'required' || status === 'expired' || status === 'grace' || invites !== undefined;
}

/** A consent by itself: what it is worth now. Where nothing is active, nothing is. */
export function statusOf(definition: Definition | undefined, row: GivenRow, now: number): UserStatus {
  const evaluated = definition && evaluateConsent(definition, row.language, pastOf([row]), now);
  return evaluated === undefined || evaluated.status === 'required' ? 'expired' : evaluated.status;
}

/**
 * What goes with a revoked consent: it, what the user gave of the same definition before it, and what is of older versions.
 * None of them may come to count again.
 * @param given all that the user gave of the definition
 */
export function revokedWith(definition: Definition | undefined, row: GivenRow, given: readonly GivenRow[]): GivenRow[] {
  return given.filter(
    (one) =>
      one.id === row.id ||
      one.given_at <= row.given_at ||
      (definition !== undefined && isOlder(definition, one.version, row.version)),
  );
}

/** What the ledger and a consent keep of the text of a document that has one. */
export function digestOf({ content }: ReturnType<typeof documentOf>['document']): { contentDigest?: string } {
  return content?.digest === undefined ? {} : { contentDigest: content.digest };
}

/** @param at whose addresses are told */
export function evaluationView(
  definition: Definition,
  evaluation: ConsentEvaluation<string>,
  at: { baseUrl: string; tenant: string },
): EvaluationView {
  const { name } = definition;
  const { version, document, status, gracePeriodEnds } = evaluation;
  const { content } = documentOf(definition, evaluation).document;
  const address = () => documentUrl(at.baseUrl, at.tenant, { name, version, document });
  return {
    name,
    version,
    document,
    status: status as EvaluationView['status'],
    ...(gracePeriodEnds === undefined ? {} : { gracePeriodEnds: new Date(gracePeriodEnds).toISOString() }),
    ...(content && { content: { ...content, url: address() } }),
  };
}

export function consentView(row: ConsentRow): UserConsentView {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.definition,
    version: row.version,
    document: { version: row.document, language: row.language },
    givenAt: row.given_at,
    ...(row.content_digest === null ? {} : { contentDigest: row.content_digest }),
    ...(row.proof === null ? {} : { proof: row.proof }),
  };
}

/** A consent as its user sees it: with what it says, where the document has a text. */
export function mineView(
  definition: Definition | undefined,
  listed: ListedConsent,
  at: { baseUrl: string; tenant: string },
): MineConsent {
  const { name, version, document } = listed;
  const found = definition?.versions.find((one) => one.version === version);
  const content = found?.documents.find(
    (one) => one.version === document.version && one.language === document.language,
  )?.content;
  const { endOfLife } = found ?? {};
  return {
    ...listed,
    ...(endOfLife === undefined ? {} : { endsAt: new Date(endOfLife.endDate).toISOString() }),
    ...(content && { content: { ...content, url: documentUrl(at.baseUrl, at.tenant, { name, version, document }) } }),
  };
}

export function listedView(definition: Definition | undefined, row: ConsentRow, now: number): ListedConsent {
  return { ...consentView(row), status: statusOf(definition, row, now) };
}
