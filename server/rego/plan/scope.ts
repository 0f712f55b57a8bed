/** Owns what a statement is made with: the plan's constants, its functions, and the count of locals of the function it is in. */
import type { PlanBuiltin } from './builtins/table.ts';
import type { Run } from './flow.ts';
import { constantOf, type Source } from './operands.ts';
import { Declined, type Operand } from './source.ts';

/** A function of the plan; its blocks are filled in once all functions are there to be called. */
export type Callee = {
  readonly name: string;
  /** Its place in Machine.memo. */
  readonly index: number;
  params: readonly number[];
  blocks: readonly Run[];
  /** Where in the frame its locals stand; all numbers of locals here count from the frame's begin. */
  from: number;
  to: number;
  /** The local that it returns at its end. */
  result: number;
  /** The number of the machine that is within it. */
  within: number;
};

export type Scope = {
  readonly strings: readonly string[];
  readonly files: readonly string[];
  readonly functions: ReadonlyMap<string, Callee>;
  /** By the path that a dynamic call looks up. */
  readonly paths: ReadonlyMap<string, Callee>;
  builtin(name: string): PlanBuiltin;
  /** Of the function that is being made: where in the frame its own stand. */
  readonly locals: { readonly from: number; to: number };
};

/** Where in the frame the local stands. Throws Declined when it is not a number of one. */
export function local(scope: Scope, number: number): number {
  if (!Number.isInteger(number) || number < 0 || number > 1_000_000) throw new Declined(`local ${number}`);
  const { locals } = scope;
  locals.to = Math.max(locals.to, locals.from + number + 1);
  return locals.from + number;
}

export function source(scope: Scope, operand: Operand): Source {
  if (typeof operand === 'number') return { local: local(scope, operand) };
  return constantOf(operand, scope.strings);
}
