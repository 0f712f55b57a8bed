/**
 * Owns a plan as it is run: each statement of OPA's IR becomes one JavaScript closure of statements.ts, making.ts, calls.ts
 * or blocks.ts. No text of a tenant becomes code: strings of the policy are only values that closures compare and hand on.
 */
import { hostBuiltins } from '../builtins/index.ts';
import { block } from './blocks.ts';
import { nativeBuiltins } from './builtins/index.ts';
import type { PlanBuiltin } from './builtins/table.ts';
import { hostCall } from './exchange.ts';
import type { Frame, Run } from './flow.ts';
import { type Memo, UNKNOWN } from './machine.ts';
import { type Callee, local, type Scope } from './scope.ts';
import { type Block, Declined, type PlanFunction, type PlanSource, readPlan } from './source.ts';

export type PlanProgram = {
  readonly blocks: readonly Run[];
  /** All locals, before the documents are in the first two. */
  readonly frame: Frame;
  readonly memo: Memo;
};

/**
 * Makes the closures of a plan.
 * @throws Declined when the plan has what is not done exactly here
 */
export function loadPlan(text: string): PlanProgram {
  try {
    return made(readPlan(text));
  } catch (error) {
    if (error instanceof RangeError) throw new Declined('the plan is nested too deeply', { cause: error });
    throw error;
  }
}

function made(plan: PlanSource): PlanProgram {
  const callees = plan.functions.map(({ name }, index) => emptyCallee(name, index));
  const functions = new Map(callees.map((callee) => [callee.name, callee]));
  const paths = new Map(plan.functions.map(({ path }, index) => [JSON.stringify(path), callees[index] as Callee]));
  const outer = { strings: plan.strings, files: plan.files, functions, paths, builtin };
  const entry: Scope = { ...outer, locals: { from: 0, to: 2 } };
  const blocks = (plan.plans[0] as readonly Block[]).map((one) => block(one, entry));
  // Rules are never in a circle, so that each function is run once at a time: all locals have their place in one frame.
  let size = entry.locals.to;
  for (const [index, one] of plan.functions.entries()) {
    const scope: Scope = { ...outer, locals: { from: size, to: size } };
    fill(callees[index] as Callee, one, scope);
    size = scope.locals.to;
  }
  return { blocks, frame: Array.from({ length: size }, () => undefined), memo: callees.map(() => UNKNOWN) };
}

function emptyCallee(name: string, index: number): Callee {
  return { name, index, params: [], result: 0, blocks: [], from: 0, to: 0, within: 0 };
}

function fill(callee: Callee, { blocks, params }: PlanFunction, scope: Scope): void {
  // Every function ends in a block that returns its result, which calls.ts does by itself.
  const last = blocks.at(-1);
  if (last?.length !== 1 || last[0]?.[0] !== 'return') throw new Declined('a function that does not end in its result');
  callee.params = params.map((number) => local(scope, number));
  callee.result = local(scope, last[0][1]);
  callee.blocks = blocks.slice(0, -1).map((one) => block(one, scope));
  callee.from = scope.locals.from;
  callee.to = scope.locals.to;
}

function builtin(name: string): PlanBuiltin {
  const native = nativeBuiltins.get(name);
  if (native !== undefined) return native;
  const supplied = hostBuiltins.get(name);
  if (supplied === undefined) throw new Declined(`${name} is not done here`);
  return hostCall(supplied);
}
