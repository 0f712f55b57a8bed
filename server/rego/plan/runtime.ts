/** What programs made from plans call besides builtins: look-ups, making values and putting into them, `with`. */
import { PolicyError } from '../budget.ts';
import { equal } from './compare.ts';
import { exhausted, type Machine, PlanBailout, UNKNOWN } from './machine.ts';
import { merged } from './merge.ts';
import { orderedEntries, orderedNames, sizeOf } from './order.ts';
import {
  type Entry,
  isArray,
  isJsonObject,
  isObject,
  type JsonObject,
  lookUp,
  PlanObject,
  PlanSet,
  type PlanValue,
} from './values.ts';

type Maybe = PlanValue | undefined;
/** File, row, column. */
type Place = [string, number, number];

const CONTAINER_BYTES = 64;
const ITEM_BYTES = 8;
const NOTHING: readonly never[] = [];

/** By the names that programs use. */
export const runtime = {
  ...{ UNKNOWN, exhausted, lookUp, equal, merged, isArray, isObject, isSet, listed, lengthOf, same, result },
  ...{ newArray, newObject, newSet, append, add, insert, insertOnce, forget, upserted, wayOutOfWith, numberAt },
};

function isSet(value: Maybe): value is PlanSet {
  return value instanceof PlanSet;
}

/** What a container is gone through by: an array itself, the names of an object of the input, the entries of others. */
function listed(machine: Machine, container: Maybe): readonly PlanValue[] | readonly string[] | readonly Entry[] {
  if (isArray(container)) return container;
  if (container instanceof PlanObject || container instanceof PlanSet) return orderedEntries(machine, container);
  return isJsonObject(container) ? orderedNames(machine, container) : NOTHING;
}

function lengthOf(machine: Machine, value: Maybe): number {
  if (isArray(value)) return value.length;
  if (value instanceof PlanObject || value instanceof PlanSet) return value.size;
  if (isJsonObject(value)) return sizeOf(machine, value);
  if (typeof value === 'string') throw new PlanBailout('the length of a string in bytes');
  return 0;
}

function same(machine: Machine, held: Maybe, value: Maybe, ...place: Place): void {
  if (!equal(machine, held, value)) throw new PolicyError('conflict', `${place.join(':')}: var assignment conflict`);
}

function result(machine: Machine, value: Maybe): void {
  machine.allocate(ITEM_BYTES);
  machine.results.push(defined(value));
}

function newArray(machine: Machine): PlanValue[] {
  machine.allocate(CONTAINER_BYTES);
  return [];
}

function newObject(machine: Machine): PlanObject {
  machine.allocate(CONTAINER_BYTES);
  return new PlanObject();
}

function newSet(machine: Machine): PlanSet {
  machine.allocate(CONTAINER_BYTES);
  return new PlanSet();
}

function append(machine: Machine, list: Maybe, item: Maybe): void {
  if (!Array.isArray(list)) throw new PlanBailout('an item for what is no array');
  machine.allocate(ITEM_BYTES);
  (list as PlanValue[]).push(defined(item));
}

function add(machine: Machine, set: Maybe, item: Maybe): void {
  if (!(set instanceof PlanSet)) throw new PlanBailout('an item for what is no set');
  set.add(machine, defined(item));
}

function insert(machine: Machine, object: Maybe, name: Maybe, item: Maybe): void {
  if (!(object instanceof PlanObject)) throw new PlanBailout('a member for what is no object');
  object.insert(machine, defined(name), defined(item));
}

function insertOnce(machine: Machine, object: Maybe, name: Maybe, item: Maybe, ...place: Place): void {
  if (!(object instanceof PlanObject)) throw new PlanBailout('a member for what is no object');
  const held = object.get(machine, defined(name));
  if (held !== undefined && !equal(machine, held, defined(item)))
    throw new PolicyError('conflict', `${place.join(':')}: object insert conflict`);
  object.insert(machine, defined(name), defined(item));
}

/** OPA's planner puts only what is defined into others. */
function defined(value: Maybe): PlanValue {
  if (value === undefined) throw new PlanBailout('an undefined part');
  return value;
}

/** Has all rules evaluated anew; whoever calls it puts the old results back. */
function forget(machine: Machine): void {
  machine.charge(machine.memo.length / 8);
  machine.memo = machine.memo.map(() => UNKNOWN);
}

/** A copy of the document, as deep as the path goes, with the value at its end. */
function upserted(machine: Machine, document: Maybe, path: readonly string[], value: Maybe): Maybe {
  if (path.length === 0) return value;
  if (document !== undefined && !isObject(document)) throw new PlanBailout('`with` inside what is no object');
  const root = copied(machine, document);
  let at = root;
  for (const name of path.slice(0, -1)) {
    const next = at.get(machine, name);
    const inner = copied(machine, isObject(next) ? next : undefined);
    at.insert(machine, name, inner);
    at = inner;
  }
  at.insert(machine, path.at(-1) as string, defined(value));
  return root;
}

function copied(machine: Machine, object: JsonObject | PlanObject | undefined): PlanObject {
  if (object instanceof PlanObject) return object.copy(machine);
  const copy = new PlanObject();
  if (object !== undefined)
    for (const name of Object.keys(object)) copy.insert(machine, name, object[name] as PlanValue);
  return copy;
}

function wayOutOfWith(): never {
  throw new PlanBailout('a way out of `with`');
}

/** The number of the function at a path that was computed; undefined when there is none. */
function numberAt(machine: Machine, paths: ReadonlyMap<string, number>, ...path: Maybe[]): number | undefined {
  if (!path.every((name) => typeof name === 'string')) return undefined;
  const text = JSON.stringify(path);
  machine.charge(text.length / 16);
  return paths.get(text);
}
