/** Repeats a transaction that Postgres ended for the sake of another one. */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../core/limits.ts';

/** serialization_failure and deadlock_detected: nothing was written, and the same may succeed when it is done again. */
const CONFLICTS: ReadonlySet<unknown> = new Set(['40001', '40P01']);

export function isConflict(error: unknown): boolean {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  return CONFLICTS.has(code) || CONFLICTS.has(cause?.code);
}

/** Two that met each other do not meet again at once. @param random 0 to 1 */
export function pauseMs(made: number, random: number): number {
  return random * Math.min(limits.writeRetryMsMax, 10 * 2 ** made);
}

/** @param attempt may be made several times, at most limits.writeAttemptsMax. @throws what the last attempt threw */
export async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  for (let made = 1; ; made++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error) || made >= limits.writeAttemptsMax) throw error;
      await sleep(pauseMs(made, Math.random()));
    }
  }
}
