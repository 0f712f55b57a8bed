/** The bound on how deeply a value may be nested, which keeps recursion over it, here and in Wasm, off the stack's end. */

/** Whether arrays and objects are nested at most `levels` deep in `value`. Cycles are too deep. Linear. */
export function nestsWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (!within(value[i], levels - 1)) return false;
    return true;
  }
  for (const key in value) if (!within((value as Record<string, unknown>)[key], levels - 1)) return false;
  return true;
}

function within(value: unknown, levels: number): boolean {
  return typeof value !== 'object' || value === null || nestsWithin(value, levels);
}
