/**
 * Owns the order in which objects and sets are gone through. Rego leaves it open, and answers can hang on it (the items
 * of an array comprehension, the text of concat), so it is the order of OPA's Wasm: by bucket of a hash table (FNV-1, 32
 * bits), and within a bucket by value.
 */
import { compare } from './compare.ts';
import { Inexact, type Machine } from './machine.ts';
import { bucketsFor, type Entry, type JsonObject, PlanObject, PlanSet, type PlanValue } from './values.ts';

const FNV_OFFSET = 0x811c9dc5 | 0;
const FNV_PRIME = 0x01000193;
const CHARS_PER_UNIT = 16;
/** About where V8 goes over to a hash table (1020). */
const MANY_NAMES = 1000;

/** How many members an input object has. V8 makes the list of their names to say it, so that is done once for each object. */
export function sizeOf(machine: Machine, object: JsonObject): number {
  machine.sizes ??= new Map();
  const known = machine.sizes.get(object);
  if (known !== undefined) return known;
  const size = Object.keys(object).length;
  chargeNames(machine, size);
  machine.sizes.set(object, size);
  return size;
}

/** For listing the names or the values of an input object: V8 takes 10 to 100 ns for each, and 150 to 350 where they are many. */
export function chargeNames(machine: Machine, count: number): void {
  machine.charge(count > MANY_NAMES ? count * 4 : count);
}

/** The keys of an input object in order. */
export function orderedNames(machine: Machine, object: JsonObject): readonly string[] {
  machine.orders ??= new Map();
  const known = machine.orders.get(object);
  if (known !== undefined) return known;
  const names = Object.keys(object);
  chargeNames(machine, names.length);
  if (names.length > 1) inOrder(machine, names, (name) => name, bucketsFor(names.length));
  machine.orders.set(object, names);
  return names;
}

/** The entries of an object or set in order. */
export function orderedEntries(machine: Machine, held: PlanObject | PlanSet): readonly Entry[] {
  if (held.order === undefined) {
    const entries = [...held.entries.values()];
    machine.charge(entries.length);
    if (entries.length > 1) inOrder(machine, entries, ({ key }) => key, held.buckets);
    held.order = entries;
  }
  return held.order;
}

/** The items of a set in order. */
export function orderedItems(machine: Machine, set: PlanSet): PlanValue[] {
  machine.charge(set.size / 4);
  return orderedEntries(machine, set).map(({ key }) => key);
}

/** Key and value of each member of an object, in order. */
export function orderedPairs(machine: Machine, object: JsonObject | PlanObject): [PlanValue, PlanValue][] {
  if (object instanceof PlanObject) return orderedEntries(machine, object).map(({ key, value }) => [key, value]);
  return orderedNames(machine, object).map((name) => [name, object[name] as PlanValue]);
}

function inOrder<T>(machine: Machine, list: T[], keyOf: (item: T) => PlanValue, buckets: number): void {
  machine.charge(list.length * Math.log2(list.length) * 2);
  const bucketOf = new Map<T, number>();
  for (const item of list) bucketOf.set(item, (hash(machine, keyOf(item)) >>> 0) & (buckets - 1));
  list.sort(
    (a, b) => (bucketOf.get(a) as number) - (bucketOf.get(b) as number) || compare(machine, keyOf(a), keyOf(b)),
  );
}

function hash(machine: Machine, value: PlanValue): number {
  switch (typeof value) {
    case 'string':
      return hashString(machine, value);
    case 'boolean':
      return value ? 0 : 1;
    case 'number':
      machine.charge(1);
      return hashNumber(value);
    case 'bigint':
      throw new Inexact('the hash of a number past 2^53');
  }
  if (value === null) return 0;
  machine.charge(1);
  let sum = 0;
  if (Array.isArray(value)) for (const item of value) sum = (sum + hash(machine, item)) | 0;
  else if (value instanceof PlanSet) for (const { key } of value.entries.values()) sum = (sum + hash(machine, key)) | 0;
  else
    for (const [key, item] of value instanceof PlanObject ? pairsOf(value) : Object.entries(value))
      sum = (sum + hash(machine, key) + hash(machine, item)) | 0;
  return sum;
}

function pairsOf(object: PlanObject): [PlanValue, PlanValue][] {
  return Array.from(object.entries.values(), ({ key, value }) => [key, value]);
}

/** Over the bytes of UTF-8. */
function hashString(machine: Machine, text: string): number {
  machine.charge(text.length / CHARS_PER_UNIT);
  let sum = FNV_OFFSET;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) return hashBytes(Buffer.from(text));
    sum = Math.imul(sum, FNV_PRIME) ^ unit;
  }
  return sum;
}

function hashBytes(bytes: Uint8Array): number {
  let sum = FNV_OFFSET;
  for (const byte of bytes) sum = Math.imul(sum, FNV_PRIME) ^ byte;
  return sum;
}

const double = new DataView(new ArrayBuffer(8));

/** OPA reads a number's text into a double by steps that round; only integers surely come out as JavaScript's do. */
function hashNumber(value: number): number {
  if (!Number.isSafeInteger(value)) throw new Inexact('the hash of a number that is no integer within 2^53');
  double.setFloat64(0, value === 0 ? 0 : value, true);
  return hashBytes(new Uint8Array(double.buffer));
}
