/** Owns calls: of the plan's own functions, of builtins, and of a rule whose path is computed. */
import { type Frame, LEAVE, NEXT, RETURN, type Run } from './flow.ts';
import { exhausted, Inexact, type Machine, UNKNOWN } from './machine.ts';
import { type Read, reader } from './operands.ts';
import { type Callee, local, type Scope, source } from './scope.ts';
import type { Statement } from './source.ts';
import type { PlanValue } from './values.ts';

type Call = Extract<Statement, ['call', ...unknown[]]>;

export function callFunction([, name, operands, to]: Call, scope: Scope): Run {
  const callee = scope.functions.get(name) as Callee;
  const [args, target] = [operands.map((operand) => source(scope, operand)), local(scope, to)];
  const [input, data] = args;
  if (callee.params.length === 2 && input?.local !== undefined && data?.local !== undefined)
    return callRule(callee, input.local, data.local, target);
  const reads = args.map(reader);
  return (machine, frame) => {
    const result = invoke(machine, callee, reads, frame);
    frame[target] = result;
    return result === undefined ? LEAVE : NEXT;
  };
}

/** A function of the documents alone is a rule: it is evaluated once. */
function callRule(callee: Callee, input: number, data: number, target: number): Run {
  const { index } = callee;
  return (machine, frame) => {
    const known = machine.memo[index];
    const result = known === UNKNOWN ? evaluateRule(machine, callee, frame, frame[input], frame[data]) : known;
    frame[target] = result as PlanValue | undefined;
    return result === undefined ? LEAVE : NEXT;
  };
}

function evaluateRule(
  machine: Machine,
  callee: Callee,
  frame: Frame,
  input: PlanValue | undefined,
  data: PlanValue | undefined,
): PlanValue | undefined {
  enter(machine, callee, frame);
  frame[callee.params[0] as number] = input;
  frame[callee.params[1] as number] = data;
  const result = run(machine, callee, frame);
  machine.memo[callee.index] = result;
  return result;
}

function invoke(machine: Machine, callee: Callee, reads: readonly Read[], frame: Frame): PlanValue | undefined {
  enter(machine, callee, frame);
  for (let i = 0; i < reads.length; i++) frame[callee.params[i] as number] = (reads[i] as Read)(frame);
  return run(machine, callee, frame);
}

/** Empties the function's locals. Throws Inexact when it is running: they are there but once. */
function enter(machine: Machine, callee: Callee, frame: Frame): void {
  if (callee.within === machine.number) throw new Inexact('a rule within itself');
  callee.within = machine.number;
  machine.fuel -= 1 + ((callee.to - callee.from) >> 4);
  if (machine.fuel < 0) exhausted();
  for (let i = callee.from; i < callee.to; i++) frame[i] = undefined;
}

function run(machine: Machine, callee: Callee, frame: Frame): PlanValue | undefined {
  const { blocks } = callee;
  let i = 0;
  while (i < blocks.length && (blocks[i] as Run)(machine, frame) !== RETURN) i++;
  const result = i < blocks.length ? machine.returned : frame[callee.result];
  callee.within = 0;
  return result;
}

export function callBuiltin([, name, operands, to]: Call, scope: Scope): Run {
  const [builtin, target] = [scope.builtin(name), local(scope, to)];
  const reads = operands.map((operand) => reader(source(scope, operand)));
  const [first, second, third] = reads;
  if (first !== undefined && second === undefined) {
    return (machine, frame) => given(frame, target, builtin(machine, first(frame) as PlanValue));
  }
  if (first !== undefined && second !== undefined && third === undefined) {
    return (machine, frame) =>
      given(frame, target, builtin(machine, first(frame) as PlanValue, second(frame) as PlanValue));
  }
  return (machine, frame) => given(frame, target, builtin(machine, ...reads.map((read) => read(frame) as PlanValue)));
}

function given(frame: Frame, target: number, result: PlanValue | undefined): number {
  frame[target] = result;
  return result === undefined ? LEAVE : NEXT;
}

/** Its rule found but undefined, it leaves the three blocks that the planner put around it (rule, data, result). */
export function callDynamic(one: Extract<Statement, ['dynamic', ...unknown[]]>, scope: Scope): Run {
  const path = one[1].map((operand) => reader(source(scope, operand)));
  const [input, data] = [local(scope, one[2][0] as number), local(scope, one[2][1] as number)];
  const target = local(scope, one[3]);
  const { paths } = scope;
  return (machine, frame) => {
    const names = path.map((read) => read(frame));
    if (!names.every((name) => typeof name === 'string')) return LEAVE;
    const text = JSON.stringify(names);
    machine.charge(text.length / 16);
    const callee = paths.get(text);
    if (callee === undefined) return LEAVE;
    const known = machine.memo[callee.index];
    const result = known === UNKNOWN ? evaluateRule(machine, callee, frame, frame[input], frame[data]) : known;
    frame[target] = result as PlanValue | undefined;
    return result === undefined ? 3 : NEXT;
  };
}
