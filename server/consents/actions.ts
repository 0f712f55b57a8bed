/** The other verbs that write: refusing, inviting, revoking, erasing. */
import { callerName } from '../core/auth/name.ts';
import { problem } from '../core/problems.ts';
import {
  definitionProblem,
  type EvaluatedVersion,
  evaluateConsent,
  graceEnd,
  hasEnded,
  newestGiven,
} from '../definitions/index.ts';
import { eraseIn } from '../ledger/index.ts';
import { type RecordUnit, type RecordWritten, write } from '../writes/index.ts';
import { consentInvited, consentRefused, consentRevoked, gracePeriodEnds } from './events.ts';
import { mailRenewals } from './mailed.ts';
import { consentProblem } from './problems.ts';
import {
  auditMember,
  authorOf,
  type ConsentServices,
  concernedUser,
  entryOf,
  type RequestContext,
  userOf,
} from './request-context.ts';
import { digestOf, documentOf, lastGiven, pastOf, revokedWith } from './rules.ts';
import type { GivenRow, RefusalBody } from './schema.ts';
import { insertInvitation, lockUsers, readConsent, readConsentHistory, removeConsents, removeUser } from './store.ts';

/**
 * A user does not agree to a document: that is recorded, and nothing else changes.
 * @throws Problem 404, forbidden, consent_not_effective
 */
export function refuseConsent(services: ConsentServices, context: RequestContext, body: RefusalBody) {
  const userId = concernedUser(context, body.userId, '/userId');
  const { name, version, document } = body;
  const now = services.clock.now();
  const found = documentOf(context.requestTenant.snapshot.definitions.get(name), body);
  if (now < found.document.effectiveDate) throw consentProblem('consent_not_effective');
  const refusal = { userId, name, version, document };
  const digest = digestOf(found.document);
  return write(services, authorOf(context), { locks: 'records' }, async (unit) => {
    unit.appendToLedger([entryOf(context, { ...refusal, ...digest, type: 'refused', time: now, outcome: 'refused' })]);
    unit.emit(consentRefused, { requestor: callerName(context.caller), ...refusal });
    return { ...refusal, refusedAt: new Date(now).toISOString() };
  });
}

type Invited = { userId: string; name: string; version: string; invitedAt: string; gracePeriodEnds: string };

/**
 * Invites a user away from the version that it consented to, in the language of that consent; the first invitation stays.
 * @throws Problem consent_invitation_not_due, consent_definition_not_found
 */
export function inviteUser(
  services: ConsentServices,
  context: RequestContext,
  { userId: said, name }: { userId: string; name: string },
): Promise<RecordWritten<{ created: boolean; invited: Invited }>> {
  const { tenant } = context;
  const userId = concernedUser(context, said, '/userId');
  return writeUser(services, context, userId, async (unit) => {
    const { tx, now } = unit;
    const rows = await readConsentHistory(tx, tenant, [{ n: 0, userId, name }]);
    const definition = context.requestTenant.snapshot.definitions.get(name);
    if (definition === undefined) throw definitionProblem('consent_definition_not_found');
    const language = lastGiven(rows)?.language;
    const past = pastOf(rows);
    const evaluated = language === undefined ? undefined : evaluateConsent(definition, language, past, now);
    const old = language === undefined ? undefined : newestGiven(definition, language, past.consents, now);
    const before = old && past.invitations.get(old.version);
    const again = before !== undefined && (evaluated?.status === 'grace' || evaluated?.status === 'expired');
    const due = evaluated?.invites !== undefined || (again && !hasEnded(old as EvaluatedVersion, now));
    if (old?.endOfLife === undefined || !due) throw consentProblem('consent_invitation_not_due');
    const at = before ?? now;
    const invitedAt = new Date(at).toISOString();
    const { version } = old;
    const outcome = before === undefined ? 'invited' : 'already_invited';
    unit.appendToLedger([entryOf(context, { userId, name, version, type: 'invited', time: now, outcome })]);
    const graceEnds = graceEnd(old.endOfLife, at);
    const ends = gracePeriodEnds(graceEnds);
    if (before === undefined) {
      await insertInvitation(tx, tenant, { userId, name, version }, { at: invitedAt, graceEnds });
      unit.emit(consentInvited, { requestor: callerName(context.caller), userId, name, version, ...ends });
      await mailRenewals(services, unit, [{ userId, name, endsAt: ends.gracePeriodEnds }]);
    }
    return { created: before === undefined, invited: { userId, name, version, invitedAt, ...ends } };
  });
}

/**
 * Deletes a consent and the user's older ones of the same definition, with an entry each.
 * @throws Problem consent_not_found, forbidden for another user's
 */
export async function revokeConsent(
  services: ConsentServices,
  context: RequestContext,
  id: string,
): Promise<RecordWritten<void>> {
  const { tenant } = context;
  const own = userOf(context);
  const found = await services.database.tenantSnapshot(tenant, (tx) => readConsent(tx, tenant, id));
  if (found === undefined) throw consentProblem('consent_not_found');
  if (own !== undefined && found.user_id !== own) {
    throw problem('forbidden', { detail: 'Users can revoke only their own consents.' });
  }
  const { user_id: userId, definition: name } = found;
  return writeUser(services, context, userId, async (unit) => {
    const { tx } = unit;
    const given: GivenRow[] = await readConsentHistory(tx, tenant, [{ n: 0, userId, name }]);
    const row = given.find((one) => one.id === id);
    if (row === undefined) throw consentProblem('consent_not_found');
    const gone = revokedWith(context.requestTenant.snapshot.definitions.get(name), row, given);
    await removeConsents(
      tx,
      tenant,
      gone.map((one) => one.id),
    );
    for (const { version, document, language } of gone) {
      const about = { userId, name, version, document: { version: document, language } };
      unit.appendToLedger([entryOf(context, { ...about, type: 'revoked', time: unit.now, outcome: 'revoked' })]);
      unit.emit(consentRevoked, { requestor: callerName(context.caller), ...about });
      auditMember(unit, context, {
        action: 'revoke',
        name: `${name}/${version}`,
        about: { userId, document: about.document },
      });
    }
  });
}

/** Erases a user: consents and invitations are deleted, the ledger keeps its chain without the person. */
export function eraseUser(
  services: ConsentServices,
  context: RequestContext,
  said: string,
): Promise<RecordWritten<void>> {
  const { tenant } = context;
  const userId = concernedUser(context, said, '/params/userId');
  return writeUser(services, context, userId, async (unit) => {
    const { tx } = unit;
    await removeUser(tx, tenant, userId);
    const { defaultActorType: type } = context.requestTenant.snapshot.spec.tokenMapping;
    await eraseIn(tx, tenant, { type, id: userId });
    unit.appendToLedger([entryOf(context, { type: 'erased', time: unit.now, outcome: 'erased' })]);
  });
}

function writeUser<T>(
  services: ConsentServices,
  context: RequestContext,
  userId: string,
  work: (unit: RecordUnit) => Promise<T>,
): Promise<RecordWritten<T>> {
  return write(services, authorOf(context), { locks: 'records' }, async (unit) => {
    if (!(await lockUsers(unit.tx, context.tenant, [userId]))) throw problem('tenant_not_found');
    return work(unit);
  });
}
