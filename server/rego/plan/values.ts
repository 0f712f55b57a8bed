/**
 * The values that a plan works on. What comes as JSON stays as it is: arrays and plain objects, which nothing here
 * changes. What the policy builds beside arrays are objects with keys of any type and sets.
 *
 * A number stands for its shortest decimal text, so that 0.1 is a tenth. An integer that no double writes back exactly
 * is a bigint, within 64 bits; there are no other numbers here.
 */

import { HASHED_CHARS_MAX, keyOf } from './keys.ts';
import type { Machine } from './machine.ts';

export type JsonObject = { readonly [key: string]: PlanValue };
export type PlanValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly PlanValue[]
  | JsonObject
  | PlanObject
  | PlanSet;

/** What two equal values share, for Map: see keys.ts. */
export type Key = null | boolean | number | string;

export type Entry = { readonly key: PlanValue; value: PlanValue };

const ENTRY_BYTES = 64;
const ENTRY_FUEL = 4; // 0.2 us in a large map

/** Most sets stay empty: making a Map takes longer than most statements. */
const NO_ENTRIES: Map<Key, Entry> = new Map();

/** What has keys: shares the bookkeeping of an object and of a set, whose entries are their own values. */
abstract class Keyed {
  entries: ReadonlyMap<Key, Entry> = NO_ENTRIES;
  /** The entries in the order of iteration, once somebody asked and until the next one is added. */
  order: readonly Entry[] | undefined = undefined;

  get size(): number {
    return this.entries.size;
  }

  get(machine: Machine, key: PlanValue): PlanValue | undefined {
    return this.entries.get(keyOf(machine, key))?.value;
  }

  has(machine: Machine, key: PlanValue): boolean {
    return this.entries.has(keyOf(machine, key));
  }

  protected put(machine: Machine, key: Key, entry: Entry): void {
    machine.charge(ENTRY_FUEL);
    machine.allocate(ENTRY_BYTES + (typeof key === 'string' ? key.length : 0));
    if (this.entries === NO_ENTRIES) this.entries = new Map();
    (this.entries as Map<Key, Entry>).set(key, entry);
    this.order = undefined;
  }
}

export class PlanObject extends Keyed {
  /** Sets the value of a key that may be there already. */
  insert(machine: Machine, key: PlanValue, value: PlanValue): void {
    const id = keyOf(machine, key);
    const held = this.entries.get(id);
    if (held === undefined) this.put(machine, id, { key, value });
    else held.value = value;
  }

  /** A copy whose entries can be replaced without changing this one's. */
  copy(machine: Machine): PlanObject {
    const copied = new PlanObject();
    for (const [id, { key, value }] of this.entries) copied.put(machine, id, { key, value });
    return copied;
  }
}

export class PlanSet extends Keyed {
  add(machine: Machine, item: PlanValue): void {
    const id = keyOf(machine, item);
    if (!this.entries.has(id)) this.put(machine, id, { key: item, value: item });
  }
}

export function isArray(value: PlanValue | undefined): value is readonly PlanValue[] {
  return Array.isArray(value);
}

/** Whether it is an object of the input. */
export function isJsonObject(value: PlanValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !(value instanceof Keyed) && !Array.isArray(value);
}

export function isObject(value: PlanValue | undefined): value is JsonObject | PlanObject {
  return value instanceof PlanObject || isJsonObject(value);
}

export function isNumber(value: PlanValue | undefined): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** What stands in `container` at `key`; undefined when there is no such entity, or it holds nothing. */
export function lookUp(machine: Machine, container: PlanValue | undefined, key: PlanValue): PlanValue | undefined {
  if (typeof container !== 'object' || container === null) return undefined;
  if (Array.isArray(container)) {
    return typeof key === 'number' && Number.isInteger(key) && key >= 0 ? container[key] : undefined;
  }
  if (container instanceof Keyed) return container.get(machine, key);
  if (typeof key !== 'string') return undefined;
  if (key.length > 256) return longMember(machine, container as JsonObject, key);
  return Object.hasOwn(container, key) ? (container as JsonObject)[key] : undefined;
}

/** V8 looks a long name up by its hash, and a very long one by its length among all texts that were ever names. */
function longMember(machine: Machine, object: JsonObject, key: string): PlanValue | undefined {
  machine.charge(key.length / 32);
  if (key.length <= HASHED_CHARS_MAX) return Object.hasOwn(object, key) ? object[key] : undefined;
  const names = Object.keys(object);
  machine.charge(names.length * 4);
  const name = names.find((one) => one.length === key.length && one === key);
  return name === undefined ? undefined : object[name];
}
