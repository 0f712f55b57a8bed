/** A plan's result as JSON values, within the bounds that hold for the Wasm's. */
import { limits } from '../../core/limits.ts';
import { keyText } from '../builtins/json.ts';
import { boundResultText, tooDeep } from '../result.ts';
import { toHost } from './exchange.ts';
import type { Machine } from './machine.ts';
import { orderedItems, orderedPairs } from './order.ts';
import { isArray, type JsonObject, PlanObject, PlanSet, type PlanValue } from './values.ts';

/** The bindings, as JSON.parse would give them. Throws PolicyError (memory) past the bounds of size and depth. */
export function resultOf(machine: Machine): Record<string, unknown>[] {
  const json = new Json(machine);
  const bindings = distinct(machine);
  const result = bindings.map((one) => json.value(one, limits.evaluateResultDepthMax + 1));
  // Six bytes is the most that one unit of a string becomes.
  if (json.weight > limits.evaluateResultBytesMax / 6) boundResultText(result);
  return result as Record<string, unknown>[];
}

/** An entrypoint that is a rule has one binding; a query can have many. */
function distinct(machine: Machine): readonly PlanValue[] {
  if (machine.results.length < 2) return machine.results;
  const set = new PlanSet();
  for (const one of machine.results) set.add(machine, one);
  return orderedItems(machine, set);
}

/** Whether its members can be written in any order: where keys that are no strings may meet as text, the last one stays. */
function hasNamesOnly(object: PlanObject): boolean {
  for (const { key } of object.entries.values()) if (typeof key !== 'string') return false;
  return true;
}

class Json {
  /** Characters of the text so far, before escapes. */
  weight = 4;
  readonly #machine: Machine;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  value(value: PlanValue, levels: number): unknown {
    this.#machine.charge(1);
    switch (typeof value) {
      case 'string':
        this.weight += value.length + 3;
        return value;
      case 'number':
      case 'bigint':
        this.weight += 25;
        return Number(value) + 0; // -0 + 0 is 0
      case 'boolean':
        this.weight += 6;
        return value;
    }
    this.weight += 5;
    if (value === null) return null;
    if (levels === 0) throw tooDeep();
    const items = value instanceof PlanSet ? orderedItems(this.#machine, value) : value;
    if (isArray(items)) return items.map((item) => this.value(item, levels - 1));
    return this.#object(items as JsonObject | PlanObject, levels);
  }

  #object(value: JsonObject | PlanObject, levels: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    if (!(value instanceof PlanObject)) {
      for (const name of Object.keys(value)) this.#put(object, name, value[name] as PlanValue, levels);
    } else if (hasNamesOnly(value)) {
      for (const { key, value: item } of value.entries.values()) this.#put(object, key as string, item, levels);
    } else {
      for (const [key, item] of orderedPairs(this.#machine, value)) {
        this.#put(object, keyText(this.#machine, toHost(this.#machine, key)), item, levels);
      }
    }
    return object;
  }

  #put(object: Record<string, unknown>, name: string, item: PlanValue, levels: number): void {
    this.weight += name.length + 4;
    const inner = this.value(item, levels - 1);
    if (name !== '__proto__') object[name] = inner;
    else Object.defineProperty(object, name, { value: inner, writable: true, enumerable: true, configurable: true });
  }
}
