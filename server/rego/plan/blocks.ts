/** Owns the statements that have blocks inside: nested blocks, iteration, negation, `with`. */
import { LEAVE, NEXT, outward, RETURN, type Run, sequence } from './flow.ts';
import { exhausted, Inexact, type Machine, UNKNOWN } from './machine.ts';
import { type Read, reader } from './operands.ts';
import { orderedEntries, orderedNames } from './order.ts';
import { local, type Scope, source } from './scope.ts';
import type { Block, Statement } from './source.ts';
import { statement } from './statements.ts';
import { isObject, type JsonObject, PlanObject, PlanSet, type PlanValue } from './values.ts';

/** A block's statements in sequence. */
export function block(statements: Block, scope: Scope): Run {
  return sequence(statements.map((one) => nesting(one, scope) ?? statement(one, scope)));
}

function nesting(one: Statement, scope: Scope): Run | undefined {
  switch (one[0]) {
    case 'block':
      return oneAfterAnother(one[1].map((inner) => block(inner, scope)));
    case 'not':
      return negated(block(one[1], scope));
    case 'scan':
      return scan(local(scope, one[1]), local(scope, one[2]), local(scope, one[3]), block(one[4], scope));
    case 'with':
      return withValue(one, scope);
    default:
      return undefined;
  }
}

function oneAfterAnother(blocks: readonly Run[]): Run {
  return (machine, frame) => {
    for (const run of blocks) {
      const signal = run(machine, frame);
      if (signal > LEAVE) return outward(signal);
    }
    return NEXT;
  };
}

/** Undefined when the block is run to its end. */
function negated(run: Run): Run {
  return (machine, frame) => {
    const signal = run(machine, frame);
    return signal === NEXT ? LEAVE : outward(signal);
  };
}

/** Within an iteration, leaving the block goes on with the next item, and leaving one more ends the iteration. */
function scan(from: number, key: number, value: number, run: Run): Run {
  return (machine, frame) => {
    const container = frame[from];
    frame[key] = undefined;
    if (typeof container !== 'object' || container === null) return NEXT;
    const keyed = container instanceof PlanObject || container instanceof PlanSet;
    const entries = keyed ? orderedEntries(machine, container) : undefined;
    const names = keyed || Array.isArray(container) ? undefined : orderedNames(machine, container as JsonObject);
    const list = entries ?? names ?? (container as readonly PlanValue[]);
    for (let i = 0; i < list.length; i++) {
      machine.fuel--;
      if (machine.fuel < 0) exhausted();
      if (entries !== undefined) {
        const entry = entries[i] as (typeof entries)[0];
        frame[key] = entry.key;
        frame[value] = entry.value;
      } else if (names !== undefined) {
        const name = names[i] as string;
        frame[key] = name;
        frame[value] = (container as JsonObject)[name] as PlanValue;
      } else {
        frame[key] = i;
        frame[value] = list[i] as PlanValue;
      }
      const signal = run(machine, frame);
      if (signal > LEAVE) return signal === RETURN ? RETURN : signal - 2;
    }
    frame[key] = undefined;
    return NEXT;
  };
}

/** Inside, rules see the document with the value in it, so what was found of them before does not count. */
function withValue(one: Extract<Statement, ['with', ...unknown[]]>, scope: Scope): Run {
  const document = local(scope, one[1]);
  const path = one[2].map((index) => source(scope, [index]).constant as string);
  const read = reader(source(scope, one[3]));
  const run = block(one[4], scope);
  return (machine, frame) => {
    const [saved, memo] = [frame[document], machine.memo];
    machine.charge(memo.length / 8);
    machine.memo = memo.map(() => UNKNOWN);
    frame[document] = path.length === 0 ? read(frame) : upserted(machine, saved, path, read, frame);
    const signal = run(machine, frame);
    frame[document] = saved;
    machine.memo = memo;
    if (signal > LEAVE) throw new Inexact('a way out of `with`');
    return signal;
  };
}

/** A copy of the document, as deep as the path goes, with the value at its end. */
function upserted(
  machine: Machine,
  document: PlanValue | undefined,
  path: readonly string[],
  read: Read,
  frame: (PlanValue | undefined)[],
): PlanValue {
  if (document !== undefined && !isObject(document)) throw new Inexact('`with` inside what is no object');
  const root = copied(machine, document);
  let at = root;
  for (const name of path.slice(0, -1)) {
    const next = at.get(machine, name);
    const inner = copied(machine, isObject(next) ? next : undefined);
    at.insert(machine, name, inner);
    at = inner;
  }
  const value = read(frame);
  if (value === undefined) throw new Inexact('`with` an undefined value');
  at.insert(machine, path.at(-1) as string, value);
  return root;
}

function copied(machine: Machine, object: JsonObject | PlanObject | undefined): PlanObject {
  if (object instanceof PlanObject) return object.copy(machine);
  const copy = new PlanObject();
  if (object !== undefined)
    for (const name of Object.keys(object)) copy.insert(machine, name, object[name] as PlanValue);
  return copy;
}
