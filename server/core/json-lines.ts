/** Lines of JSON, as files beside manifests have them. */

export type RefusedLine = { line: number; detail: string };

/**
 * Each line that is not empty, in their order.
 * @param faultOf what is wrong with a value; undefined: it is one
 */
export function* readJsonLines<T>(
  lines: readonly string[],
  faultOf: (value: unknown) => string | undefined,
): Generator<{ line: number; value: T } | RefusedLine> {
  for (const [index, text] of lines.entries()) {
    if (text.trim() === '') continue;
    const line = index + 1;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      yield { line, detail: `The line is not JSON: ${(error as Error).message}` };
      continue;
    }
    const detail = faultOf(value);
    yield detail === undefined ? { line, value: value as T } : { line, detail };
  }
}
