/**
 * Tells of consents that end. From the startDate of an end of life on its plan is fixed, and so is the end of the grace of each
 * user that was invited; it stands with the invitation. Who was not invited loses the consent with the version: its users are
 * gone through in portions, and the version holds how far that has come. What is told is evaluated at that moment, behind the
 * lock of the user, so nothing is told of what was revoked or given anew.
 */
import { takeTurn } from '../core/db/due.ts';
import { limits } from '../core/limits.ts';
import {
  definitionsOf,
  loadDefinitions,
  lockStarted,
  markEnded,
  markStarted,
  nextEnded,
  tenantsWithEnds,
  tenantsWithStarts,
} from '../definitions/index.ts';
import type { MailServices } from '../mail/index.ts';
import { byTime, type Timed } from '../room/timed.ts';
import { type RecordUnit, type WriteServices, write } from '../writes/index.ts';
import { consentExpired, endOfLifeStarted, graceEnding, gracePeriodEnds } from './events.ts';
import { isAgainWorthAMail, mailRenewals } from './mailed.ts';
import { endingOf, graceOf } from './rules.ts';
import { lockUsers, readConsentHistory } from './store.ts';
import {
  armGraces,
  type GraceNews,
  type GraceRow,
  markGraces,
  moveGraces,
  readGraces,
  readOfVersion,
  tenantsWithGraces,
} from './timed-store.ts';

export function endingConsents(services: WriteServices & MailServices): Timed[] {
  const inTurn = async (tenant: string, what: string, work: (unit: RecordUnit) => Promise<boolean>) => {
    const { result } = await write(services, { tenant }, { locks: 'records' }, async (unit) =>
      (await takeTurn(unit.tx, tenant, `consents.${what}`)) ? work(unit) : false,
    );
    return result;
  };
  const graces = (news: GraceNews, name: string): Timed => ({
    name,
    tenantsDue: (tx, now) => tenantsWithGraces(tx, news, now),
    tellSome: (tenant) => inTurn(tenant, news, (unit) => tellGraces(services, unit, news)),
  });
  return [
    {
      name: 'versions of consents that begin to end',
      tenantsDue: tenantsWithStarts,
      tellSome: (tenant) => inTurn(tenant, 'starts', tellStart),
    },
    graces('ending', 'graces that end soon'),
    graces('expired', 'graces that have ended'),
    {
      name: 'versions of consents that have ended',
      tenantsDue: tenantsWithEnds,
      tellSome: (tenant) => inTurn(tenant, 'ends', tellEnd),
    },
  ];
}

async function tellStart(unit: RecordUnit): Promise<boolean> {
  const { tx, tenant } = unit;
  const version = await lockStarted(tx, tenant, unit.nowText);
  if (version === undefined) return false;
  if ((await armGraces(tx, tenant, version)) === limits.timedEventsMax) return true;
  await markStarted(tx, tenant, version);
  unit.emit(endOfLifeStarted, {
    ...{ requestor: byTime, name: version.definition, version: version.version },
    ...{ startDate: version.start_date, endDate: version.end_date, gracePeriod: version.grace_period },
  });
  return true;
}

async function tellGraces(services: MailServices, unit: RecordUnit, news: GraceNews): Promise<boolean> {
  const { tx, tenant } = unit;
  const rows = await readGraces(tx, tenant, news, unit.nowText);
  if (rows.length === 0) return false;
  const endings = await endingsOf(unit, rows);
  if (endings === undefined) return false;
  const told: GraceRow[] = [];
  const moved: GraceRow[] = [];
  const renewals: Parameters<typeof mailRenewals>[2][number][] = [];
  for (const [n, row] of rows.entries()) {
    const { user_id: userId, definition: name, version, days } = row;
    const { ending, graceEnds = Date.parse(row.grace_ends) } = endings[n] as Ending;
    if (graceEnds > Date.parse(row.grace_ends)) {
      moved.push({ ...row, grace_ends: new Date(graceEnds).toISOString() });
      continue;
    }
    told.push(row);
    const about = { requestor: byTime, userId, name, version };
    if (news === 'expired' && ending === 'expired')
      unit.emit(consentExpired, { ...about, expiredAt: new Date(graceEnds).toISOString() });
    if (news !== 'ending' || ending !== 'grace' || days === 0) continue;
    const ends = gracePeriodEnds(graceEnds);
    unit.emit(graceEnding, { ...about, ...ends });
    if (isAgainWorthAMail(row.invited_at, unit.now)) renewals.push({ userId, name, endsAt: ends.gracePeriodEnds });
  }
  await mailRenewals(services, unit, renewals);
  if (told.length > 0) await markGraces(tx, tenant, news, told);
  if (moved.length > 0) await moveGraces(tx, tenant, moved);
  return moved.length > 0 || rows.length === limits.timedEventsMax;
}

async function tellEnd(unit: RecordUnit): Promise<boolean> {
  const { tx, tenant } = unit;
  const ended = await nextEnded(tx, tenant, unit.nowText);
  if (ended === undefined) return false;
  const { definition: name, version, end_date: expiredAt } = ended;
  const rows = await readOfVersion(tx, tenant, ended);
  const counting = rows.filter(({ counts }) => counts).map(({ user_id }) => ({ user_id, definition: name, version }));
  const endings = counting.length === 0 ? [] : await endingsOf(unit, counting);
  if (endings === undefined) return false;
  for (const [n, { user_id: userId }] of counting.entries())
    if (endings[n]?.ending === 'expired')
      unit.emit(consentExpired, { requestor: byTime, userId, name, version, expiredAt });
  await markEnded(tx, tenant, ended, rows.length < limits.timedEventsMax ? undefined : rows.at(-1)?.id);
  return true;
}

type Ending = { ending: 'grace' | 'expired' | undefined; graceEnds: number | undefined };

/** What has become of users' consents to versions, behind the users' locks; undefined: the tenant is not active any more. */
async function endingsOf(
  { tx, tenant, now }: RecordUnit,
  rows: readonly (Pick<GraceRow, 'user_id' | 'definition' | 'version'> & { invited_at?: string })[],
): Promise<Ending[] | undefined> {
  if (!(await lockUsers(tx, tenant, [...new Set(rows.map((row) => row.user_id))]))) return undefined;
  const questions = rows.map(({ user_id: userId, definition: name }, n) => ({ n, userId, name }));
  const given = Map.groupBy(await readConsentHistory(tx, tenant, questions), ({ n }) => n);
  const names = [...new Set(rows.map((row) => row.definition))];
  const definitions = definitionsOf(await loadDefinitions(tx, tenant, names));
  return rows.map(({ definition: name, version, invited_at: invitedAt }, n) => {
    const definition = definitions.get(name);
    return {
      ending: endingOf(definition, version, given.get(n) ?? [], now),
      graceEnds:
        invitedAt === undefined ? undefined : graceOf(definition, version, { invitedAt: Date.parse(invitedAt), now }),
    };
  });
}
