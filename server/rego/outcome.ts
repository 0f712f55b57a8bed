/** Whether a compiled policy can say an outcome at all: found in its plan, without running it. */
import { partsOf } from './plan/parts.ts';
import {
  type Block,
  type Operand,
  type PlanFunction,
  type PlanSource,
  readPlan,
  UnsupportedPlan,
} from './plan/source.ts';
import type { Compiled } from './schema.ts';

/** Where the compiler's own module reads the policy's rule; it is there exactly when the package has such a rule. */
export const OUTCOME = ['g0', 'accord answer', 'answer', 'outcome'].join('/');
/** Whether no evaluation of a policy can allow: where nobody can tell, one may. An object may mean that, too. */
export function neverAllows({ plan: text }: Pick<Compiled, 'plan'>): boolean {
  return text !== undefined && noneOf(['allow'], text) !== undefined;
}

/**
 * Why no evaluation of a policy can give an outcome; undefined for one that may give one, and where nobody can tell.
 * missing: its package has no rule called `outcome`. never: the rule never holds, or each of its values is a constant that
 * is no outcome. A value that is computed may be an outcome.
 */
export function noOutcome({ plan: text }: Pick<Compiled, 'plan'>): 'missing' | 'never' | undefined {
  return text === undefined ? undefined : noneOf(['allow', 'deny'], text);
}

function noneOf(outcomes: readonly string[], text: string): 'missing' | 'never' | undefined {
  try {
    const plan = readPlan(text);
    const answer = plan.functions.find(({ path }) => path.join('/') === OUTCOME);
    if (answer === undefined) return 'missing';
    const rule = ruleBehind(answer, plan);
    return rule === undefined || mayBeOutcome(rule, plan, outcomes) ? undefined : 'never';
  } catch (error) {
    if (error instanceof UnsupportedPlan || error instanceof RangeError) return undefined;
    throw error;
  }
}

type Statements = readonly Block[number][];

/** The one function whose value the answer is; a rule of several parts (`outcome.x := 1`) has more, and makes an object. */
function ruleBehind(answer: PlanFunction, { functions }: PlanSource): PlanFunction | undefined {
  const statements = reachable(answer.blocks);
  if (statements.some(([kind]) => kind === 'object' || kind === 'block')) return undefined;
  const [called, ...others] = statements.flatMap((one) => (one[0] === 'call' ? [one[1]] : []));
  return others.length > 0 ? undefined : functions.find(({ name }) => name === called);
}

/** All statements of blocks, those inside too, without those that come after a `break`: `if false` is one. */
function reachable(blocks: readonly Block[]): Statements {
  return blocks.flatMap((block) => {
    const end = block.findIndex(([kind]) => kind === 'break');
    const run = end < 0 ? block : block.slice(0, end);
    return run.flatMap((one) => [one, ...reachable(partsOf(one).blocks)]);
  });
}

function mayBeOutcome(rule: PlanFunction, { strings }: PlanSource, outcomes: readonly string[]): boolean {
  const statements = reachable(rule.blocks);
  const seen = new Set<number>();
  const mayBe = (operand: Operand): boolean => {
    if (typeof operand === 'boolean') return false;
    if (typeof operand === 'object') return outcomes.includes(strings[operand[0]] as string);
    if (rule.params.includes(operand)) return true;
    if (seen.has(operand)) return false;
    seen.add(operand);
    return statements.some((one) => partsOf(one).writes.includes(operand) && mayMake(one));
  };
  /** Whether what a statement writes may be an outcome. */
  const mayMake = (one: Statements[number]): boolean => {
    switch (one[0]) {
      case 'assign':
      case 'assignOnce':
        return mayBe(one[1]);
      // No value yet, values of other types, and what is put into those.
      case 'reset':
      case 'null':
      case 'integer':
      case 'number':
      case 'array':
      case 'set':
      case 'append':
      case 'add':
        return false;
      default:
        return true;
    }
  };
  return mayBe(rule.return);
}
