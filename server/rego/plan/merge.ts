/** Merging of objects: by the statement that joins rules' documents, and as object.union does. */
import type { Machine } from './machine.ts';
import { orderedPairs } from './order.ts';
import { isObject, type JsonObject, lookUp, PlanObject, type PlanValue } from './values.ts';

/** Objects as one, recursively; what the first has and is no object on both sides stays. */
export function merged(machine: Machine, a: PlanValue | undefined, b: PlanValue | undefined): PlanValue | undefined {
  if (a === undefined) return b;
  if (!isObject(a) || !isObject(b)) return a;
  return joined(machine, a, b, (mine, other) => merged(machine, mine, other) as PlanValue);
}

/** Objects as one, recursively; where one is no object, the second stays. */
export function united(machine: Machine, a: JsonObject | PlanObject, b: JsonObject | PlanObject): PlanObject {
  return joined(machine, a, b, (mine, other) =>
    isObject(mine) && isObject(other) ? united(machine, mine, other) : other,
  );
}

function joined(
  machine: Machine,
  a: JsonObject | PlanObject,
  b: JsonObject | PlanObject,
  both: (mine: PlanValue, other: PlanValue) => PlanValue,
): PlanObject {
  const result = new PlanObject();
  for (const [key, value] of orderedPairs(machine, a)) {
    const other = lookUp(machine, b, key);
    result.insert(machine, key, other === undefined ? value : both(value, other));
  }
  for (const [key, value] of orderedPairs(machine, b)) {
    if (lookUp(machine, a, key) === undefined) result.insert(machine, key, value);
  }
  return result;
}
