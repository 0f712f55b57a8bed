/** What a drawing has, and where it stands: laid out by dagre, left to right, or top to bottom where it is narrow. */
import dagre from '@dagrejs/dagre';

export type Look = 'type' | 'relation' | 'centre' | 'bracket';
export type Box = {
  id: string;
  title: string;
  /** What stands below the title. */
  detail?: string;
  look: Look;
  /** The manifest that owns it. */
  owner?: string;
};
/** A bracket `begins` at the first relationship, has its words in the middle and `ends` at the second; `heir`: to what is inherited. */
export type Line = { from: string; to: string; label?: string; look?: 'begins' | 'ends' | 'heir' };
export type Place = { x: number; y: number };
export type Places = ReadonlyMap<string, Place>;

const bracketWidth = 220;

export const widthOf = ({ title, detail = '', look }: Box) =>
  look === 'bracket'
    ? bracketWidth
    : Math.min(240, 44 + Math.max(title.length * 7.6, Math.min(detail.length, 30) * 6.3));
export const heightOf = ({ title, detail, look }: Box) =>
  look === 'bracket'
    ? 12 + Math.ceil(title.length / 32) * 16
    : (look === 'relation' ? 32 : 40) + (detail === undefined ? 0 : Math.ceil(detail.length / 30) * 17);

export function laidOut(boxes: readonly Box[], lines: readonly Line[], isNarrow: boolean): Places {
  // Side by side, the words of two lines that leave one box must not meet.
  const words = Math.max(0, ...lines.map(({ label = '' }) => label.length));
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({
    rankdir: isNarrow ? 'TB' : 'LR',
    nodesep: isNarrow ? Math.max(22, Math.min(100, words * 13 - 60)) : 22,
    ranksep: isNarrow ? 34 : 56,
    marginx: 12,
    marginy: 12,
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const box of boxes) graph.setNode(box.id, { width: widthOf(box), height: heightOf(box) });
  // An edge of dagre without a name of its own is one with the next between the same boxes.
  for (const [index, { from, to, look, label = '' }] of lines.entries())
    if (look !== 'heir') graph.setEdge(from, to, { width: label.length * 6.5, height: 14 }, `e${index}`);
  dagre.layout(graph);
  return new Map(
    boxes.map((box) => {
      const { x, y, width, height } = graph.node(box.id);
      return [box.id, { x: x - width / 2, y: y - height / 2 }];
    }),
  );
}

/** As high as what is drawn, within what a window shows. */
export function heightOfAll(boxes: readonly Box[], places: Places): string {
  const bottom = Math.max(0, ...boxes.map((box) => (places.get(box.id)?.y ?? 0) + heightOf(box)));
  return `clamp(220px, ${Math.round(bottom * 1.1) + 48}px, 68vh)`;
}

type Side = 'left' | 'right' | 'top' | 'bottom';
const opposite = { left: 'right', right: 'left', top: 'bottom', bottom: 'top' } as const;
type Rect = Place & { width: number; height: number };
export type Rects = ReadonlyMap<string, Rect>;

export const rectsOf = (boxes: readonly Box[], places: Places): Rects =>
  new Map(
    boxes.map((box) => [
      box.id,
      { ...(places.get(box.id) ?? { x: 0, y: 0 }), width: widthOf(box), height: heightOf(box) },
    ]),
  );

const middleOf = ({ x, y, width, height }: Rect) => ({ x: x + width / 2, y: y + height / 2 });
/** The room between two of one axis; negative where they stand beside each other. */
const gapOf = (a: number, aSize: number, b: number, bSize: number) => Math.max(b - (a + aSize), a - (b + bSize));

/** The sides of its boxes that a line of a bracket joins: it leaves the relationships across the way that they lead. */
export function sidesOf({ from, to, look }: Line, rects: Rects, isNarrow: boolean): { source: Side; target: Side } {
  const [a, b] = [rects.get(from), rects.get(to)];
  if (a === undefined || b === undefined) return { source: 'right', target: 'left' };
  const isBeside = look === 'heir' ? gapOf(a.x, a.width, b.x, b.width) > gapOf(a.y, a.height, b.y, b.height) : isNarrow;
  const isAfter = isBeside ? middleOf(b).x > middleOf(a).x : middleOf(b).y > middleOf(a).y;
  const onward: Side = isBeside ? (isAfter ? 'right' : 'left') : isAfter ? 'bottom' : 'top';
  if (look === 'begins') return { source: onward, target: isNarrow ? 'top' : 'left' };
  if (look === 'ends') return { source: isNarrow ? 'bottom' : 'right', target: opposite[onward] };
  return { source: onward, target: opposite[onward] };
}
