/** What a statement's code is made with: the table of constants, the functions, the locals of its function, and the ways out of its block. */
import { limits } from '../../core/limits.ts';
import type { PlanBuiltin } from './builtins/table.ts';
import { type Code, js } from './code.ts';
import { type Operand, type Statement, UnsupportedPlan } from './source.ts';

/** A function of the plan. */
export type Callee = {
  /** Its number, and that of its result in Machine.memo. */
  readonly index: number;
  readonly params: number;
};

/** What programs find at `k0`, `k1`…: all that came from the policy, and the builtins that it calls. */
export class Constants {
  readonly values: unknown[] = [];
  readonly #names = new Map<string, Code>();

  /** A new name for the value. */
  add(value: unknown): Code {
    return js`k${this.values.push(value) - 1}`;
  }

  /** The one name of what has a text for its key. */
  name(key: string, value: unknown): Code {
    const known = this.#names.get(key) ?? this.add(value);
    this.#names.set(key, known);
    return known;
  }
}

export type Outer = {
  readonly strings: readonly string[];
  readonly files: readonly string[];
  readonly functions: ReadonlyMap<string, Callee>;
  /** The number of the function by the path that a dynamic call looks up. */
  readonly paths: ReadonlyMap<string, number>;
  readonly constants: Constants;
  builtin(name: string): PlanBuiltin;
  /** Labels and helpers' variables so far: each has a number of its own. */
  names: number;
  /** Of programs that are traced (../trace): what is noted of each statement. */
  readonly notes?: Notes;
};

/** The code that notes, in a traced program, what becomes of its statements. */
export type Notes = {
  /** Before the statement; `previous` is the one before it in its block. */
  before(one: Statement, previous: Statement | undefined): Code;
  /** Where the statement does not hold. */
  failed(one: Statement, scope: Scope): Code | undefined;
  /** After the statement. */
  after(one: Statement, scope: Scope): Code;
  /** Before the body of the function of that number, and before it returns. */
  enter(index: number): Code;
  leave(index: number): Code;
};

export type Scope = {
  readonly outer: Outer;
  /** Of the function. */
  readonly locals: Set<number>;
  /** What leaves the blocks around the statement, its own last. */
  readonly exits: readonly Code[];
  /** What returns a value from the function; absent where there is no way. */
  readonly returning: ((value: Code) => Code) | undefined;
  /** What notes that the statement does not hold. */
  readonly failed?: Code | undefined;
};

const LOCAL_MAX = 100_000;

/** The name of a local. Throws UnsupportedPlan when it is not a number of one. */
export function local(scope: Scope, number: number): Code {
  if (!Number.isInteger(number) || number < 0 || number > LOCAL_MAX)
    throw new UnsupportedPlan('a local without a number');
  scope.locals.add(number);
  return js`l${number}`;
}

/** An operand's value: a local, a constant, true or false. Throws UnsupportedPlan for a string that the plan does not have. */
export function value(scope: Scope, operand: Operand): Code {
  if (typeof operand === 'number') return local(scope, operand);
  if (typeof operand === 'boolean') return operand ? js`true` : js`false`;
  const constant = text(scope, operand[0]);
  return scope.outer.constants.name(`string ${constant}`, constant);
}

/** A string of the plan. */
export function text(scope: Scope, number: number): string {
  const found = scope.outer.strings[number];
  if (typeof found !== 'string') throw new UnsupportedPlan('a string that the plan does not have');
  if (!found.isWellFormed()) throw new UnsupportedPlan('a string is not well-formed');
  return found;
}

/** A place in a file, for messages, as three arguments. */
export function place(scope: Scope, file: number, row: number, column: number): Code {
  return js`${scope.outer.constants.name('files', scope.outer.files)}[${file}],${row},${column}`;
}

/** What leaves the statement's own block (0: what undefined does) or as many more. */
export function exit(scope: Scope, levels = 0): Code {
  const code = scope.exits.at(-1 - levels);
  if (!Number.isInteger(levels) || levels < 0 || code === undefined) throw new UnsupportedPlan('a way out of no block');
  return scope.failed === undefined ? code : js`{${scope.failed}${code}}`;
}

/** A number that nothing else in the program has. */
export function fresh({ outer }: Scope): number {
  return ++outer.names;
}

/** The scope inside of one or more blocks more. Throws UnsupportedPlan past limits.planNestingMax. */
export function inside(scope: Scope, ...exits: readonly Code[]): Scope {
  if (scope.exits.length + exits.length > limits.planNestingMax) throw new UnsupportedPlan('blocks nested too deeply');
  return { ...scope, exits: [...scope.exits, ...exits], failed: undefined };
}
