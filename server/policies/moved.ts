/** Writes that are prepared before the lock is taken: what others changed meanwhile begins them anew. */
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problems.ts';
import { policyProblem } from './problems.ts';

/** Something is not as it was when the work on it began. Who does not begin it anew answers policy_parts_changing. */
export class Moved extends Problem {
  constructor() {
    super('policy_parts_changing', policyProblem.catalogue.policy_parts_changing, {});
  }
}

/** @param attempt may be made several times. @throws Problem policy_parts_changing; what the attempt throws */
export async function unlessMoved<T>(attempt: () => Promise<T>): Promise<T> {
  for (let made = 1; ; made++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Moved) || made >= limits.policyPartAttemptsMax) throw error;
    }
  }
}
