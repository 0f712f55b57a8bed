/**
 * Owns writing consents: what is sent for one tenant while others are being written goes together in the next transaction,
 * with one commit for all. A user's consents are written in turn (holdUsers), and the clock is read when it is their turn, so
 * that what is judged is what is written to.
 */

import { takeFitting } from '../core/batch-loader.ts';
import type { Clock } from '../core/clock.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { claimAll, type Once } from '../core/once.ts';
import { Problem } from '../core/problems.ts';
import type { Definitions } from '../definitions/index.ts';
import type { Ledger, RegisterEntry } from '../ledger/index.ts';
import { comeBack, type Tagger } from '../pseudonyms/index.ts';
import { type RecordWritten, writeRecords } from '../relationships/index.ts';
import { type TenantSpec, tenantProblem } from '../tenants/index.ts';
import { type Asking, entryOf } from './governing.ts';
import { checkRegistrable, documentOf } from './rules.ts';
import type { ConsentItem, ConsentRow } from './schema.ts';
import { holdUsers, insertConsents, type NewConsent, readPastConsents } from './store.ts';

export type Wanted = { asking: Asking; item: ConsentItem; userId: string };
export type Outcome = { row: ConsentRow; created: boolean } | { refused: Problem };
/** What one request asks for. `refusals` are entries on what was refused before; in a batch, what is refused here has one too. */
type Registration = {
  wanted: readonly Wanted[];
  refusals: readonly RegisterEntry[];
  batch: boolean;
  once?: Once | undefined;
};

type Waiting = {
  registration: Registration;
  resolve: (written: RecordWritten<Outcome[]>) => void;
  reject: (error: unknown) => void;
};
type Lane = { waiting: Waiting[]; writing: number };

type Services = {
  database: Database;
  clock: Clock;
  ledger: Ledger;
  tagger: Tagger;
  snapshotOf: (tenant: string) => { readonly spec: TenantSpec; readonly definitions: Definitions };
};

export class Registrar {
  readonly #services: Services;
  readonly #lanes = new Map<string, Lane>();

  constructor(services: Services) {
    this.#services = services;
  }

  /** @returns the outcomes of what is wanted, committed with their entries */
  register(tenant: string, registration: Registration): Promise<RecordWritten<Outcome[]>> {
    return new Promise((resolve, reject) => {
      const lane = this.#lanes.get(tenant) ?? { waiting: [], writing: 0 };
      this.#lanes.set(tenant, lane);
      lane.waiting.push({ registration, resolve, reject });
      if (lane.writing < limits.registrationsWritingMax) void this.#write(tenant, lane);
    });
  }

  async #write(tenant: string, lane: Lane): Promise<void> {
    lane.writing++;
    // After all requests that have arrived together were looked at.
    await new Promise((resolve) => setImmediate(resolve));
    while (lane.waiting.length > 0) {
      // A request is never divided.
      const group = takeFitting(lane.waiting, sizeOf, limits.registrationItemsMax);
      await this.#together(tenant, group).catch((error) => this.#apart(tenant, group, error));
    }
    lane.writing--;
    if (lane.writing === 0) this.#lanes.delete(tenant);
  }

  async #together(tenant: string, group: readonly Waiting[]): Promise<void> {
    const registrations = group.map((one) => one.registration);
    const { result, revision } = await registerAll(this.#services, tenant, registrations);
    for (const [i, { resolve }] of group.entries()) resolve({ result: result[i] as Outcome[], revision });
  }

  /** What failed together may be the fault of one of them. */
  async #apart(tenant: string, group: readonly Waiting[], error: unknown): Promise<void> {
    if (group.length === 1) return group[0]?.reject(error);
    for (const one of group) await this.#together(tenant, [one]).catch(one.reject);
  }
}

const sizeOf = ({ registration }: Waiting): number => registration.wanted.length;

function registerAll(services: Services, tenant: string, registrations: readonly Registration[]) {
  const writer = { tenant, actor: '', requestId: '' };
  return writeRecords(services, writer, async (tx) => {
    await claimAll(
      tx,
      registrations.map((one) => one.once),
    );
    const all = registrations.flatMap((one) => one.wanted);
    const given = await hold(tx, tenant, all);
    const now = services.clock.now();
    const { definitions, spec } = services.snapshotOf(tenant);
    const added: NewConsent[] = [];
    const entries: RegisterEntry[] = [];
    const outcomes = registrations.map(({ wanted, refusals, batch }) => {
      entries.push(...refusals);
      return wanted.map((one): Outcome => {
        try {
          const outcome = judgeItem(definitions, given, one, now);
          if (outcome.created) added.push(outcome.row);
          entries.push(entryFor(one, outcome.created ? 'registered' : 'already_given', now));
          return outcome;
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          if (batch) entries.push({ ...entryFor(one, error.code, now), type: 'denied' });
          return { refused: error };
        }
      });
    });
    if (added.length > 0) {
      const type = spec.tokenMapping.defaultActorType;
      const users = [...new Set(added.map((row) => row.user_id))].map((id) => ({ type, id }));
      await Promise.all([comeBack(services.tagger, tx, tenant, users), insertConsents(tx, tenant, added)]);
    }
    await services.ledger.appendIn(tx, tenant, entries);
    return outcomes;
  });
}

/** What the users gave before, who wait for nobody else from now on; by keyOf. */
async function hold(tx: Transaction, tenant: string, wanted: readonly Wanted[]): Promise<Map<string, ConsentRow[]>> {
  const users = [...new Set(wanted.map((one) => one.userId))];
  if (users.length > 0 && !(await holdUsers(tx, tenant, users))) throw tenantProblem('tenant_not_found');
  const pairs = new Map(wanted.map(({ userId, item }) => [keyOf(userId, item.name), { userId, name: item.name }]));
  const questions = [...pairs.values()].map((pair, n) => ({ n, ...pair }));
  const rows = questions.length === 0 ? [] : await readPastConsents(tx, tenant, questions);
  return Map.groupBy<string, ConsentRow>(rows, (row) => keyOf(row.user_id, row.definition));
}

const keyOf = (userId: string, name: string) => `${userId}\0${name}`;

/** @throws Problem why it cannot be registered */
function judgeItem(
  definitions: Definitions,
  given: Map<string, ConsentRow[]>,
  { item, userId }: Wanted,
  now: number,
): { row: NewConsent; created: boolean } {
  const { name, version, document, proof } = item;
  const key = keyOf(userId, name);
  const its = given.get(key) ?? [];
  const definition = definitions.get(name);
  documentOf(definition, item);
  const before = its.find(
    (row) => row.version === version && row.document === document.version && row.language === document.language,
  );
  if (before !== undefined) return { row: before, created: false };
  checkRegistrable(definition, item, its, now);
  const row: NewConsent = {
    ...{ id: '', user_id: userId, definition: name, version, document: document.version, language: document.language },
    ...{ given_at: new Date(now).toISOString(), proof: proof ?? null, invited_at: null },
  };
  given.set(key, [...its, row]);
  return { row, created: true };
}

function entryFor({ asking, item, userId }: Wanted, outcome: string, now: number): RegisterEntry {
  const { name, version, document } = item;
  return entryOf(asking, { userId, name, version, document, type: 'registered', time: now, outcome });
}
