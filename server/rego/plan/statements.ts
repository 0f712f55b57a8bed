/** Owns the statements without blocks inside: checks, assignments, look-ups, and what ends a block. */
import { PolicyError } from '../budget.ts';
import { callBuiltin, callDynamic, callFunction } from './calls.ts';
import { equal } from './compare.ts';
import { LEAVE, NEXT, RETURN, type Run } from './flow.ts';
import { Inexact, type Machine } from './machine.ts';
import { making } from './making.ts';
import { reader } from './operands.ts';
import { sizeOf } from './order.ts';
import { local, type Scope, source } from './scope.ts';
import type { Statement } from './source.ts';
import { isArray, isJsonObject, isObject, lookUp, PlanObject, PlanSet, type PlanValue } from './values.ts';

export function statement(one: Statement, scope: Scope): Run {
  switch (one[0]) {
    case 'nop':
      return () => NEXT;
    case 'break': {
      const levels = one[1];
      return () => levels;
    }
    case 'result': {
      const from = local(scope, one[1]);
      return (machine, frame) => {
        machine.hold(8);
        machine.results.push(frame[from] as PlanValue);
        return NEXT;
      };
    }
    case 'return': {
      const from = local(scope, one[1]);
      return (machine, frame) => {
        machine.returned = frame[from];
        return RETURN;
      };
    }
    case 'call':
      return scope.functions.has(one[1]) ? callFunction(one, scope) : callBuiltin(one, scope);
    case 'dynamic':
      return callDynamic(one, scope);
    case 'dot':
      return dot(one, scope);
    default:
      return checking(one, scope) ?? assigning(one, scope) ?? making(one, scope);
  }
}

function dot([, from, key, to]: Extract<Statement, ['dot' | 'insert', ...unknown[]]>, scope: Scope): Run {
  const [container, wanted, target] = [source(scope, from), source(scope, key), local(scope, to)];
  const at = container.local;
  if (at === undefined) return () => LEAVE; // neither a string nor a boolean has members
  const name = wanted.constant;
  if (typeof name === 'string') return dotName(at, name, target);
  const read = reader(wanted);
  return (machine, frame) => {
    const index = read(frame);
    const found = index === undefined ? undefined : lookUp(machine, frame[at], index);
    frame[target] = found;
    return found === undefined ? LEAVE : NEXT;
  };
}

/** The usual look-up by far: a constant name in an object of the input. */
function dotName(at: number, name: string, target: number): Run {
  return (machine, frame) => {
    const container = frame[at];
    let found: PlanValue | undefined;
    if (isJsonObject(container)) found = Object.hasOwn(container, name) ? container[name] : undefined;
    else found = lookUp(machine, container, name);
    frame[target] = found;
    return found === undefined ? LEAVE : NEXT;
  };
}

function checking(one: Statement, scope: Scope): Run | undefined {
  switch (one[0]) {
    case 'equal':
    case 'notEqual': {
      const [a, b] = [source(scope, one[1]), source(scope, one[2])];
      return comparison(a, b, one[0] === 'equal');
    }
    case 'isDefined':
    case 'isUndefined': {
      const [from, wanted] = [local(scope, one[1]), one[0] === 'isDefined'];
      return (_machine, frame) => ((frame[from] !== undefined) === wanted ? NEXT : LEAVE);
    }
    case 'isArray':
    case 'isObject':
    case 'isSet': {
      const read = reader(source(scope, one[1]));
      const is = kinds[one[0]];
      return (_machine, frame) => (is(read(frame)) ? NEXT : LEAVE);
    }
    default:
      return undefined;
  }
}

const kinds = {
  isArray,
  isObject,
  isSet: (value: PlanValue | undefined) => value instanceof PlanSet,
};

/** Strings and booleans are compared in place; the rest knows its own way. */
function comparison(a: ReturnType<typeof source>, b: ReturnType<typeof source>, wanted: boolean): Run {
  const [first, second] = a.local === undefined ? [b, a] : [a, b];
  const [at, constant] = [first.local, second.constant];
  if (at !== undefined && constant !== undefined && typeof constant !== 'string')
    return (_machine, frame) => ((frame[at] === constant) === wanted ? NEXT : LEAVE); // a boolean
  const [left, right] = [reader(a), reader(b)];
  return (machine, frame) => (equal(machine, left(frame), right(frame)) === wanted ? NEXT : LEAVE);
}

function assigning(one: Statement, scope: Scope): Run | undefined {
  switch (one[0]) {
    case 'assign': {
      const [read, target] = [reader(source(scope, one[1])), local(scope, one[2])];
      return (_machine, frame) => {
        frame[target] = read(frame);
        return NEXT;
      };
    }
    case 'reset': {
      const target = local(scope, one[1]);
      return (_machine, frame) => {
        frame[target] = undefined;
        return NEXT;
      };
    }
    case 'assignOnce': {
      const [, from, to, file, row, column] = one;
      const [read, target] = [reader(source(scope, from)), local(scope, to)];
      const place = `${scope.files[file]}:${row}:${column}`;
      return (machine, frame) => {
        const [held, value] = [frame[target], read(frame)];
        if (held === undefined) frame[target] = value;
        else if (!equal(machine, held, value)) throw new PolicyError('conflict', `${place}: var assignment conflict`);
        return NEXT;
      };
    }
    case 'len': {
      const [read, target] = [reader(source(scope, one[1])), local(scope, one[2])];
      return (machine, frame) => {
        frame[target] = lengthOf(machine, read(frame));
        return NEXT;
      };
    }
    default:
      return undefined;
  }
}

function lengthOf(machine: Machine, value: PlanValue | undefined): number {
  if (isArray(value)) return value.length;
  if (value instanceof PlanObject || value instanceof PlanSet) return value.size;
  if (isJsonObject(value)) return sizeOf(machine, value);
  if (typeof value === 'string') throw new Inexact('the length of a string in bytes');
  return 0;
}
