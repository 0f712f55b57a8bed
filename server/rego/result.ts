/** An evaluation's result in OPA's Wasm: from its text form, which tells sets from arrays, to JSON within its bounds. */
import { limits } from '../core/limits.ts';
import { type Meter, PolicyError } from './budget.ts';
import { namedMembers } from './builtins/json.ts';
import { sortedValues } from './compare.ts';
import { NumberText, parseValue, RegoSet, type Value } from './value.ts';

/** Of the text form, which has spaces that JSON has not: at most as many as it has other characters. */
export const RESULT_TEXT_BYTES_MAX = 2 * limits.evaluateResultBytesMax;

/** The bindings in the order of their values. Throws PolicyError (memory) past the bounds of size and depth. */
export function readResult(meter: Meter, text: string): Record<string, unknown>[] {
  const bindings = toJson(meter, parsed(text), limits.evaluateResultDepthMax + 2); // the list and the bindings
  if (text.length > limits.evaluateResultBytesMax / 6) boundResultText(bindings);
  return bindings as Record<string, unknown>[];
}

/** Throws PolicyError (memory) when the result's JSON is too long. */
export function boundResultText(result: unknown): void {
  if (Buffer.byteLength(JSON.stringify(result)) > limits.evaluateResultBytesMax)
    throw new PolicyError('memory', `a value of the policy exceeds ${limits.evaluateResultBytesMax} bytes`);
}

/** The error of a result that is nested past its bound. */
export function tooDeep(): PolicyError {
  return new PolicyError('memory', `the result is nested deeper than ${limits.evaluateResultDepthMax} levels`);
}

function parsed(text: string): Value {
  try {
    return parseValue(text);
  } catch (error) {
    throw error instanceof RangeError ? tooDeep() : error;
  }
}

/** OPA computes with any exponent. JSON.stringify would make null of a number past the doubles. */
function double(text: string): number {
  const number = Number(text);
  if (Number.isFinite(number)) return number;
  throw new PolicyError('memory', 'a number of the result is beyond the doubles, ±1.8e308');
}

function toJson(meter: Meter, value: Value, levels: number): unknown {
  if (typeof value === 'bigint') return double(String(value));
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof NumberText) return double(value.text);
  if (levels === 0) throw tooDeep();
  const items = value instanceof RegoSet ? sortedValues(meter, value.items) : value;
  if (Array.isArray(items)) return items.map((item) => toJson(meter, item, levels - 1));
  // Own members, whatever their names.
  return Object.fromEntries(
    namedMembers(meter, value as Map<Value, Value>).map(([name, item]) => [name, toJson(meter, item, levels - 1)]),
  );
}
