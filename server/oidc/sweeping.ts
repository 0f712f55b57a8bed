/** Removes what has expired: each server some of it, so that the table stays as small as what lives. */
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import type { Task } from '../room/tasks.ts';
import { removeExpired } from './store.ts';

export function sweeping({ database, clock }: { database: Database; clock: Clock }): Task {
  return {
    name: 'removing expired records of authorization servers',
    everyMs: limits.oidcSweepMs,
    firstMs: limits.oidcSweepMs,
    async run(signal) {
      let removed: number = limits.oidcSweepItemsMax;
      while (removed === limits.oidcSweepItemsMax && !signal.aborted) {
        const now = new Date(clock.now()).toISOString();
        removed = await database.system((tx) => removeExpired(tx, now, limits.oidcSweepItemsMax));
      }
      return undefined;
    },
  };
}
