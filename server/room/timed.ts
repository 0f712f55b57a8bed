/**
 * What time brings: events of an instant that was reached, such as an expiry. What was told is marked on the row in the
 * transaction that emits the event, so it is told once, whoever is killed and whatever the clock does; rows that are still to
 * be told have indexes by instant and by tenant (core/db/due.ts), so nothing else is read. A mark holds the instant that was told: one that is
 * moved later is told when it comes, and what is gone or no longer holds is not told.
 */
import type { Clock } from '../core/clock.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import type { Observe } from '../core/observe.ts';
import type { Task } from './tasks.ts';

export type Timed = {
  /** What is told of, in words: for the log. */
  name: string;
  /** Active tenants in which something is due at the instant (RFC 3339), in a system transaction. */
  tenantsDue(tx: Transaction, now: string): Promise<string[]>;
  /**
   * Tells some of it, in a transaction of its own.
   * @returns whether there may be more
   */
  tellSome(tenant: string): Promise<boolean>;
};

/** Who asked for what time brings: the requestor of its events. */
export const byTime = 'accord';

const EVERY_MS = 1000;

/**
 * Looks each second, on every server: one that finds another at work in a tenant leaves it alone (takeTurn). Tenants take
 * turns, and one that fails does not hold up the others.
 */
export function timedTask(
  { database, clock, observe }: { database: Database; clock: Clock; observe: Observe },
  { name, tenantsDue, tellSome }: Timed,
): Task {
  return {
    name: `telling of ${name}`,
    everyMs: EVERY_MS,
    async run(signal) {
      const now = new Date(clock.now()).toISOString();
      let due = await database.system((tx) => tenantsDue(tx, now));
      while (due.length > 0 && !signal.aborted) {
        const more: string[] = [];
        for (const tenant of due) {
          if (signal.aborted) break;
          try {
            if (await tellSome(tenant)) more.push(tenant);
          } catch (error) {
            observe({ kind: 'background_failed', task: `telling of ${name} in ${tenant}`, error });
          }
        }
        due = more;
      }
      return undefined;
    },
  };
}
