/** Calls of the host's builtins from a plan: their values are compare.ts's neighbours, Map and RegoSet. */
import { type Builtin, boundResult } from '../builtins/arguments.ts';
import { NumberText, parseNumber, RegoSet, type Value } from '../value.ts';
import type { PlanBuiltin } from './builtins/table.ts';
import { type Machine, PlanBailout } from './machine.ts';
import { numberOf } from './numbers.ts';
import { orderedItems, orderedPairs } from './order.ts';
import { isArray, PlanObject, PlanSet, type PlanValue } from './values.ts';

/** A call, and a value that crosses; a text costs where it is read. */
const CALL_FUEL = 8;
const VALUE_FUEL = 2;
const CHARS_PER_UNIT = 16;

export function hostCall(builtin: Builtin): PlanBuiltin {
  return (machine, ...args) => {
    machine.charge(CALL_FUEL);
    const result = builtin(machine, ...args.map((arg) => toHost(machine, arg as PlanValue)));
    return result === undefined ? undefined : fromHost(machine, result, { chars: 0 });
  };
}

/** A value as host builtins see it. */
export function toHost(machine: Machine, value: PlanValue): Value {
  machine.charge(VALUE_FUEL);
  switch (typeof value) {
    case 'string':
      machine.charge(value.length / CHARS_PER_UNIT);
      return value;
    case 'number':
      return Number.isSafeInteger(value) ? value + 0 : parseNumber(String(value));
    case 'boolean':
    case 'bigint':
      return value;
  }
  if (value === null) return null;
  machine.allocate(64);
  if (isArray(value)) return value.map((item) => toHost(machine, item));
  if (value instanceof PlanSet) return new RegoSet(orderedItems(machine, value).map((item) => toHost(machine, item)));
  return new Map(
    orderedPairs(machine, value as PlanObject).map(([key, item]) => [toHost(machine, key), toHost(machine, item)]),
  );
}

/** `spent.chars`: of the result's text so far, which is bounded as it is for the Wasm. */
function fromHost(machine: Machine, value: Value, spent: { chars: number }): PlanValue {
  machine.charge(VALUE_FUEL);
  const scalar = scalarFromHost(value);
  if (scalar !== undefined) {
    const chars = typeof scalar === 'string' ? scalar.length : 8;
    spent.chars += chars + 2;
    boundResult(spent.chars);
    machine.charge(chars / CHARS_PER_UNIT);
    machine.allocate(chars * 2);
    return scalar;
  }
  spent.chars += 2;
  const inner = (item: Value) => fromHost(machine, item, spent);
  machine.allocate(64);
  if (Array.isArray(value)) return value.map(inner);
  if (value instanceof RegoSet) {
    const set = new PlanSet();
    for (const item of value.items) set.add(machine, inner(item));
    return set;
  }
  const object = new PlanObject();
  for (const [key, item] of value as Map<Value, Value>) object.insert(machine, inner(key), inner(item));
  return object;
}

function scalarFromHost(value: Value): null | boolean | number | bigint | string | undefined {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed();
  if (Number.isSafeInteger(value)) return (value as number) + 0;
  if (typeof value !== 'number' && typeof value !== 'bigint' && !(value instanceof NumberText)) return undefined;
  const text = value instanceof NumberText ? value.text : String(value);
  const number = numberOf(text);
  if (number === undefined) throw new PlanBailout('a number of a host builtin');
  return number;
}
