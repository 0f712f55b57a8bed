/** Positions in a file of manifests: where a JSON pointer is, and where a line of Rego inside it is. */
import { type Document, isMap, isScalar, isSeq, type LineCounter, Scalar } from 'yaml';
import { pointerName } from '../../crds/values.ts';
import type { ProblemPlace } from '../../server/core/problems.ts';

/** `policies.yaml:12:5` */
export function place(path: string, lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `${path}:${line}:${col}`;
}

/** Where the fields of a spec are. A field that is a block of text has its lines below its own. */
export type Spots = ReadonlyMap<string, { line: number; block: boolean }>;

/** Offset of what a pointer names, or of the innermost entity around it that is there. */
function offsetOf(document: Document.Parsed, pointer: string): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range[0] ?? 0;
  for (const step of pointer.split('/').slice(1).map(pointerName)) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
      if (!pair || !isScalar(pair.key)) return offset;
      offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      if (node === undefined) return offset;
      offset = (node as { range?: [number, number, number] }).range?.[0] ?? offset;
    } else return offset;
  }
  return offset;
}

/** The fields of the spec, for the errors of the rooms: a line each, because a parsed document takes 50 times as much memory. */
function spotsOf(lines: LineCounter, document: Document.Parsed): Spots {
  const spots = new Map<string, { line: number; block: boolean }>();
  const spec = isMap(document.contents) ? document.contents.get('spec') : undefined;
  for (const { key, value } of isMap(spec) ? spec.items : []) {
    if (!isScalar(key) || !key.range) continue;
    const block = isScalar(value) && value.type === Scalar.BLOCK_LITERAL;
    spots.set(String(key.value), { line: lines.linePos(key.range[0]).line, block });
  }
  return spots;
}

/** A function that finds fields of the spec in a file. */
function within(path: string, spots: Spots): (place: ProblemPlace) => string | undefined {
  return ({ pointer, line }) => {
    const spot = spots.get(pointerName(pointer.split('/')[2] ?? ''));
    if (spot === undefined) return undefined;
    // The lines of a block scalar are lines of the file.
    return `${path}:${spot.block && line !== undefined ? spot.line + line : spot.line}`;
  };
}

export const locator = { offsetOf, spotsOf, in: within };
