/** A drawn policy as the nodes and edges of React Flow, and back. */
import type { Edge, MarkerType, Node } from '@xyflow/react';
import type { Places } from './change.ts';
import { openId } from './layout.ts';
import {
  edgeOf,
  type GraphNode,
  nodeOf,
  openWays,
  type PolicyGraph,
  type Problem,
  type ProblemsOfNodes,
  type Way,
  waysOf,
} from './model.ts';

export type CardData = {
  node: GraphNode;
  /** What the card says; the first line of several is how they are taken together. */
  lines: readonly string[];
  problems: readonly Problem[];
  isTaken: boolean;
  isMarked: boolean;
};
export type CardNode = Node<CardData, 'start' | 'condition' | 'outcome'>;
export type OpenNode = Node<{ way: Way; isTaken: boolean }, 'open'>;
export type FlowNode = CardNode | OpenNode;
export type WayEdge = Edge<{ way: Way; isOpen: boolean; isTaken: boolean }, 'way'>;

export type Drawn = {
  graph: PolicyGraph;
  places: Places;
  lines: ReadonlyMap<string, readonly string[]>;
  problems: ProblemsOfNodes;
  path: readonly string[];
  open: string | undefined;
  marked: string | undefined;
};

const none: readonly Problem[] = [];

/**
 * @param before the nodes that are drawn now: one that did not change is given back as the same object, so that it is not drawn again
 */
export function flowNodes(
  { graph, places, lines, problems, path, open, marked }: Drawn,
  before: readonly FlowNode[],
): FlowNode[] {
  const known = new Map(before.map((node) => [node.id, node]));
  const card = (node: GraphNode): FlowNode => ({
    id: node.id,
    type: node.type,
    position: places.get(node.id) ?? { x: 0, y: 0 },
    selected: node.id === open,
    data: {
      ...{ node, lines: lines.get(node.id) ?? [], problems: problems.get(node.id) ?? none },
      isTaken: path.includes(node.id),
      isMarked: node.id === marked,
    },
  });
  const end = (way: Way): FlowNode => ({
    ...{ id: openId(way), type: 'open', position: places.get(openId(way)) ?? { x: 0, y: 0 } },
    ...{ draggable: false, connectable: false, selected: false },
    data: { way, isTaken: false },
  });
  return [...graph.nodes.map(card), ...openWays(graph).map(end)].map((node) => kept(known.get(node.id), node));
}

function kept(before: FlowNode | undefined, now: FlowNode): FlowNode {
  if (before === undefined || before.type !== now.type) return now;
  const data = JSON.stringify(before.data) === JSON.stringify(now.data) ? before.data : now.data;
  // Errors arrive while somebody drags: the node stays in the hand.
  const position = before.dragging ? before.position : now.position;
  const isSame =
    data === before.data &&
    before.selected === now.selected &&
    before.position.x === position.x &&
    before.position.y === position.y;
  // What was measured of it stays, or it would not be shown until it is measured again.
  return isSame ? before : ({ ...before, ...now, position, data } as FlowNode);
}

const arrow = (isTaken: boolean) => ({
  ...{ type: 'arrowclosed' as MarkerType, width: 22, height: 22, markerUnits: 'userSpaceOnUse' },
  color: isTaken ? 'var(--accent)' : 'var(--line-strong)',
});

export function flowEdges(graph: PolicyGraph, path: readonly string[]): WayEdge[] {
  const taken = new Set(path.slice(1).map((id, index) => `${path[index]} ${id}`));
  return graph.nodes.flatMap(waysOf).map((way) => {
    const to = edgeOf(graph, way)?.to;
    const isOpen = nodeOf(graph, to) === undefined;
    const isTaken = !isOpen && taken.has(`${way.from} ${to}`);
    return {
      id: `${way.from} ${way.on ?? ''}`,
      type: 'way',
      source: way.from,
      sourceHandle: way.on ?? null,
      target: isOpen ? openId(way) : (to as string),
      markerEnd: arrow(isTaken),
      data: { way, isOpen, isTaken },
    };
  });
}

/** The way that a connection of React Flow begins with. */
export const wayOfConnection = (source: string, handle: string | null | undefined): Way => ({
  from: source,
  on: handle === 'true' || handle === 'false' ? handle : undefined,
});

/** Where the cards stand; open ends stand where their question is. */
export const placesOfNodes = (nodes: readonly FlowNode[]): Places =>
  new Map(nodes.filter(({ type }) => type !== 'open').map(({ id, position }) => [id, position]));
