/** The outline: every way and where it leads, in reading order. */
import { readingOrder } from './layout.ts';
import { edgeOf, type GraphNode, nodeOf, type PolicyGraph, startOf, type Way, waysOf } from './model.ts';

export type Row = {
  key: string;
  depth: number;
  /** The way that leads here; undefined for a start, and for what nothing leads to. */
  way?: Way;
  /** undefined: the way leads nowhere and denies. */
  node?: GraphNode;
  /** The node stands further above, with what follows it. */
  isAgain: boolean;
};

export function rowsOf(graph: PolicyGraph): Row[] {
  const rows: Row[] = [];
  const seen = new Set<string>();
  const visit = (node: GraphNode | undefined, depth: number, way?: Way) => {
    const isAgain = node !== undefined && seen.has(node.id);
    const key = way ? `${way.from} ${way.on ?? ''}` : (node?.id ?? '');
    rows.push({ key, depth, isAgain, ...(way && { way }), ...(node && { node }) });
    if (node === undefined || isAgain) return;
    seen.add(node.id);
    const next = node.type === 'start' ? depth : depth + 1;
    for (const on of waysOf(node)) visit(nodeOf(graph, edgeOf(graph, on)?.to), next, on);
  };
  const start = startOf(graph);
  if (start) visit(start, 0);
  for (const id of readingOrder(graph)) if (!seen.has(id)) visit(nodeOf(graph, id), 0);
  return rows;
}
