/** What is marked in the source and in the answer at once: a node of a drawing, or a line. Going there takes the focus along. */
import { useEffect, useMemo, useState } from 'react';
import type { Place } from '../../why/places.ts';
import type { NodeLines } from './shapes.ts';

export type Mark = Place & {
  /** Where somebody chose it. */
  by: 'source' | 'trace';
  /** The focus goes to where it is marked on the other side. */
  goes?: true;
};
export type Marking = { mark: Mark | undefined; set: (mark: Mark) => void };

/** @param line of the address */
export function useMarking(line: number | undefined): Marking {
  const [mark, set] = useState<Mark>();
  useEffect(() => {
    if (line !== undefined) set((before) => (before?.line === line ? before : { line, by: 'trace' }));
  }, [line]);
  return useMemo(() => ({ mark, set }), [mark]);
}

const taken = new WeakSet<Mark>();
/** Whether the focus goes to this side now: once for each mark, also when its column is folded and opened again. */
export function takesFocus(mark: Mark | undefined, side: Mark['by']): mark is Mark {
  if (mark?.goes !== true || mark.by === side || taken.has(mark)) return false;
  taken.add(mark);
  return true;
}

export const nodeAtLine = (lines: NodeLines = [], line: number | undefined) =>
  line === undefined ? undefined : lines.find(({ start, end }) => start <= line && line <= end)?.node;

/** The node and the lines of a mark, as far as the converter says which belong together. */
export function placeOf(mark: Mark | undefined, nodeLines: NodeLines | undefined): { place: Place; lines: number[] } {
  const node = mark?.node ?? nodeAtLine(nodeLines, mark?.line);
  const { line } = mark ?? {};
  const ofNode = (nodeLines ?? []).filter((one) => one.node === node);
  const lines = ofNode.flatMap(({ start, end }) =>
    Array.from({ length: end - start + 1 }, (_, index) => start + index),
  );
  return {
    place: { ...(node !== undefined && { node }), ...(line !== undefined && { line }) },
    lines: lines.length > 0 || line === undefined ? lines : [line],
  };
}
