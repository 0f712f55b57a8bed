/**
 * Which document of a consent definition concerns a user at an instant, and whether what the user gave suffices
 * (docs/consents.md). Pure: decisions, answers and the tests' table all come here.
 */
import { addPeriod, type Period } from '../core/periods.ts';

/** Instants are ms since the epoch. */
type EndOfLife = { readonly startDate: number; readonly endDate: number; readonly gracePeriod: Period };
type EvaluatedDocument = { readonly version: string; readonly language: string; readonly effectiveDate: number };
export type EvaluatedVersion = {
  readonly version: string;
  readonly endOfLife?: EndOfLife;
  readonly documents: readonly EvaluatedDocument[];
};
export type EvaluatedDefinition = { readonly versions: readonly EvaluatedVersion[] };

/** A document that the user consented to. */
export type GivenConsent = {
  readonly version: string;
  readonly document: { readonly version: string; readonly language: string };
};
export type UserPast = {
  readonly consents: readonly GivenConsent[];
  /** When the user was first invited away from a version. */
  readonly invitations: ReadonlyMap<string, number>;
};

export const userStatuses = ['given', 'valid', 'grace', 'expired', 'required'] as const;
export type UserStatus = (typeof userStatuses)[number];
export type ConsentEvaluation<Status = UserStatus> = {
  version: string;
  document: { version: string; language: string };
  status: Status;
  /** With `grace`: the last instant of it. */
  gracePeriodEnds?: number;
  /** The version that a first invitation leads away from, if the user were to be invited now. */
  invites?: string;
};

/** Whether a policy may rely on the consent. */
export function isSufficient(status: UserStatus): boolean {
  return status === 'given' || status === 'valid' || status === 'grace';
}

type At = { version: EvaluatedVersion; document: EvaluatedDocument };

/** What a new user is offered, or undefined when nothing is active. */
export function evaluateActive(
  definition: EvaluatedDefinition,
  language: string,
  now: number,
): ConsentEvaluation<'active'> | undefined {
  const active = activeOf(definition, language, now);
  return active && { ...answer(active), status: 'active' };
}

/** What concerns a user, or undefined when nothing is active. The first rule that matches decides. */
export function evaluateConsent(
  definition: EvaluatedDefinition,
  language: string,
  past: UserPast,
  now: number,
): ConsentEvaluation | undefined {
  const active = activeOf(definition, language, now);
  if (active === undefined) return undefined;
  const isGiven = ({ version, document }: At) =>
    past.consents.some(
      (given) =>
        given.version === version.version &&
        given.document.version === document.version &&
        given.document.language === document.language,
    );
  const isCurrent = past.consents.some((given) => given.version === active.version.version);
  const old = isCurrent ? active.version : newestGiven(definition, language, past.consents, now);
  if (old === undefined) return { ...answer(active), status: 'required' };
  // A translation is the same content: a consent in any language of the active version is one.
  if (old === active.version) return { ...answer(active), status: isGiven(active) ? 'given' : 'valid' };
  if (hasEnded(old, now)) return { ...answer(active), status: 'expired' };
  if (old.endOfLife === undefined || now < old.endOfLife.startDate) {
    const document = latestEffective(old, language, now);
    const still = document === undefined ? active : { version: old, document };
    return { ...answer(still), status: isGiven(still) ? 'given' : 'valid' };
  }
  return { ...answer(active), ...transition(old.version, old.endOfLife, past.invitations.get(old.version), now) };
}

/** From startDate to endDate. */
function transition(version: string, endOfLife: EndOfLife, invitedAt: number | undefined, now: number) {
  if (invitedAt === undefined) return { status: 'valid', invites: version } as const;
  const gracePeriodEnds = graceEnd(endOfLife, invitedAt);
  return now <= gracePeriodEnds ? ({ status: 'grace', gracePeriodEnds } as const) : ({ status: 'expired' } as const);
}

/** The last instant of a user's grace. An invitation that was made under an earlier plan counts from startDate. */
export function graceEnd({ startDate, endDate, gracePeriod }: EndOfLife, invitedAt: number): number {
  return Math.min(addPeriod(Math.max(invitedAt, startDate), gracePeriod), endDate);
}

/** A version holds up to its endDate, inclusively. */
export function hasEnded({ endOfLife }: EvaluatedVersion, now: number): boolean {
  return endOfLife !== undefined && now > endOfLife.endDate;
}

/** The latest effective document of the newest version that has not ended and has one in the language. */
function activeOf({ versions }: EvaluatedDefinition, language: string, now: number): At | undefined {
  let newest: (At & { first: number }) | undefined;
  for (const version of versions) {
    if (hasEnded(version, now)) continue;
    const document = latestEffective(version, language, now);
    if (document === undefined) continue;
    const first = firstEffective(version, now, language);
    if (newest === undefined || first > newest.first) newest = { version, document, first };
  }
  return newest;
}

/** The newest version that the user consented to, as the language sees them; undefined: it consented to none. */
export function newestGiven(
  { versions }: EvaluatedDefinition,
  language: string,
  consents: readonly GivenConsent[],
  now: number,
): EvaluatedVersion | undefined {
  const given = new Set(consents.map((consent) => consent.version));
  let newest: { version: EvaluatedVersion; first: number } | undefined;
  for (const version of versions) {
    if (!given.has(version.version)) continue;
    // Where it was never in the language, it is as old as in the first language that it was in.
    const inLanguage = firstEffective(version, now, language);
    const first = inLanguage === Number.POSITIVE_INFINITY ? firstEffective(version, now) : inLanguage;
    // Nothing of it is in effect (it was defined anew), so it has no consents.
    if (first === Number.POSITIVE_INFINITY) continue;
    if (newest === undefined || first > newest.first) newest = { version, first };
  }
  return newest?.version;
}

/**
 * Whether a version is older than another in any language that both are in, or as a whole: which one the user was asked in
 * is not known, and languages may get the versions in other orders.
 */
export function isOlder({ versions }: EvaluatedDefinition, version: string, than: string): boolean {
  const [one, other] = [version, than].map((name) => versions.find((its) => its.version === name));
  if (one === undefined || other === undefined) return false;
  const first = (of: EvaluatedVersion, language?: string) => firstEffective(of, Number.POSITIVE_INFINITY, language);
  return (
    first(one) < first(other) || other.documents.some(({ language }) => first(one, language) < first(other, language))
  );
}

function latestEffective(
  { documents }: EvaluatedVersion,
  language: string,
  now: number,
): EvaluatedDocument | undefined {
  let latest: EvaluatedDocument | undefined;
  for (const document of documents) {
    if (document.language !== language || document.effectiveDate > now) continue;
    if (latest === undefined || document.effectiveDate > latest.effectiveDate) latest = document;
  }
  return latest;
}

/** When a version's first document (of a language) took effect; infinite when none has. */
function firstEffective({ documents }: EvaluatedVersion, now: number, language?: string): number {
  let first = Number.POSITIVE_INFINITY;
  for (const document of documents) {
    if (language !== undefined && document.language !== language) continue;
    if (document.effectiveDate <= now && document.effectiveDate < first) first = document.effectiveDate;
  }
  return first;
}

function answer({ version, document }: At) {
  return { version: version.version, document: { version: document.version, language: document.language } };
}
