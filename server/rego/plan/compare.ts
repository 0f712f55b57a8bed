/** Equality and order of values, as OPA's Wasm has them: undefined < null < boolean < number < string < array < object < set. */
import { chargeEqual, compareStrings } from '../compare.ts';
import type { Machine } from './machine.ts';
import { isArray, isNumber, type JsonObject, lookUp, PlanObject, PlanSet, type PlanValue } from './values.ts';

/** Whether two values, or undefined, are the same. Charged for its depth and length. */
export function equal(machine: Machine, a: PlanValue | undefined, b: PlanValue | undefined): boolean {
  if (typeof a === 'string') {
    if (typeof b !== 'string' || a.length !== b.length) return false;
    chargeEqual(machine, a.length);
    return a === b;
  }
  if (a === b) return true;
  if (typeof a === 'object' || isNumber(a)) return compare(machine, a, b) === 0;
  return false;
}

/** Negative, zero or positive. */
export function compare(machine: Machine, a: PlanValue | undefined, b: PlanValue | undefined): number {
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(machine, a, b);
  if (a === b) return 0;
  const rank = rankOf(a) - rankOf(b);
  if (rank !== 0) return rank;
  if (isNumber(a)) return compareNumbers(a, b as number | bigint);
  if (typeof a === 'boolean') return Number(a) - Number(b);
  if (a === null || a === undefined) return 0;
  machine.charge(2);
  if (isArray(a)) return compareLists(machine, a, b as readonly PlanValue[]);
  if (a instanceof PlanSet) return compareLists(machine, sortedItems(machine, a), sortedItems(machine, b as PlanSet));
  return compareObjects(machine, a as JsonObject | PlanObject, b as JsonObject | PlanObject);
}

/** A new array in order. */
export function sorted(machine: Machine, values: readonly PlanValue[]): PlanValue[] {
  machine.charge(values.length * Math.log2(values.length + 1));
  machine.allocate(values.length * 8);
  return values.toSorted((a, b) => compare(machine, a, b));
}

/** The keys of an object in any order. */
export function keysOf(object: JsonObject | PlanObject): PlanValue[] {
  if (object instanceof PlanObject) return Array.from(object.entries.values(), ({ key }) => key);
  return Object.keys(object);
}

export function rankOf(value: PlanValue | undefined): number {
  switch (typeof value) {
    case 'undefined':
      return -1;
    case 'boolean':
      return 1;
    case 'number':
    case 'bigint':
      return 2;
    case 'string':
      return 3;
  }
  if (value === null) return 0;
  if (isArray(value)) return 4;
  return value instanceof PlanSet ? 6 : 5;
}

/** Doubles order as their shortest texts do; only beside a bigint a large one's digits count. */
function compareNumbers(a: number | bigint, b: number | bigint): number {
  const [left, right] = typeof a === typeof b ? [a, b] : [exact(a), exact(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function exact(value: number | bigint): number | bigint {
  if (typeof value === 'bigint' || !Number.isInteger(value) || Math.abs(value) >= 1e21) return value;
  return BigInt(String(value));
}

function sortedItems(machine: Machine, set: PlanSet): PlanValue[] {
  return sorted(
    machine,
    Array.from(set.entries.values(), ({ key }) => key),
  );
}

function compareLists(machine: Machine, a: readonly PlanValue[], b: readonly PlanValue[]): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    machine.charge(1);
    const order = compare(machine, a[i], b[i]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareObjects(machine: Machine, a: JsonObject | PlanObject, b: JsonObject | PlanObject): number {
  const [left, right] = [sorted(machine, keysOf(a)), sorted(machine, keysOf(b))];
  const shared = Math.min(left.length, right.length);
  for (let i = 0; i < shared; i++) {
    const [mine, other] = [left[i] as PlanValue, right[i] as PlanValue];
    const order =
      compare(machine, mine, other) || compare(machine, lookUp(machine, a, mine), lookUp(machine, b, other));
    if (order !== 0) return order;
  }
  return left.length - right.length;
}
