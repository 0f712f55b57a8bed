/** Retries a transaction that Postgres ended because of a deadlock or a serialization failure. */
import { setTimeout as sleep } from 'node:timers/promises';
import { delayMsAfter } from '../core/backoff.ts';
import { isConflict } from '../core/db/errors.ts';
import { limits } from '../core/limits.ts';

const FIRST_RETRY_MS = 20;

/** Anything up to the delay: two that met each other do not meet again at once. @param random 0 to 1 */
export function pauseMs(made: number, random: number): number {
  return random * delayMsAfter(made, { minMs: FIRST_RETRY_MS, maxMs: limits.writeRetryMsMax });
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
