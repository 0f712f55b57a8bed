/** Writes that are prepared before the lock is taken: what others changed meanwhile begins them anew. */
import { limits } from '../core/limits.ts';
import { policyProblem } from './problems.ts';

/** Something is not as it was when the write was prepared. */
export class Moved extends Error {}

/** @param attempt may be made several times. @throws Problem policy_parts_changing; what the attempt throws */
export async function unlessMoved<T>(attempt: () => Promise<T>): Promise<T> {
  for (let made = 1; ; made++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Moved)) throw error;
      if (made >= limits.policyPartAttemptsMax) throw policyProblem('policy_parts_changing');
    }
  }
}
