/**
 * The one way to write for a tenant: rows, revision, audit, ledger, notification and events are one transaction, all or
 * nothing. It takes its locks in this order, so that no two writes wait for each other: the lock against erasing
 * (pseudonyms), the Idempotency-Keys, the tenant's row; core/idempotency-key.ts says why. What the work locks comes behind them.
 */

import type { AuditedAuthor, Author } from '../core/author.ts';
import type { Transaction } from '../core/db/database.ts';
import { type IdempotencyReservation, reserveAll } from '../core/idempotency-key.ts';
import { problem } from '../core/problems.ts';
import type { Pseudonymizer } from '../pseudonyms/index.ts';
import { lockErasingExclusive, lockErasingShared } from '../pseudonyms/index.ts';
import { type ConfigWritten, lockForUpdate } from '../tenants/index.ts';
import { retried } from './retry.ts';
import {
  type AuditedUnit,
  type ConfigUnit,
  type ConfigWriteServices,
  type RecordUnit,
  Unit,
  type WriteServices,
} from './unit.ts';

/** `revision`: of the transaction's records, `r…`. */
export type RecordWritten<T> = { result: T; revision: string };

type ConfigOptions<R> = {
  /** The tenant's row: writes of configuration go one after the other, and commit order is revision order. */
  locks: 'configuration';
  /** Makes the tenant's row where there is none. */
  create?: ((tx: Transaction) => Promise<void>) | undefined;
  /** What the work wants to know, issued behind the lock without waiting for it: it sees what the lock waited for. */
  read?: (tx: Transaction) => Promise<R>;
};

type RecordOptions = {
  /** `records`: no erasure of a person starts meanwhile. `erasing`: starts one; all writers of records wait. */
  locks: 'records' | 'erasing';
};

/**
 * Runs `work` in a transaction and records what it states. `work` may run several times: each time with a new unit, after
 * Postgres ended the transaction because of a deadlock or a serialization failure.
 * @throws Problem tenant_not_found (configuration), actor_being_erased (an end user writes), idempotency_key_in_use, and
 *   whatever `work` throws; nothing is written then
 */
export function write<T, R = undefined>(
  services: ConfigWriteServices,
  author: AuditedAuthor,
  options: ConfigOptions<R>,
  work: (unit: ConfigUnit, known: R) => Promise<T>,
): Promise<ConfigWritten<T>>;
export function write<T>(
  services: WriteServices,
  author: AuditedAuthor,
  options: RecordOptions,
  work: (unit: AuditedUnit) => Promise<T>,
): Promise<RecordWritten<T>>;
export function write<T>(
  services: WriteServices,
  author: Author,
  options: RecordOptions,
  work: (unit: RecordUnit) => Promise<T>,
): Promise<RecordWritten<T>>;
export async function write<T, R>(
  services: ConfigWriteServices & { pseudonymizer?: Pseudonymizer },
  author: Author,
  options: ConfigOptions<R> | RecordOptions,
  work: (unit: Unit, known: R) => Promise<T>,
): Promise<ConfigWritten<T> | RecordWritten<T>> {
  const { written, emitted } = await retried(() =>
    services.database.tenant(author.tenant, async (tx) => {
      const unit = new Unit(services, author, tx);
      const written =
        options.locks === 'configuration'
          ? await writeConfig(unit, author, options, work)
          : await writeRecords(unit, author, options, work as (unit: Unit) => Promise<T>);
      return { written, emitted: unit.events.length > 0 };
    }),
  );
  if (emitted) services.eventHints?.committed();
  return written;
}

async function writeConfig<T, R>(
  unit: Unit,
  { idempotency }: Author,
  { create, read }: ConfigOptions<R>,
  work: (unit: Unit, known: R) => Promise<T>,
): Promise<ConfigWritten<T>> {
  const { tx, tenant } = unit;
  if (idempotency !== undefined) await reserveAll(tx, keysOf(idempotency));
  await create?.(tx);
  const [row, known] = await Promise.all([lockForUpdate(tx, tenant), read?.(tx)]);
  if (row === undefined) throw problem('tenant_not_found');
  unit.lock(row);
  const result = await work(unit, known as R);
  return { result, ...(await unit.finishConfig()) };
}

async function writeRecords<T>(
  unit: Unit,
  { idempotency, user }: Author,
  { locks }: RecordOptions,
  work: (unit: Unit) => Promise<T>,
): Promise<RecordWritten<T>> {
  const { tx, tenant } = unit;
  const locking = locks === 'erasing' ? lockErasingExclusive(tx, tenant) : lockErasingShared(tx, tenant);
  const keys = idempotency === undefined ? [] : keysOf(idempotency);
  if (keys.length > 0) await Promise.all([locking, reserveAll(tx, keys)]);
  // The work's first statements go behind the lock without waiting for its answer.
  const [, , result] = await Promise.all([locking, user && unit.unmarkErased([user]), work(unit)]);
  return { result, revision: await unit.finishRecords() };
}

function keysOf(idempotency: NonNullable<Author['idempotency']>): readonly IdempotencyReservation[] {
  return (Array.isArray(idempotency) ? idempotency : [idempotency]).filter((one) => one !== undefined);
}
