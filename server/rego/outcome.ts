/** Owns whether a compiled policy can say an outcome at all. */
import type { Compiled } from './schema.ts';

/** Where the compiler's own module reads the policy's rule; it is there exactly when the package has such a rule. */
const OUTCOME = ['g0', 'accord answer', 'answer', 'outcome'].join('/');

/** Whether the package has a rule called `outcome`; undefined where the policy has no plan to tell from. */
export function definesOutcome({ plan }: Pick<Compiled, 'plan'>): boolean | undefined {
  if (plan === undefined) return undefined;
  const { functions } = JSON.parse(plan) as { functions: { path: string[] }[] };
  return functions.some(({ path }) => path.join('/') === OUTCOME);
}
