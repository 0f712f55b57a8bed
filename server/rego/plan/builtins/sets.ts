import type { Machine } from '../machine.ts';
import { orderedItems } from '../order.ts';
import { PlanSet, type PlanValue } from '../values.ts';
import type { PlanBuiltins } from './table.ts';

export const setBuiltins: PlanBuiltins = {
  and: (machine, a, b) => (areSets(a, b) ? intersection(machine, a as PlanSet, b as PlanSet) : undefined),
  or: (machine, a, b) => (areSets(a, b) ? union(machine, [a as PlanSet, b as PlanSet]) : undefined),
  union: (machine, value) => {
    const sets = setsOf(machine, value);
    return sets && union(machine, sets);
  },
  intersection: (machine, value) => {
    const sets = setsOf(machine, value);
    if (sets === undefined || sets.length === 0) return sets && new PlanSet();
    return sets.slice(1).reduce((all, one) => intersection(machine, all, one), union(machine, sets.slice(0, 1)));
  },
};

export function difference(machine: Machine, a: PlanSet, b: PlanSet): PlanSet {
  const result = new PlanSet();
  for (const { key } of a.entries.values()) {
    machine.charge(1);
    if (!b.has(machine, key)) result.add(machine, key);
  }
  return result;
}

function union(machine: Machine, sets: readonly PlanSet[]): PlanSet {
  const result = new PlanSet();
  for (const set of sets) for (const { key } of set.entries.values()) result.add(machine, key);
  return result;
}

function intersection(machine: Machine, a: PlanSet, b: PlanSet): PlanSet {
  const result = new PlanSet();
  const [fewer, more] = b.size < a.size ? [b, a] : [a, b];
  for (const { key } of fewer.entries.values()) {
    machine.charge(1);
    if (more.has(machine, key)) result.add(machine, key);
  }
  return result;
}

function areSets(a: PlanValue | undefined, b: PlanValue | undefined): boolean {
  return a instanceof PlanSet && b instanceof PlanSet;
}

/** The sets in a set of sets, in order. */
function setsOf(machine: Machine, value: PlanValue | undefined): PlanSet[] | undefined {
  if (!(value instanceof PlanSet)) return undefined;
  const items = orderedItems(machine, value);
  return items.every((item) => item instanceof PlanSet) ? (items as PlanSet[]) : undefined;
}
