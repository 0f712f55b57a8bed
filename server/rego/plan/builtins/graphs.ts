import type { Machine } from '../machine.ts';
import { orderedItems, orderedPairs } from '../order.ts';
import { isArray, isObject, lookUp, PlanSet, type PlanValue } from '../values.ts';
import { orderedItemsOf } from './aggregates.ts';
import { type PlanBuiltins, spendItems } from './table.ts';

export const graphBuiltins: PlanBuiltins = {
  walk: (machine, value) => {
    const found: PlanValue[] = [];
    walk(machine, [], value as PlanValue, found);
    return found;
  },
  'graph.reachable': (machine, graph, initial) => {
    const queue = isObject(graph) ? orderedItemsOf(machine, initial)?.slice() : undefined;
    if (queue === undefined) return undefined;
    const reached = new PlanSet();
    for (let at = 0; at < queue.length; at++) {
      machine.charge(1);
      const node = queue[at] as PlanValue;
      const edges = lookUp(machine, graph, node);
      if (edges === undefined) continue;
      for (const next of orderedItemsOf(machine, edges) ?? []) {
        machine.charge(1);
        machine.allocate(8);
        if (!reached.has(machine, next)) queue.push(next);
      }
      reached.add(machine, node);
    }
    return reached;
  },
};

/** Each part of a value with its path, itself first. */
function walk(machine: Machine, path: readonly PlanValue[], value: PlanValue, found: PlanValue[]): void {
  machine.charge(2);
  machine.allocate(96);
  found.push([path, value]);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of members(machine, value)) {
    spendItems(machine, path.length + 1);
    walk(machine, [...path, key], item, found);
  }
}

function members(machine: Machine, value: PlanValue): Iterable<[PlanValue, PlanValue]> {
  if (isArray(value)) return value.entries();
  if (value instanceof PlanSet) return orderedItems(machine, value).map((item) => [item, item]);
  return orderedPairs(machine, value as Parameters<typeof orderedPairs>[1]);
}
