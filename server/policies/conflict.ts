/** Writes that are prepared before the lock is taken: what others changed meanwhile begins them anew. */
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problems.ts';
import { policyProblem } from './problems.ts';

/** What the work read was changed meanwhile. Work that is not begun anew answers policy_parts_changing. */
export class ConflictError extends Problem {
  constructor() {
    super('policy_parts_changing', policyProblem.catalogue.policy_parts_changing, {});
  }
}

/** @param attempt may be made several times. @throws Problem policy_parts_changing; what the attempt throws */
export async function retryOnConflict<T>(attempt: () => Promise<T>): Promise<T> {
  for (let made = 1; ; made++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ConflictError) || made >= limits.policyPartAttemptsMax) throw error;
    }
  }
}
