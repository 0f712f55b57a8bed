/** Where nodes stand: top to bottom, yes to the left of no. */
import { Graph, layout } from '@dagrejs/dagre';
import { isPlaced, type Places } from './change.ts';
import { edgeOf, nodeOf, openWays, type PolicyGraph, startOf, type Way, waysOf } from './model.ts';

export const cardWidth = 248;
export const openWidth = 132;
const openHeight = 64;
const textLine = 20;
const charsPerLine = 30;

/** The id of the end of a way that leads nowhere. Ids of nodes have no space. */
export const openId = ({ from, on }: Way) => `open ${from} ${on ?? ''}`;

const linesOf = (text: string) => Math.max(1, Math.ceil(text.length / charsPerLine));
/** How tall a card with these texts is, near enough to keep cards apart. */
export const cardHeight = (texts: readonly string[]) =>
  34 + texts.reduce((sum, text) => sum + linesOf(text) * textLine + 4, 0);

/**
 * @param heights of the cards
 * @returns the place of the top left corner of each node, and of each open end
 */
export function placesOf(graph: PolicyGraph, heights: ReadonlyMap<string, number>): Places {
  return isPlaced(graph) ? keptPlaces(graph, heights) : laidOut(graph, heights);
}

function keptPlaces(graph: PolicyGraph, heights: ReadonlyMap<string, number>): Places {
  const places = new Map(graph.nodes.map(({ id, position = { x: 0, y: 0 } }) => [id, position]));
  for (const way of openWays(graph)) {
    const { x, y } = places.get(way.from) ?? { x: 0, y: 0 };
    const aside = {
      true: -openWidth / 2 - 10,
      false: cardWidth - openWidth / 2 + 10,
      none: (cardWidth - openWidth) / 2,
    };
    places.set(openId(way), { x: x + aside[way.on ?? 'none'], y: y + (heights.get(way.from) ?? 60) + 56 });
  }
  return places;
}

function laidOut(graph: PolicyGraph, heights: ReadonlyMap<string, number>): Places {
  const drawn = new Graph();
  drawn.setGraph({ rankdir: 'TB', nodesep: 36, ranksep: 64, marginx: 0, marginy: 0 });
  drawn.setDefaultEdgeLabel(() => ({}));
  const order = readingOrder(graph);
  for (const id of order) drawn.setNode(id, { width: cardWidth, height: heights.get(id) ?? 60 });
  for (const way of openWays(graph)) drawn.setNode(openId(way), { width: openWidth, height: openHeight });
  // The order in which edges are added decides what stands left: yes comes first. The heuristic against crossings would turn that round.
  for (const way of order.flatMap((id) => waysOf(nodeOf(graph, id)!))) {
    const to = edgeOf(graph, way)?.to;
    drawn.setEdge(way.from, to !== undefined && nodeOf(graph, to) ? to : openId(way));
  }
  layout(drawn, { disableOptimalOrderHeuristic: true });
  const places = new Map<string, { x: number; y: number }>();
  for (const id of drawn.nodes()) {
    const {
      x = 0,
      y = 0,
      width = 0,
      height = 0,
    } = drawn.node(id) as { [K in 'x' | 'y' | 'width' | 'height']?: number };
    places.set(id, { x: x - width / 2, y: y - height / 2 });
  }
  return places;
}

/** The ids of the nodes as they are read: from the start, yes before no, and then what nothing leads to. */
export function readingOrder(graph: PolicyGraph): string[] {
  const seen = new Set<string>();
  const visit = (id: string | undefined) => {
    const node = nodeOf(graph, id);
    if (node === undefined || seen.has(node.id)) return;
    seen.add(node.id);
    for (const way of waysOf(node)) visit(edgeOf(graph, way)?.to);
  };
  visit(startOf(graph)?.id);
  for (const { id } of graph.nodes) visit(id);
  return [...seen];
}
