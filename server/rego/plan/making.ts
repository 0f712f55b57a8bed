/** Owns the statements that build values: constants, arrays, objects, sets, and what is put into them. */
import { PolicyError } from '../budget.ts';
import { equal } from './compare.ts';
import { NEXT, type Run } from './flow.ts';
import { Inexact, type Machine } from './machine.ts';
import { merged } from './merge.ts';
import { numberOf } from './numbers.ts';
import { reader } from './operands.ts';
import { local, type Scope, source } from './scope.ts';
import { Declined, type Statement } from './source.ts';
import { PlanObject, PlanSet, type PlanValue } from './values.ts';

const CONTAINER_BYTES = 64;
const ITEM_BYTES = 8;

export function making(one: Statement, scope: Scope): Run {
  switch (one[0]) {
    case 'null':
      return constant(null, local(scope, one[1]));
    case 'integer':
      return constant(numberConstant(String(one[1])), local(scope, one[2]));
    case 'number':
      return constant(numberConstant(scope.strings[one[1]] ?? ''), local(scope, one[2]));
    case 'array':
      return fresh(() => [], local(scope, one[1]));
    case 'object':
      return fresh(() => new PlanObject(), local(scope, one[1]));
    case 'set':
      return fresh(() => new PlanSet(), local(scope, one[1]));
    case 'merge': {
      const [a, b, target] = [local(scope, one[1]), local(scope, one[2]), local(scope, one[3])];
      return (machine, frame) => {
        frame[target] = merged(machine, frame[a], frame[b]);
        return NEXT;
      };
    }
    default:
      return filling(one, scope);
  }
}

function numberConstant(text: string): PlanValue {
  return numberOf(text) ?? decline(`the number ${text.slice(0, 40)} is not one that JavaScript writes so`);
}

function decline(why: string): never {
  throw new Declined(why);
}

function constant(value: PlanValue, target: number): Run {
  return (_machine, frame) => {
    frame[target] = value;
    return NEXT;
  };
}

function fresh(make: () => PlanValue, target: number): Run {
  return (machine, frame) => {
    machine.hold(CONTAINER_BYTES);
    frame[target] = make();
    return NEXT;
  };
}

function filling(one: Statement, scope: Scope): Run {
  switch (one[0]) {
    case 'append': {
      const [read, target] = [reader(source(scope, one[1])), local(scope, one[2])];
      return (machine, frame) => {
        const list = frame[target];
        if (!Array.isArray(list)) throw new Inexact('an item for what is no array');
        machine.hold(ITEM_BYTES);
        (list as PlanValue[]).push(defined(read(frame)));
        return NEXT;
      };
    }
    case 'add': {
      const [read, target] = [reader(source(scope, one[1])), local(scope, one[2])];
      return (machine, frame) => {
        const set = frame[target];
        if (!(set instanceof PlanSet)) throw new Inexact('an item for what is no set');
        set.add(machine, defined(read(frame)));
        return NEXT;
      };
    }
    case 'insert':
    case 'insertOnce':
      return inserting(one, scope);
    default:
      return decline(`the statement ${String(one[0])} is not done here`);
  }
}

function inserting(one: Extract<Statement, ['insertOnce' | 'dot' | 'insert', ...unknown[]]>, scope: Scope): Run {
  const [key, value, target] = [reader(source(scope, one[1])), reader(source(scope, one[2])), local(scope, one[3])];
  const place = one[0] === 'insertOnce' ? `${scope.files[one[4]]}:${one[5]}:${one[6]}` : undefined;
  return (machine, frame) => {
    const object = frame[target];
    if (!(object instanceof PlanObject)) throw new Inexact('a member for what is no object');
    const [name, item] = [defined(key(frame)), defined(value(frame))];
    if (place !== undefined && differs(machine, object, name, item))
      throw new PolicyError('conflict', `${place}: object insert conflict`);
    object.insert(machine, name, item);
    return NEXT;
  };
}

function differs(machine: Machine, object: PlanObject, name: PlanValue, item: PlanValue): boolean {
  const held = object.get(machine, name);
  return held !== undefined && !equal(machine, held, item);
}

/** OPA's planner puts only what is defined into others. */
function defined(value: PlanValue | undefined): PlanValue {
  if (value === undefined) throw new Inexact('an undefined part');
  return value;
}
