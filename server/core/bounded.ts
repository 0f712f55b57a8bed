/**
 * What a value of JSON must be before anything works on it: not nested too deeply, which keeps recursion over it, here
 * and in Wasm, off the stack's end, and without numbers beyond the doubles, which JSON.parse reads as Infinity and
 * JSON.stringify writes as null.
 */

/** Whether arrays and objects are nested at most `levels` deep in `value`, and all numbers finite. Cycles are too deep. Linear. */
export function isBounded(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return isFiniteOrNoNumber(value);
  if (levels === 0) return false;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (!within(value[i], levels - 1)) return false;
    return true;
  }
  for (const key in value) if (!within((value as Record<string, unknown>)[key], levels - 1)) return false;
  return true;
}

function within(value: unknown, levels: number): boolean {
  return typeof value !== 'object' || value === null ? isFiniteOrNoNumber(value) : isBounded(value, levels);
}

function isFiniteOrNoNumber(value: unknown): boolean {
  return typeof value !== 'number' || Number.isFinite(value);
}
