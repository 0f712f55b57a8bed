/** The verbs on keys: looking one up, reserving it, adding its answer, removing those that expired, and forgetting an actor. */
import { callerName } from '../core/auth/name.ts';
import type { Caller } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import type { IdempotencyReservation } from '../core/idempotency-key.ts';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import { quotaExceeded } from '../core/quota.ts';
import { hasErasedSince, lockLogErasingShared } from '../pseudonyms/index.ts';
import type { EraseSome } from '../room/erasing.ts';
import type { Task } from '../room/tasks.ts';
import { idempotencyProblem } from './problems.ts';
import type { KeyPlace, KeyRow, StoredAnswer } from './schema.ts';
import { countKeys, insertKey, readKey, removeOld, removeSome, setAnswer, wipeAnswers } from './store.ts';

export type IdempotencyServices = { database: Database; encrypter: Encrypter; clock: Clock; observe: Observe };

/** A request with a key. `target`: its address and its body, which a repeated one must equal. */
type KeyedRequest = { caller: Caller; route: string; key: string; target: string };

const ROOM = 'idempotency';
const REMOVE_EVERY_MS = 3_600_000;
const REMOVE_ROWS = 10_000;
const noKeys = { count: 0, oldest: null };

/** What was answered before, or the right to act. @throws Problem of this room; rate_limited (the quota idempotency-keys) */
export async function begin(
  services: IdempotencyServices,
  keyed: KeyedRequest,
): Promise<{ before: StoredAnswer & { body: string } } | { idempotency: Reservation }> {
  const { database, clock } = services;
  const idempotency = new Reservation(services, keyed);
  const { place } = idempotency;
  const since = sinceOf(clock.now());
  const isUser = keyed.caller.kind === 'user';
  const most = limits.idempotencyKeysPerUserMax;
  const [row, { count, oldest }] = await database.read(place.tenant, (tx) =>
    Promise.all([readKey(tx, place, since), isUser ? countKeys(tx, place, since, most) : noKeys]),
  );
  if (row !== undefined) return { before: answerBefore(services, idempotency, row) };
  if (count < most) return { idempotency };
  const detail = `A user can have at most ${most} stored keys; each expires after 24 hours.`;
  const freeMs = oldest === null ? clock.now() : Date.parse(oldest) + limits.idempotencyKeptMs;
  const quota = { name: 'idempotency-keys', count: most, windowMs: limits.idempotencyKeptMs };
  throw quotaExceeded(quota, freeMs - clock.now(), detail);
}

function answerBefore({ encrypter, clock }: IdempotencyServices, idempotency: Reservation, row: KeyRow) {
  if (row.request !== idempotency.request) throw idempotencyProblem('idempotency_key_reused');
  if (row.answer === null) {
    // Its answer comes soon, unless the process that acted has ended.
    const isFresh = clock.now() - Date.parse(row.created_at) < limits.idempotencyAnswerWaitMs;
    throw isFresh ? inUse() : idempotencyProblem('idempotency_answer_not_kept');
  }
  const { status, headers, body } = JSON.parse(
    encrypter.decrypt(row.answer, idempotency.encryptedFor).toString(),
  ) as StoredAnswer;
  if (body !== undefined) return { status, headers, body };
  const { location } = headers;
  const detail = `The request was processed at ${row.created_at} with status ${status}. Its response was not stored because it contained a secret or was too long.`;
  throw idempotencyProblem('idempotency_answer_not_kept', { detail, headers: location ? { location } : {} });
}

function inUse() {
  return idempotencyProblem('idempotency_key_in_use');
}

function sinceOf(now: number): string {
  return new Date(now - limits.idempotencyKeptMs).toISOString();
}

/** Whose key it is: clients of two issuers may have one name. */
function keyHolder(caller: Caller): string {
  return caller.kind === 'backend' ? `${caller.issuer} ${callerName(caller)}` : callerName(caller);
}

/** One request's key. */
export class Reservation implements IdempotencyReservation {
  readonly place: KeyPlace;
  readonly request: string;
  readonly #services: IdempotencyServices;
  readonly #now: string;

  constructor(services: IdempotencyServices, { caller, route, key, target }: KeyedRequest) {
    const { encrypter, clock } = services;
    const { tenant } = caller;
    const digest = (what: string, value: string) => encrypter.digest(Buffer.from(value), [ROOM, tenant, what]);
    const id = digest('key', JSON.stringify([route, key]));
    this.place = { tenant, caller: callerDigest(encrypter, tenant, keyHolder(caller)), id };
    this.request = digest('request', target);
    this.#services = services;
    this.#now = new Date(clock.now()).toISOString();
  }

  get id(): string {
    return `${this.place.caller}${this.place.id}`;
  }

  get encryptedFor(): string[] {
    const { tenant, caller, id } = this.place;
    return [ROOM, tenant, caller, id];
  }

  async reserve(tx: Transaction): Promise<void> {
    const since = sinceOf(Date.parse(this.#now));
    if (!(await insertKey(tx, this.place, { request: this.request, now: this.#now, since }))) throw inUse();
  }

  /**
   * Stores the answer for repeated requests. An action that wrote nothing has not reserved the key: that is done here. An answer
   * may name somebody who is being erased or was erased meanwhile: then it is not stored.
   */
  async answered(answer: StoredAnswer): Promise<void> {
    const { database, encrypter } = this.#services;
    const { body = '', ...rest } = answer;
    const isKept = answer.body !== undefined && Buffer.byteLength(body) <= limits.idempotencyAnswerBytesMax;
    const encrypted = encrypter.encrypt(Buffer.from(JSON.stringify(isKept ? answer : rest)), this.encryptedFor);
    const row = { request: this.request, now: this.#now };
    const { tenant } = this.place;
    const begun = new Date(Date.parse(this.#now) - limits.idempotencyAnswerWaitMs).toISOString(); // clocks differ
    await database.tenant(tenant, async (tx) => {
      const [, erased] = await Promise.all([lockLogErasingShared(tx, [tenant]), hasErasedSince(tx, tenant, begun)]);
      if (erased) return;
      await insertKey(tx, this.place, { ...row, since: sinceOf(Date.parse(this.#now)) });
      await setAnswer(tx, this.place, { ...row, answer: encrypted });
    });
  }
}

function callerDigest(encrypter: Encrypter, tenant: string, name: string): string {
  return encrypter.digest(Buffer.from(name), [ROOM, tenant, 'caller']);
}

/**
 * Forgets what an actor sent with keys, a portion at a time. Answers that others of the tenant got may tell of it too, and are
 * wiped: what they did stays done, and asking again is answered with idempotency_answer_not_kept. No answer is added meanwhile.
 */
export function forgettingActor({ encrypter }: Pick<IdempotencyServices, 'encrypter'>): EraseSome {
  return async (tx, { tenant, type, id }, position) => {
    const limit = limits.erasePageItemsMax;
    const digest = callerDigest(encrypter, tenant, `user:${type}:${id}`);
    const idempotencyKeys = await removeSome(tx, tenant, digest, limit);
    const [caller = '', key = ''] = position?.split(' ') ?? [];
    const last = await wipeAnswers(tx, tenant, { after: { caller, id: key }, limit });
    const removed = { idempotencyKeys };
    if (last !== undefined) return { removed, next: `${last.caller} ${last.id}` };
    return { removed, ...(idempotencyKeys < limit ? {} : { next: position ?? ' ' }) };
  };
}

/** Removes what is older than it is kept. */
export async function removeExpired({
  database,
  clock,
}: Pick<IdempotencyServices, 'database' | 'clock'>): Promise<number> {
  const since = sinceOf(clock.now());
  for (let removed = 0; ; ) {
    const some = await database.system((tx) => removeOld(tx, since, REMOVE_ROWS));
    removed += some;
    if (some < REMOVE_ROWS) return removed;
  }
}

/** Removes them every hour. */
export function removingExpired(services: IdempotencyServices): Task {
  return {
    name: 'removing expired idempotency keys',
    everyMs: REMOVE_EVERY_MS,
    firstMs: REMOVE_EVERY_MS,
    async run() {
      await removeExpired(services);
      return undefined;
    },
  };
}
