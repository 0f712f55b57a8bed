/**
 * What a user sees of a definition at an instant, for the preview of the time line: the rules of docs/consents.md, as the server's
 * definitions/evaluate.ts has them. Pure; test/portal-app/consents.test.ts compares both.
 */
export type SeenDocument = { version: string; language: string; effectiveDate: number };
export type SeenVersion = {
  version: string;
  /** The grace period as a duration of ISO 8601. */
  endOfLife?: { startDate: number; endDate: number; gracePeriod: string };
  documents: readonly SeenDocument[];
};
export type Status = 'given' | 'valid' | 'grace' | 'expired' | 'required';
export type Seen = {
  version: string;
  document: { version: string; language: string };
  status: Status;
  gracePeriodEnds?: number;
};
/** What the user agreed to, and when it was first invited away from that version. */
export type Gave = { version: string; document: string; language: string; invitedAt?: number };

const DAY_MS = 86_400_000;
const DURATION =
  /^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:([\d.]+)W)?(?:([\d.]+)D)?(?:T(?=.)(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?)?$/;

/** Adds a duration in UTC as a calendar does: a month from 31 January is the last day of February. Undefined: it is none. */
export function addDuration(instant: number, duration: string): number | undefined {
  const match = DURATION.exec(duration.replaceAll(',', '.'));
  if (match === null) return undefined;
  const [years, months, weeks, days, hours, minutes, seconds] = match.slice(1).map((text) => Number(text ?? 0));
  const date = new Date(instant);
  const month = date.getUTCMonth() + (years ?? 0) * 12 + (months ?? 0);
  const last = new Date(Date.UTC(date.getUTCFullYear(), month + 1, 0)).getUTCDate();
  date.setUTCFullYear(date.getUTCFullYear(), month, Math.min(date.getUTCDate(), last));
  const more = ((weeks ?? 0) * 7 + (days ?? 0)) * DAY_MS;
  return date.getTime() + Math.round(more + (((hours ?? 0) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0)) * 1000);
}

/** Of a version, in a language or in all, what is in effect at an instant: oldest first. */
export const inEffect = ({ documents }: SeenVersion, now: number, language?: string): SeenDocument[] =>
  documents
    .filter((one) => one.effectiveDate <= now && (language === undefined || one.language === language))
    .sort((a, b) => a.effectiveDate - b.effectiveDate);

export const hasEnded = ({ endOfLife }: SeenVersion, now: number) => endOfLife !== undefined && now > endOfLife.endDate;

/** What a new user is asked for. */
export function activeAt(versions: readonly SeenVersion[], language: string, now: number) {
  const found = versions
    .filter((version) => !hasEnded(version, now))
    .map((version) => ({ version, documents: inEffect(version, now, language) }))
    .filter(({ documents }) => documents.length > 0)
    .reduce<{ version: SeenVersion; documents: SeenDocument[] } | undefined>(
      (newest, one) => (newest === undefined || firstDate(one) > firstDate(newest) ? one : newest),
      undefined,
    );
  return found && { version: found.version, document: found.documents.at(-1) as SeenDocument };
}
const firstDate = ({ documents }: { documents: SeenDocument[] }) => documents[0]?.effectiveDate ?? 0;

type Versions = readonly SeenVersion[];
const isSame = (gave: Gave | undefined, { version, document }: { version: SeenVersion; document: SeenDocument }) =>
  gave?.version === version.version && gave.document === document.version && gave.language === document.language;

/** Undefined: nothing is asked in this language. */
export function seenAt(versions: Versions, language: string, gave: Gave | undefined, now: number): Seen | undefined {
  const active = activeAt(versions, language, now);
  if (active === undefined) return undefined;
  const of = ({ version, document }: typeof active, status: Status): Seen => ({
    version: version.version,
    document: { version: document.version, language: document.language },
    status,
  });
  const still = (at: typeof active) => of(at, isSame(gave, at) ? 'given' : 'valid');
  const old = versions.find(({ version }) => version === gave?.version);
  if (gave === undefined || old === undefined || inEffect(old, now).length === 0) return of(active, 'required');
  if (old === active.version) return still(active);
  if (hasEnded(old, now)) return of(active, 'expired');
  if (old.endOfLife === undefined || now < old.endOfLife.startDate) {
    const document = inEffect(old, now, language).at(-1);
    return still(document === undefined ? active : { version: old, document });
  }
  if (gave.invitedAt === undefined) return of(active, 'valid');
  const gracePeriodEnds = graceEnds(old.endOfLife, gave.invitedAt);
  return now <= gracePeriodEnds ? { ...of(active, 'grace'), gracePeriodEnds } : of(active, 'expired');
}

export function graceEnds(end: NonNullable<SeenVersion['endOfLife']>, invitedAt: number): number {
  const from = Math.max(invitedAt, end.startDate);
  return Math.min(addDuration(from, end.gracePeriod) ?? from, end.endDate);
}
