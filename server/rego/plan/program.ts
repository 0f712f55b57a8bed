/**
 * A plan as it is run: OPA's IR as one JavaScript function for each of its functions, made of the templates in
 * statements.ts, making.ts, calls.ts and blocks.ts. No text of a tenant becomes code (code.ts): strings of the policy are
 * values in a table, which programs compare and hand on.
 */
import { limits } from '../../core/limits.ts';
import { hostBuiltins } from '../builtins/index.ts';
import { block } from './blocks.ts';
import { nativeBuiltins } from './builtins/index.ts';
import type { PlanBuiltin } from './builtins/table.ts';
import { type Code, joined, js } from './code.ts';
import { hostCall } from './exchange.ts';
import { type Machine, type Memo, UNKNOWN } from './machine.ts';
import { runtime } from './runtime.ts';
import { type Callee, Constants, local, type Notes, type Outer, type Scope } from './scope.ts';
import { type Block, type PlanFunction, type PlanSource, readPlan, UnsupportedPlan } from './source.ts';
import type { PlanValue } from './values.ts';

export type PlanProgram = {
  /** Leaves its bindings in Machine.results. */
  readonly run: (machine: Machine, input: PlanValue | undefined, data: PlanValue) => void;
  readonly memo: Memo;
};

/**
 * Makes the program of a plan.
 * @throws UnsupportedPlan when the plan has what is not done exactly here
 */
export function loadPlan(text: string): PlanProgram {
  try {
    return programFor(readPlan(text));
  } catch (error) {
    throw unsupported(error);
  }
}

/** Why a plan has no program. */
export function unsupported(error: unknown): unknown {
  if (error instanceof RangeError) return new UnsupportedPlan('the plan is nested too deeply', { cause: error });
  // More arguments or locals than V8 takes.
  if (error instanceof SyntaxError)
    return new UnsupportedPlan('the program is not one that V8 takes', { cause: error });
  if (error instanceof EvalError)
    return new UnsupportedPlan('Node was told to make no code from text', { cause: error });
  return error;
}

/** @param traced what is noted of its statements, and the functions that note it */
export function programFor(plan: PlanSource, traced?: { notes: Notes; functions: object }): PlanProgram {
  const { code, constants } = generateProgram(plan, traced?.notes);
  const names = traced === undefined ? runtime : { ...runtime, ...traced.functions };
  return { run: compiled(code, constants, names), memo: plan.functions.map(() => UNKNOWN) };
}

/** The program's text, and what it names by number. */
export function generateProgram(plan: PlanSource, notes?: Notes): { code: Code; constants: readonly unknown[] } {
  const callees = plan.functions.map(({ name, params }, index): [string, Callee] => [
    name,
    { index, params: params.length },
  ]);
  const paths = new Map(plan.functions.map(({ path }, index) => [JSON.stringify(path), index]));
  const { strings, files } = plan;
  const constants = new Constants();
  const outer: Outer = {
    ...{ strings, files, functions: new Map(callees), paths, constants, builtin, names: 0 },
    ...(notes ? { notes } : {}),
  };
  const functions = plan.functions.map((one, index) => functionOf(one, index, outer));
  const main = mainOf(plan.plans[0] as readonly Block[], outer);
  const all = joined(callees.map((_, index) => js`f${index},`));
  const names = joined(constants.values.map((_, index) => js`k${index},`));
  const code = js`"use strict";\nconst [${names}]=constants;\n${joined(functions)}const functions=[${all}];\n${main}`;
  if (code.text.length > limits.planProgramCharsMax) throw new UnsupportedPlan('the program is too long');
  return { code, constants: constants.values };
}

function compiled(code: Code, constants: readonly unknown[], names: object): PlanProgram['run'] {
  const make = new Function('constants', ...Object.keys(names), code.text);
  return make(constants, ...Object.values(names));
}

function functionOf({ blocks, params }: PlanFunction, index: number, outer: Outer): Code {
  // Every function ends in a block that returns its result.
  const last = blocks.at(-1);
  if (last?.length !== 1 || last[0]?.[0] !== 'return')
    throw new UnsupportedPlan('a function that does not end in its result');
  const [enter, leave] = [outer.notes?.enter(index) ?? js``, outer.notes?.leave(index) ?? js``];
  const scope: Scope = { outer, locals: new Set(), exits: [], returning: (value) => js`${leave}return ${value};` };
  const names = joined(params.map((number) => js`,${local(scope, number)}`));
  const given = new Set(scope.locals);
  if (given.size !== params.length) throw new UnsupportedPlan('a parameter twice');
  const result = local(scope, last[0][1]);
  const body = bodyOf(blocks.slice(0, -1), scope, given);
  return js`var f${index}=(function(m${names}){${enter}${body}${leave}return ${result};});\n`;
}

function mainOf(blocks: readonly Block[], outer: Outer): Code {
  const scope: Scope = { outer, locals: new Set(), exits: [], returning: undefined };
  const documents = [local(scope, 0), local(scope, 1)] as const;
  const body = bodyOf(blocks, scope, new Set(scope.locals));
  return js`return (function(m,${documents[0]},${documents[1]}){${body}});\n`;
}

/** Fuel for the call, its locals, and a unit for each statement of its outermost blocks, all taken beforehand. */
function bodyOf(blocks: readonly Block[], scope: Scope, given: ReadonlySet<number>): Code {
  const code = joined(blocks.map((one) => block(one, scope)));
  const own = [...scope.locals].filter((number) => !given.has(number));
  const locals = own.length === 0 ? js`` : js`let l${own[0] as number}${joined(own.slice(1).map((n) => js`,l${n}`))};`;
  const statements = blocks.reduce((sum, { length }) => sum + length, 0);
  return js`if((m.fuel-=${1 + (scope.locals.size >> 4) + statements})<0)exhausted();${locals}\n${code}`;
}

function builtin(name: string): PlanBuiltin {
  const native = nativeBuiltins.get(name);
  if (native !== undefined) return native;
  const supplied = hostBuiltins.get(name);
  if (supplied === undefined) throw new UnsupportedPlan(`${name} is not done here`);
  return hostCall(supplied);
}
