/**
 * Writing consents: what is sent for one tenant while others are being written goes together in the next transaction,
 * with one commit for all. A user's consents are written in turn (lockUsers), and the clock is read when it is their turn, so
 * that what is evaluated is what is written to.
 */
import { callerName } from '../core/auth/name.ts';
import type { Transaction } from '../core/db/database.ts';
import type { IdempotencyReservation } from '../core/idempotency-key.ts';
import { limits } from '../core/limits.ts';
import { Problem, problem } from '../core/problems.ts';
import type { Definitions } from '../definitions/index.ts';
import type { RegisterEntry } from '../ledger/index.ts';
import type { MailServices } from '../mail/index.ts';
import type { TenantSpec } from '../tenants/index.ts';
import { GroupCommit, type RecordUnit, type RecordWritten, type WriteServices, write } from '../writes/index.ts';
import { consentRegistered } from './events.ts';
import { mailReceipts } from './mailed.ts';
import { auditMember, entryOf, type RequestContext } from './request-context.ts';
import { checkRegistrable, documentOf } from './rules.ts';
import type { ConsentItem, ConsentRow } from './schema.ts';
import { insertConsents, lockUsers, type NewConsent, readConsentsWithProofs } from './store.ts';

export type Wanted = { context: RequestContext; item: ConsentItem; userId: string };
export type Outcome = { row: ConsentRow; created: boolean } | { rejected: Problem };
/** What one request asks for. `refusals` are entries on what was refused before; in a batch, what is refused here has one too. */
type Registration = {
  wanted: readonly Wanted[];
  deniedEntries: readonly RegisterEntry[];
  batch: boolean;
  idempotency?: IdempotencyReservation | undefined;
};

type Services = WriteServices &
  MailServices & {
    snapshotOf: (tenant: string) => { readonly spec: TenantSpec; readonly definitions: Definitions };
  };

export class ConsentBatchWriter {
  readonly #groups: GroupCommit<Registration, Outcome[]>;

  constructor(services: Services) {
    this.#groups = new GroupCommit<Registration, Outcome[]>({
      write: (tenant, registrations) => registerAll(services, tenant, registrations),
      sizeOf: ({ wanted }) => wanted.length,
      sizeMax: limits.registrationItemsMax,
      writingMax: limits.registrationsWritingMax,
    });
  }

  /** @returns the outcomes of what is wanted, committed with their entries */
  register(tenant: string, registration: Registration): Promise<RecordWritten<Outcome[]>> {
    return this.#groups.write(tenant, registration);
  }
}

function registerAll(services: Services, tenant: string, registrations: readonly Registration[]) {
  const author = { tenant, idempotency: registrations.map((one) => one.idempotency) };
  return write(services, author, { locks: 'records' }, async (unit) => {
    const all = registrations.flatMap((one) => one.wanted);
    const given = await lockAndRead(unit.tx, tenant, all);
    const { definitions, spec } = services.snapshotOf(tenant);
    const added: NewConsent[] = [];
    const outcomes = registrations.map(({ wanted, deniedEntries, batch }) => {
      unit.appendToLedger(deniedEntries);
      return wanted.map((one): Outcome => {
        try {
          const outcome = evaluateItem(definitions, given, one, unit.now);
          if (outcome.created) added.push(outcome.row);
          record(unit, one, outcome);
          return outcome;
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          if (batch) unit.appendToLedger([{ ...entryFor(one, error.code, unit.now), type: 'denied' }]);
          return { rejected: error };
        }
      });
    });
    if (added.length > 0) {
      const type = spec.tokenMapping.defaultActorType;
      const users = [...new Set(added.map((row) => row.user_id))].map((id) => ({ type, id }));
      await Promise.all([unit.unmarkErased(users), insertConsents(unit.tx, tenant, added)]);
      if (spec.consentMail?.receipt) await mailReceipts(services, unit, added.map(receiptOf));
    }
    return outcomes;
  });
}

const receiptOf = ({ user_id: userId, definition: name, language }: NewConsent) => ({ userId, name, language });

function record(unit: RecordUnit, wanted: Wanted, { row, created }: { row: ConsentRow; created: boolean }): void {
  const { context, item, userId } = wanted;
  const { content_digest: contentDigest } = row;
  const digest = contentDigest === null ? {} : { contentDigest };
  unit.appendToLedger([{ ...entryFor(wanted, created ? 'registered' : 'already_given', unit.now), ...digest }]);
  if (!created) return;
  const { name, version, document } = item;
  auditMember(unit, context, { action: 'register', name: `${name}/${version}`, about: { userId, document } });
  unit.emit(consentRegistered, { requestor: callerName(context.caller), userId, name, version, document });
}

/** Locks the users. @returns what they consented to before, by keyOf */
async function lockAndRead(
  tx: Transaction,
  tenant: string,
  wanted: readonly Wanted[],
): Promise<Map<string, ConsentRow[]>> {
  const users = [...new Set(wanted.map((one) => one.userId))];
  if (users.length > 0 && !(await lockUsers(tx, tenant, users))) throw problem('tenant_not_found');
  const pairs = new Map(wanted.map(({ userId, item }) => [keyOf(userId, item.name), { userId, name: item.name }]));
  const questions = [...pairs.values()].map((pair, n) => ({ n, ...pair }));
  const rows = questions.length === 0 ? [] : await readConsentsWithProofs(tx, tenant, questions);
  return Map.groupBy<string, ConsentRow>(rows, (row) => keyOf(row.user_id, row.definition));
}

const keyOf = (userId: string, name: string) => `${userId}\0${name}`;

/** @throws Problem why it cannot be registered */
function evaluateItem(
  definitions: Definitions,
  given: Map<string, ConsentRow[]>,
  { item, userId }: Wanted,
  now: number,
): { row: NewConsent; created: boolean } {
  const { name, version, document, proof } = item;
  const key = keyOf(userId, name);
  const its = given.get(key) ?? [];
  const definition = definitions.get(name);
  const { content } = documentOf(definition, item).document;
  const before = its.find(
    (row) => row.version === version && row.document === document.version && row.language === document.language,
  );
  if (before !== undefined) return { row: before, created: false };
  checkRegistrable(definition, item, its, now);
  const row: NewConsent = {
    ...{ id: '', user_id: userId, definition: name, version, document: document.version, language: document.language },
    ...{ given_at: new Date(now).toISOString(), proof: proof ?? null, invited_at: null },
    content_digest: content?.digest ?? null,
  };
  given.set(key, [...its, row]);
  return { row, created: true };
}

function entryFor({ context, item, userId }: Wanted, outcome: string, now: number): RegisterEntry {
  const { name, version, document } = item;
  return entryOf(context, { userId, name, version, document, type: 'registered', time: now, outcome });
}
