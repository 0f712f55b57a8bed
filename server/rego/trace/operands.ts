/** Which values and calls a statement's condition is about: what is shown when it does not hold. */
import { partsOf } from '../plan/parts.ts';
import type { Statement } from '../plan/source.ts';
import { type Names, nameText } from './names.ts';

/** Values that are shown of one condition. */
const SHOWN_MAX = 8;
/** Steps from a value back to the call that made it. */
const STEPS_MAX = 6;

/** Locals whose values tell why a statement does not hold, without constants. */
export function operandsOf(one: Statement, names: Names): number[] {
  const found = new Set<number>();
  const add = (local: number): void => {
    if (names.of(local)?.is !== 'constant' && found.size < SHOWN_MAX) found.add(local);
  };
  const look = (statement: Statement): void => {
    switch (statement[0]) {
      case 'dot':
        add(statement[3]);
        if (typeof statement[2] === 'number') add(statement[2]);
        return;
      case 'not':
        for (const inner of statement[1]) if (tests(inner)) look(inner);
        return;
      case 'call':
        for (const local of argumentsOf(statement)) add(local);
        return;
      case 'scan':
        add(statement[1]);
        return;
      case 'equal':
      case 'notEqual':
        for (const read of statement.slice(1)) if (typeof read === 'number') expand(read, names, add);
        return;
      default:
    }
  };
  look(one);
  return distinctlyNamed([...found], names);
}

/** One local for each name: the planner looks the same path up again for each use. */
function distinctlyNamed(locals: readonly number[], names: Names): number[] {
  return [...new Map(locals.map((local) => [nameText(names.of(local)), local])).values()];
}

/** Whether it is a comparison, or a call by itself, and not a step towards one. */
const tests = ([kind]: Statement): boolean =>
  kind === 'equal' || kind === 'notEqual' || kind === 'scan' || kind === 'not' || kind === 'call';

/** The arguments of the call that made a value; the value itself when none did. */
function expand(local: number, names: Names, add: (local: number) => void): void {
  const call = callBehind(local, names);
  if (call === undefined) add(local);
  else for (const argument of argumentsOf(call)) add(argument);
}

type Call = Extract<Statement, ['call', ...unknown[]]>;

function callBehind(local: number, names: Names): Call | undefined {
  let at = local;
  for (let step = 0; step < STEPS_MAX; step++) {
    const writer = names.writer(at);
    if (writer?.[0] === 'call') return writer;
    if (writer?.[0] !== 'assign' || typeof writer[1] !== 'number') return undefined;
    at = writer[1];
  }
  return undefined;
}

/** Without the documents that each function of the policy is given. */
function argumentsOf([, , operands]: Call): number[] {
  return operands.filter((operand): operand is number => typeof operand === 'number' && operand > 1);
}

/** Functions of the plan that a statement's condition calls, by its own calls and by those that made its operands. */
export function callsOf(one: Statement, names: Names, functions: ReadonlyMap<string, number>): number[] {
  const found = new Set<number>();
  const look = (statement: Statement | undefined, steps: number): void => {
    if (statement === undefined || steps === 0) return;
    if (statement[0] === 'call') {
      const called = functions.get(statement[1]);
      if (called !== undefined) found.add(called);
    }
    const parts = partsOf(statement);
    if (statement[0] === 'not') for (const inner of parts.blocks.flat()) look(inner, steps - 1);
    for (const read of parts.reads) if (typeof read === 'number') look(names.writer(read), steps - 1);
  };
  look(one, STEPS_MAX);
  return [...found];
}
