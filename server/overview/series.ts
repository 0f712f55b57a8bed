/** The time series of the overview from counts of events, pure: one bucket an hour, those without events too. */
import { decisionMade } from '../authz/index.ts';
import { consentRefused, consentRegistered, consentRevoked } from '../consents/index.ts';
import type { CountedRow } from '../events/index.ts';
import {
  invitationAccepted,
  invitationCreated,
  invitationDeclined,
  invitationExpired,
  invitationRevoked,
} from '../invitations/index.ts';
import { relationshipCreated, relationshipExpired, relationshipsDeleted } from '../relationships/index.ts';

export const STEP_MS = 3_600_000;

/** What of each type of events is counted in which series, and under which name. */
const seriesOf = {
  decisions: ofTypes([
    [decisionMade, 'allow', ' allow'],
    [decisionMade, 'deny', ' deny'],
    [decisionMade, 'other', ' other'],
  ]),
  consents: ofTypes([
    [consentRegistered, 'registered'],
    [consentRevoked, 'revoked'],
    [consentRefused, 'refused'],
  ]),
  invitations: ofTypes([
    [invitationCreated, 'created'],
    [invitationAccepted, 'accepted'],
    [invitationDeclined, 'declined'],
    [invitationRevoked, 'revoked'],
    [invitationExpired, 'expired'],
  ]),
  relationships: ofTypes([
    [relationshipCreated, 'created'],
    [relationshipsDeleted, 'deleted'],
    [relationshipExpired, 'expired'],
  ]),
};

function ofTypes(
  members: readonly (readonly [type: { name: string }, member: string, detail?: string])[],
): Record<string, string> {
  return Object.fromEntries(members.map(([{ name }, member, detail = '']) => [name + detail, member]));
}

type Name = keyof typeof seriesOf;
export type Bucket = { at: string } & Record<string, number | string>;

/** @param since ms, the beginning of an hour */
export function bucketsOf(rows: readonly CountedRow[], since: number, until: number): Record<Name, Bucket[]> {
  const names = Object.keys(seriesOf) as Name[];
  return Object.fromEntries(names.map((name) => [name, oneSeries(seriesOf[name], rows, since, until)])) as Record<
    Name,
    Bucket[]
  >;
}

function oneSeries(
  members: Readonly<Record<string, string>>,
  rows: readonly CountedRow[],
  since: number,
  until: number,
): Bucket[] {
  const counts = new Map<number, Map<string, number>>();
  for (const { hour, type, detail, count } of rows) {
    const member = members[detail === '' ? type : `${type} ${detail}`];
    if (member === undefined) continue;
    const at = Date.parse(hour);
    const inHour = counts.get(at) ?? new Map<string, number>();
    counts.set(at, inHour.set(member, (inHour.get(member) ?? 0) + count));
  }
  return hoursOf(since, until).map((at) => ({
    at: new Date(at).toISOString(),
    ...Object.fromEntries(Object.values(members).map((member) => [member, counts.get(at)?.get(member) ?? 0])),
  }));
}

/** The beginnings of the hours from one on, until an instant. */
export function hoursOf(since: number, until: number): number[] {
  return Array.from({ length: Math.ceil((until - since) / STEP_MS) }, (_, i) => since + i * STEP_MS);
}
