/**
 * Sealing: committed entries get the next numbers and the chain's hashes, and a signed checkpoint says so. One at a
 * time for a tenant, whichever server does it; each seal is one transaction, so that a chain never has half of one.
 */
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import { nonRotatingKey } from '../keys/index.ts';
import type { EventHints } from '../room/events.ts';
import type { Task } from '../room/tasks.ts';
import { signCheckpoint } from './checkpoint.ts';
import { chained, genesis, leafOf } from './digest.ts';
import { tellOfEntries } from './event-store.ts';
import { insertCheckpoint, moveEntries, readHead, readUnsealed, tenantsToSeal, tryLock } from './store.ts';
import { removeStray } from './tenant-store.ts';

type SealServices = {
  database: Database;
  encrypter: Encrypter;
  clock: Clock;
  observe: Observe;
  eventHints?: EventHints;
};

const PAUSE_MS = 500;
/**
 * A seal goes by slices: answers wait for their own entry, and would wait for the whole seal where Postgres has no core to
 * spare. What has waited for longer is sealed in one piece, 1.7 times as fast, so that sealing keeps up however much is appended.
 */
const LATE_MS = 5000;
/** After a failure: a database that is away is not asked for twice a second. */
const RETRY_MS = 5000;

/**
 * Seals what waits of one tenant, at most limits.ledgerSealEntriesMax entries.
 * @returns how many; 0 also while another server seals the tenant
 */
export async function sealTenant(services: SealServices, tenant: string): Promise<number> {
  const { database, encrypter, clock, observe } = services;
  const sealed = await database.system(async (tx) => {
    if (!(await tryLock(tx, tenant))) return undefined;
    const rows = await readUnsealed(tx, tenant, limits.ledgerSealEntriesMax);
    const [oldest] = rows;
    if (oldest === undefined) return undefined;
    const isLate = clock.now() - Date.parse(oldest.time) > LATE_MS;
    const head = await readHead(tx, tenant);
    const before = head?.last ?? 0;
    let hash = head?.hash ?? genesis(tenant);
    const atOnce = isLate ? rows.length : limits.ledgerSealSliceEntriesMax;
    for (let sealed = 0; sealed < rows.length; sealed += atOnce) {
      const slice = rows.slice(sealed, sealed + atOnce);
      const links = slice.map((row, i) => {
        hash = chained(hash, leafOf(row));
        return { time: row.time, id: row.id, sequence: before + sealed + i + 1, hash };
      });
      const moved = await moveEntries(tx, tenant, links);
      if (moved !== slice.length)
        throw new Error(`${moved} of ${slice.length} entries of ${tenant} were there to be sealed`);
    }
    const seal = { tenant, first: before + 1, last: before + rows.length, time: new Date(clock.now()).toISOString() };
    const key = await nonRotatingKey(encrypter, tx, tenant, 'checkpoint');
    const signed = await signCheckpoint(key, { ...seal, hash });
    await insertCheckpoint(tx, { ...seal, hash, signed });
    await tellOfEntries(tx, tenant, seal);
    return { entries: rows.length, checkpoint: signed };
  });
  if (sealed === undefined) return 0;
  services.eventHints?.committed();
  observe({ kind: 'ledger_sealed', tenant, ...sealed });
  return sealed.entries;
}

/**
 * Seals until nothing waits, or until it is to stop: what waits then is sealed by the next one. A tenant whose seal fails keeps its entries for the next time, and the others go on.
 * @returns whether no seal failed
 */
export async function sealWaiting(services: SealServices, stopping?: AbortSignal): Promise<boolean> {
  let ok = true;
  for (const { tenant, erased } of await services.database.system(tenantsToSeal)) {
    if (stopping?.aborted) break;
    try {
      if (erased) await services.database.system((tx) => removeStray(tx, tenant));
      else while ((await sealTenant(services, tenant)) === limits.ledgerSealEntriesMax && !stopping?.aborted);
    } catch (error) {
      ok = false;
      services.observe({ kind: 'background_failed', task: `sealing the ledger of ${tenant}`, error });
    }
  }
  return ok;
}

/** Seals what waits again and again. */
export function sealing(services: SealServices): Task {
  return {
    name: 'sealing ledgers',
    everyMs: PAUSE_MS,
    retryMs: RETRY_MS,
    run: async (stopping) => ((await sealWaiting(services, stopping)) ? PAUSE_MS : RETRY_MS),
  };
}
