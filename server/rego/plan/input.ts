/** Taking an input as it is, without writing it as text first, when it is what JSON.parse gives and within the bounds. */
import { limits } from '../../core/limits.ts';
import { encodeInput } from '../input.ts';
import type { PlanValue } from './values.ts';

/**
 * The input as a plan reads it. What is no plain JSON, or may be too large, goes through its text, as for the Wasm: that
 * also replaces halves of surrogate pairs.
 * @throws PolicyError (input) for what is not JSON or exceeds its bounds
 */
export function planInputOf(input: unknown): PlanValue | undefined {
  if (input === undefined) return undefined;
  if (weigh(input, limits.inputDepthMax) <= limits.evaluateInputBytesMax) return input as PlanValue;
  return JSON.parse(encodeInput(input)) as PlanValue;
}

/** At least the bytes of its text; NaN when it has to go through its text, whatever its size. */
function weigh(value: unknown, levels: number): number {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? 2 + value.length * 6 : Number.NaN;
    case 'number':
      return Number.isFinite(value) ? 25 : Number.NaN;
    case 'boolean':
      return 5;
    case 'object':
      return value === null ? 4 : weighParts(value, levels);
    default:
      return Number.NaN;
  }
}

function weighParts(value: object, levels: number): number {
  if (levels === 0) return Number.NaN;
  let bytes = 2;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) bytes += 1 + weigh(value[i], levels - 1);
    return bytes;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return Number.NaN;
  // Twice as fast as Object.keys; both prototypes have nothing to enumerate.
  for (const key in value) {
    const part = (value as Record<string, unknown>)[key];
    if (!key.isWellFormed()) return Number.NaN;
    bytes += 4 + key.length * 6;
    bytes += typeof part === 'string' && part.isWellFormed() ? 2 + part.length * 6 : weigh(part, levels - 1);
  }
  return bytes;
}
