import { compare, equal, sorted } from '../compare.ts';
import type { Machine } from '../machine.ts';
import { chargeArithmetic, plus, times } from '../numbers.ts';
import { chargeNames, orderedItems, sizeOf } from '../order.ts';
import { isArray, isJsonObject, isNumber, isObject, lookUp, PlanObject, PlanSet, type PlanValue } from '../values.ts';
import type { PlanBuiltin, PlanBuiltins } from './table.ts';

export const aggregateBuiltins: PlanBuiltins = {
  count: (machine, value) => {
    if (typeof value === 'string') return codePoints(machine, value);
    if (isArray(value)) return value.length;
    if (value instanceof PlanObject || value instanceof PlanSet) return value.size;
    return isJsonObject(value) ? sizeOf(machine, value) : undefined;
  },
  sum: folded(0, plus),
  product: folded(1, times),
  max: (machine, value) => extreme(machine, value, 1),
  min: (machine, value) => extreme(machine, value, -1),
  sort: (machine, value) => {
    const items = itemsOf(machine, value);
    return items && sorted(machine, items);
  },
  all: (machine, value) => itemsOf(machine, value)?.every((item) => item === true),
  any: (machine, value) => itemsOf(machine, value)?.some((item) => item === true),
  'internal.member_2': (machine, item, collection) => {
    if (isArray(collection)) return includes(machine, collection, item as PlanValue);
    if (collection instanceof PlanSet) return collection.has(machine, item as PlanValue);
    if (!isObject(collection)) return false;
    // The list is made to its end, also where its first item is the one.
    const values =
      collection instanceof PlanObject
        ? Array.from(collection.entries.values(), ({ value }) => value)
        : Object.values(collection);
    chargeNames(machine, values.length);
    return includes(machine, values, item as PlanValue);
  },
  'internal.member_3': (machine, key, item, collection) => {
    if (typeof collection !== 'object' || collection === null) return false;
    return equal(machine, item, lookUp(machine, collection, key as PlanValue));
  },
};

/** The items of an array or a set, the latter in any order; charged. */
function itemsOf(machine: Machine, value: PlanValue | undefined): readonly PlanValue[] | undefined {
  const items = value instanceof PlanSet ? Array.from(value.entries.values(), ({ key }) => key) : value;
  if (!isArray(items)) return undefined;
  machine.charge(items.length / 4);
  return items;
}

function codePoints(machine: Machine, text: string): number {
  machine.charge(text.length / 16);
  let count = text.length;
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xdc00) count--;
  return count;
}

function folded(first: number, combine: (a: number | bigint, b: number | bigint) => number | bigint): PlanBuiltin {
  return (machine, value) => {
    const items = itemsOf(machine, value);
    if (items === undefined || !items.every(isNumber)) return undefined;
    let result: number | bigint = first;
    for (const item of items as readonly (number | bigint)[]) {
      chargeArithmetic(machine, result, item);
      result = combine(result, item);
    }
    return result;
  };
}

function extreme(machine: Machine, value: PlanValue | undefined, sign: number): PlanValue | undefined {
  const items = itemsOf(machine, value);
  let found: PlanValue | undefined;
  for (const item of items ?? []) {
    machine.charge(1);
    if (found === undefined || compare(machine, item, found) * sign > 0) found = item;
  }
  return found;
}

function includes(machine: Machine, items: readonly PlanValue[], wanted: PlanValue): boolean {
  for (const item of items) {
    machine.charge(1);
    if (equal(machine, item, wanted)) return true;
  }
  return false;
}

/** The items of an array or a set in the order of iteration. */
export function orderedItemsOf(machine: Machine, value: PlanValue | undefined): readonly PlanValue[] | undefined {
  if (value instanceof PlanSet) return orderedItems(machine, value);
  return isArray(value) ? value : undefined;
}
