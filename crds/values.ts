/** What manifests and requests share about JSON values: pointers to them (RFC 6901), and what an object is. */

/** One step of a JSON pointer that names a member. */
export function pointerStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The member that one step of a JSON pointer names. */
export function pointerName(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
