/** Programs that tell how their evaluation went: the same program as of an untraced plan, with notes between its statements. */
import { limits } from '../../core/limits.ts';
import { type Code, joined, js } from '../plan/code.ts';
import { runOn } from '../plan/evaluate.ts';
import { type PlanProgram, programFor, unsupported } from '../plan/program.ts';
import { local, type Notes, type Scope } from '../plan/scope.ts';
import { readPlan, type Statement } from '../plan/source.ts';
import type { JsonObject } from '../plan/values.ts';
import { IndexedPlan } from './index-plan.ts';
import { type Names, namesIn } from './names.ts';
import { callsOf, operandsOf } from './operands.ts';
import { Recorder, TracingMachine, tracing, type Watched } from './recorder.ts';

export type TracedProgram = {
  readonly program: PlanProgram;
  readonly index: IndexedPlan;
  readonly watched: readonly Watched[];
  /** What the values that are noted of a failed statement stand for. */
  readonly operands: readonly (readonly number[])[];
  readonly names: (of: number, definition: number) => Names | undefined;
};

type TracedEvaluation = { result: unknown; fuelUsed: number; recorder: Recorder };

/**
 * Makes the traced program of a plan that was compiled with places.
 * @throws UnsupportedPlan when the plan has what is not done exactly here
 */
export function loadTraced(text: string): TracedProgram {
  try {
    const index = new IndexedPlan(readPlan(text));
    const names = index.plan.functions.map((one, of) =>
      (index.definitions[of] ?? []).map(({ statements }) => namesIn(statements, one, index)),
    );
    const namesOf = (of: number, definition: number) => names[of]?.[definition];
    const operands: number[][] = [];
    const watched: Watched[] = [];
    for (const { statement, of, definition, rank } of index.numbered) {
      const own = namesOf(of, definition);
      operands.push(own ? operandsOf(statement, own) : []);
      watched.push({ rank, definition, calls: own ? callsOf(statement, own, index.functions) : [] });
    }
    const program = programFor(index.plan, { notes: notesOf(index, operands), functions: tracing });
    return { program, index, watched, operands, names: namesOf };
  } catch (error) {
    throw unsupported(error);
  }
}

const NO_DATA: JsonObject = {};

/**
 * Evaluates a plan and tells how it went. It takes the fuel that an untraced evaluation takes.
 * @throws PolicyError as an untraced evaluation does; PlanBailout when the Wasm has to do this one
 */
export function evaluateTraced(
  { program, watched }: TracedProgram,
  input: unknown,
  { now, fuel = limits.evaluateFuel, data = NO_DATA }: { now: bigint; fuel?: number; data?: JsonObject },
): TracedEvaluation {
  const recorder = new Recorder(watched);
  const machine = new TracingMachine(fuel, now, program.memo.slice(), recorder);
  const { resultSet, fuelUsed } = runOn(machine, program, input, data);
  return { result: resultSet[0]?.result, fuelUsed, recorder };
}

/** What begins a definition and what passes results on are no conditions. */
/** Whether it is noted that it is reached, where it stands somewhere. */
export const isNoted = (one: Statement): boolean => !silent.has(one[0]);

const silent = new Set<Statement[0]>(['reset', 'nop', 'isUndefined', 'isDefined', 'null', 'set', 'array', 'object']);

function notesOf(index: IndexedPlan, operands: readonly (readonly number[])[]): Notes {
  const gives = new Set(index.definitions.flat().map(({ gives: one }) => one));
  const reachedCode = (one: Statement, previous: Statement | undefined): Code => {
    const { place } = index.of(one);
    if (place.row === 0 || silent.has(one[0]) || gives.has(one)) return js``;
    const known = previous && !silent.has(previous[0]) ? index.of(previous).place : undefined;
    return known?.row === place.row && known.col === place.col ? js`` : js`reached(m,${index.number(one)});`;
  };
  return {
    before: (one, previous) => {
      const loop = index.begins.get(one);
      return js`${loop === undefined ? js`` : js`item(m,${loop});`}${reachedCode(one, previous)}`;
    },
    failed: (one, scope) => {
      if (one[0] === 'break' && one[1] > 0) return undefined;
      const loop = index.satisfied.get(one);
      return loop === undefined ? failedCode(index.number(one), operands, scope) : js`satisfied(m,${loop});`;
    },
    after: (one, scope) => {
      if (!gives.has(one)) return js``;
      const number = index.number(one);
      const value = one[0] === 'assignOnce' ? js`,${local(scope, one[2])}` : js``;
      const items = index.itemsAround(one).map((item) => js`,${local(scope, item)}`);
      const heldFor = items.length === 0 ? js`` : js`heldFor(m,${number}${joined(items)});`;
      return js`reached(m,${number});held(m,${number}${value});${heldFor}`;
    },
    enter: (of) => js`const from=enter(m,${of});`,
    leave: (of) => js`leave(m,${of},from);`,
  };
}

function failedCode(number: number, operands: readonly (readonly number[])[], scope: Scope): Code {
  const values = joined((operands[number] ?? []).map((one) => js`,${local(scope, one)}`));
  return js`failed(m,${number}${values});`;
}
