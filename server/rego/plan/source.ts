/**
 * The plan's text: JSON of compiler/plan/encode.go. It comes from our compiler, through our database; what has
 * another shape than that is refused, so that nothing is run by a guess.
 */

/** A local's number, a constant, or the number of a constant string. */
export type Operand = number | boolean | [string: number];
export type Block = readonly Statement[];

/** Kind first; see statements.ts for what each does. */
export type Statement =
  | ['result' | 'return' | 'null' | 'array' | 'object' | 'set' | 'reset' | 'isDefined' | 'isUndefined', number]
  | ['block', readonly Block[]]
  | ['break', number]
  | ['call', string, Operand[], number, row?: number]
  | ['dynamic', Operand[], number[], number]
  | ['with', number, number[], Operand, Block]
  | ['scan', number, number, number, Block, row?: number]
  | ['not', Block]
  | ['nop']
  | ['assign' | 'len' | 'append' | 'add', Operand, number]
  | ['assignOnce', Operand, number, number, number, number]
  | ['dot' | 'insert', Operand, Operand, number]
  | ['equal' | 'notEqual', Operand, Operand]
  | ['isArray' | 'isObject' | 'isSet', Operand]
  | ['integer' | 'number', number, number]
  | ['insertOnce', Operand, Operand, number, number, number, number]
  | ['merge', number, number, number];

/** The file name that the compiler gives to the policy's own source. */
export const OWN_FILE = 'policy.rego';

export type PlanFunction = {
  readonly name: string;
  readonly path: readonly string[];
  readonly params: readonly number[];
  readonly return: number;
  readonly blocks: readonly Block[];
};

export type PlanSource = {
  readonly strings: readonly string[];
  readonly files: readonly string[];
  readonly builtins: readonly string[];
  readonly functions: readonly PlanFunction[];
  readonly plans: readonly (readonly Block[])[];
  /** File, row and column of each statement in the order of the text; only of plans that are traced. */
  readonly places?: readonly number[];
};

/** Why a plan is not run here: its Wasm is. */
export class UnsupportedPlan extends Error {}

/** Throws UnsupportedPlan when the text is not a plan. */
export function readPlan(text: string): PlanSource {
  let plan: Partial<PlanSource>;
  try {
    plan = JSON.parse(text) as Partial<PlanSource>;
  } catch {
    throw new UnsupportedPlan('the plan is not JSON');
  }
  const { strings, files, builtins, functions, plans, places } = plan;
  if (!strings || !files || !builtins || !functions || plans?.length !== 1)
    throw new UnsupportedPlan('this is not a plan');
  return { strings, files, builtins, functions, plans, ...(places === undefined ? {} : { places }) };
}
