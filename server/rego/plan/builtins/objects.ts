import { keysOf } from '../compare.ts';
import { type Machine, PlanBailout } from '../machine.ts';
import { united } from '../merge.ts';
import { chargeNames, orderedPairs } from '../order.ts';
import { isArray, isObject, type JsonObject, lookUp, PlanObject, PlanSet, type PlanValue } from '../values.ts';
import { orderedItemsOf } from './aggregates.ts';
import type { PlanBuiltins } from './table.ts';

export const objectBuiltins: PlanBuiltins = {
  'object.get': (machine, object, key, fallback) => {
    if (!isObject(object)) return undefined;
    let found: PlanValue | undefined = object;
    for (const part of isArray(key) ? key : [key as PlanValue]) {
      machine.charge(1);
      found = lookUp(machine, found, part);
      if (found === undefined) return fallback;
    }
    return found;
  },
  'object.keys': (machine, object) => {
    if (!isObject(object)) return undefined;
    const keys = keysOf(object);
    chargeNames(machine, keys.length);
    const set = new PlanSet();
    for (const key of keys) set.add(machine, key);
    return set;
  },
  'object.filter': (machine, object, keys) => {
    const wanted = isObject(object) ? keyList(machine, keys) : undefined;
    if (wanted === undefined) return undefined;
    const result = new PlanObject();
    for (const key of wanted) {
      machine.charge(1);
      const value = lookUp(machine, object as JsonObject | PlanObject, key);
      if (value !== undefined) result.insert(machine, key, value);
    }
    return result;
  },
  'object.remove': (machine, object, keys) => {
    const unwanted = isObject(object) ? keyList(machine, keys) : undefined;
    if (unwanted === undefined) return undefined;
    const set = new PlanSet();
    for (const key of unwanted) set.add(machine, key);
    const result = new PlanObject();
    for (const [key, value] of orderedPairs(machine, object as JsonObject | PlanObject)) {
      if (!set.has(machine, key)) result.insert(machine, key, value);
    }
    return result;
  },
  'object.union': (machine, a, b) => (isObject(a) && isObject(b) ? united(machine, a, b) : undefined),
  'object.union_n': (machine, value) => {
    if (isObject(value)) throw new PlanBailout('object.union_n of an object');
    const objects = orderedItemsOf(machine, value);
    if (objects === undefined || !objects.every(isObject)) return undefined;
    let [all, ...rest] = objects as (JsonObject | PlanObject)[];
    for (const one of rest) all = united(machine, all as PlanObject, one);
    return all;
  },
};

/** What lists keys: the items of an array or a set, the keys of an object. Charged. */
function keyList(machine: Machine, value: PlanValue | undefined): readonly PlanValue[] | undefined {
  if (!isObject(value)) return orderedItemsOf(machine, value);
  const keys = keysOf(value);
  chargeNames(machine, keys.length);
  return keys;
}
