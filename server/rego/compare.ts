/** Owns equality and order of Rego values: null < boolean < number < string < array < object < set. */
import { NumberText, type RegoObject, RegoSet, type Value } from './value.ts';

/** Negative, zero or positive, in Rego's total order. Strings order by code point, as UTF-8 bytes do. */
export function compareValues(a: Value, b: Value): number {
  const rank = rankOf(a) - rankOf(b);
  if (rank !== 0) return rank;
  if (typeof a === 'string') return compareStrings(a, b as string);
  if (isNumber(a)) return compareNumbers(a, b as number);
  if (typeof a === 'boolean') return Number(a) - Number(b);
  if (Array.isArray(a)) return compareLists(a, b as Value[]);
  if (a instanceof RegoSet) return compareLists(sortedValues(a.items), sortedValues((b as RegoSet).items));
  if (a instanceof Map) return compareLists(pairs(a), pairs(b as RegoObject));
  return 0;
}

/** A new array of the values in Rego's order. */
export function sortedValues(values: Iterable<Value>): Value[] {
  return Array.from(values).sort(compareValues);
}

/** The keys of an object in Rego's order. */
export function sortedKeys(object: RegoObject): Value[] {
  return sortedValues(object.keys());
}

/** A text that two values share exactly when they are equal: for use as a Map key. Linear but for sorting. */
export function identity(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(identity).join(',')}]`;
  if (value instanceof RegoSet) return `<${value.items.map(identity).sort().join(',')}>`;
  if (value instanceof Map)
    return `{${Array.from(value, ([key, item]) => `${identity(key)}:${identity(item)}`)
      .sort()
      .join(',')}}`;
  return value instanceof NumberText ? numberIdentity(value) : String(value);
}

/** `items` without repetitions, in first-seen order. */
export function distinct(items: Iterable<Value>): RegoSet {
  const seen = new Map<string, Value>();
  for (const item of items) {
    const key = identity(item);
    if (!seen.has(key)) seen.set(key, item);
  }
  return new RegoSet([...seen.values()]);
}

export function isNumber(value: Value): value is number | bigint | NumberText {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof NumberText;
}

function numberIdentity(value: NumberText): string {
  const number = Number(value.text);
  return Number.isSafeInteger(number) ? String(number) : value.text;
}

function rankOf(value: Value): number {
  if (value === null) return 0;
  if (typeof value === 'boolean') return 1;
  if (isNumber(value)) return 2;
  if (typeof value === 'string') return 3;
  if (Array.isArray(value)) return 4;
  return value instanceof Map ? 5 : 6;
}

function compareNumbers(a: number | bigint | NumberText, b: number | bigint | NumberText): number {
  const left = a instanceof NumberText ? Number(a.text) : a;
  const right = b instanceof NumberText ? Number(b.text) : b;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** UTF-16 order differs from code point order only where a surrogate meets a unit from U+E000 up. */
function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  const shared = Math.min(a.length, b.length);
  let at = 0;
  while (at < shared && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === shared) return a.length - b.length;
  return fixup(a.charCodeAt(at)) - fixup(b.charCodeAt(at));
}

function fixup(unit: number): number {
  if (unit >= 0xe000) return unit - 0x800;
  return unit >= 0xd800 ? unit + 0x2000 : unit;
}

function pairs(object: RegoObject): Value[] {
  return sortedKeys(object).flatMap((key) => [key, object.get(key)!]);
}

function compareLists(a: readonly Value[], b: readonly Value[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareValues(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}
