/**
 * The order in which objects and sets are gone through: by value, as `opa eval` does. Answers can hang on it (the
 * items of an array comprehension, the text of concat).
 */
import { compareStrings, sortedTexts } from '../compare.ts';
import { compare } from './compare.ts';
import type { Machine } from './machine.ts';
import { type Entry, type JsonObject, PlanObject, type PlanSet, type PlanValue } from './values.ts';

const SURROGATE = /[\ud800-\udfff]/;
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
  inOrder(machine, names);
  machine.orders.set(object, names);
  return names;
}

/** The entries of an object or set in order. */
export function orderedEntries(machine: Machine, held: PlanObject | PlanSet): readonly Entry[] {
  if (held.order === undefined) {
    const entries = [...held.entries.values()];
    machine.charge(entries.length);
    if (entries.length > 1) {
      machine.charge(entries.length * Math.log2(entries.length));
      entries.sort((a, b) => compare(machine, a.key, b.key));
    }
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

/** Sorts texts in place, by code point: V8's own order, of units, is another where there are surrogates. */
function inOrder(machine: Machine, texts: string[]): void {
  if (texts.length < 2) return;
  sortedTexts(machine, texts);
  if (texts.some((text) => SURROGATE.test(text))) texts.sort((a, b) => compareStrings(machine, a, b));
}
