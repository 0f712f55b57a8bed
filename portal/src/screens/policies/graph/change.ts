/** Changes of a drawn policy. Each gives another graph and leaves the one that it was given as it is. */
import {
  type Condition,
  edgeOf,
  type GraphNode,
  leadsTo,
  nodeOf,
  type PolicyGraph,
  type Way,
  waysOf,
} from './model.ts';

export type Addition = 'condition' | 'allow' | 'deny';
/** How far a node stands below the one before it, where nodes have places. */
export const rowHeight = 150;

/** A place is dropped by naming it `undefined`, as is every optional field. */
export type NodePart = { [K in keyof Omit<GraphNode, 'id' | 'type'>]?: GraphNode[K] | undefined };

const words: { [K in Addition]: string } = { condition: 'question', allow: 'allow', deny: 'deny' };

export function freeId({ nodes }: PolicyGraph, base: string): string {
  const taken = new Set(nodes.map(({ id }) => id));
  let id = base;
  for (let number = 2; taken.has(id); number += 1) id = `${base}-${number}`;
  return id;
}

/** Where a way is led to; its earlier edge goes. */
const lead = (graph: PolicyGraph, { from, on }: Way, to: string): PolicyGraph => ({
  ...graph,
  edges: [
    ...graph.edges.filter((edge) => edge.from !== from || edge.on !== on),
    { from, to, ...(on !== undefined && { on }) },
  ],
});

/**
 * A new node on a way. A question that is put on an edge goes on by yes to where the edge led; its no leads nowhere yet.
 * An outcome ends the way, so it is only for one that leads nowhere.
 */
export function addOnWay(graph: PolicyGraph, way: Way, addition: Addition): { graph: PolicyGraph; id: string } {
  const id = freeId(graph, words[addition]);
  const next = edgeOf(graph, way)?.to;
  const node: GraphNode =
    addition === 'condition'
      ? { id, type: 'condition', conditions: [{ type: 'relationship' }] }
      : { id, type: 'outcome', outcome: addition };
  const { nodes, position } = makeRoom(graph, way, next);
  const added = { ...graph, nodes: [...nodes, { ...node, ...(position && { position }) }] };
  const led = lead(added, way, id);
  const isOn = addition === 'condition' && nodeOf(graph, next) !== undefined;
  return { graph: isOn ? lead(led, { from: id, on: 'true' }, next as string) : led, id };
}

/** In a drawing whose nodes have places, everything below moves down by a row. */
function makeRoom(graph: PolicyGraph, { from, on }: Way, next: string | undefined) {
  const above = nodeOf(graph, from)?.position;
  if (above === undefined || !isPlaced(graph)) return { nodes: graph.nodes, position: undefined };
  const aside = on === 'true' ? -rowHeight : on === 'false' ? rowHeight : 0;
  const position = { x: above.x + aside, y: above.y + rowHeight };
  const nodes = graph.nodes.map((node) =>
    node.position && next !== undefined && leadsTo(graph, next, node.id)
      ? { ...node, position: { x: node.position.x, y: node.position.y + rowHeight } }
      : node,
  );
  return { nodes, position };
}

/** Whether somebody put the nodes where they are; otherwise they are laid out. */
export const isPlaced = ({ nodes }: PolicyGraph) => nodes.every(({ position }) => position !== undefined);

/** Without a node. What led to it leads to where its first way led, so that the rest stays connected. */
export function removeNode(graph: PolicyGraph, id: string): PolicyGraph {
  const node = nodeOf(graph, id);
  if (node === undefined || node.type === 'start') return graph;
  const on = waysOf(node)
    .map((way) => edgeOf(graph, way)?.to)
    .find((to) => to !== undefined);
  const edges = graph.edges.flatMap((edge) => {
    if (edge.from === id) return [];
    if (edge.to !== id) return [edge];
    return on === undefined ? [] : [{ ...edge, to: on }];
  });
  return { nodes: graph.nodes.filter((one) => one.id !== id), edges };
}

export function mayConnect(graph: PolicyGraph, { from, on }: Way, to: string): boolean {
  const [source, target] = [nodeOf(graph, from), nodeOf(graph, to)];
  if (source === undefined || target === undefined || target.type === 'start') return false;
  return waysOf(source).some((way) => way.on === on) && !leadsTo(graph, to, from);
}

/** @param to undefined: the way leads nowhere */
export function connect(graph: PolicyGraph, way: Way, to: string | undefined): PolicyGraph {
  if (to === undefined)
    return { ...graph, edges: graph.edges.filter(({ from, on }) => from !== way.from || on !== way.on) };
  return mayConnect(graph, way, to) ? lead(graph, way, to) : graph;
}

/** Without the members that are undefined, which the server refuses as it refuses null. */
export const given = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;

export const changeNode = (graph: PolicyGraph, id: string, part: NodePart): PolicyGraph => ({
  ...graph,
  nodes: graph.nodes.map((node) => (node.id === id ? (given({ ...node, ...part }) as GraphNode) : node)),
});

export function changeCondition(node: GraphNode, index: number, condition: Condition | undefined): NodePart {
  const conditions = (node.conditions ?? []).flatMap((one, at) =>
    at !== index ? [one] : condition === undefined ? [] : [given(condition)],
  );
  return { conditions };
}

/** The same graph with another name for a node; as it is where the name is taken or not allowed. */
export function renameNode(graph: PolicyGraph, id: string, name: string): PolicyGraph {
  if (!mayBeCalled(graph, id, name)) return graph;
  const named = (one: string) => (one === id ? name : one);
  return {
    nodes: graph.nodes.map((node) => ({ ...node, id: named(node.id) })),
    edges: graph.edges.map((edge) => ({ ...edge, from: named(edge.from), to: named(edge.to) })),
  };
}
export const mayBeCalled = (graph: PolicyGraph, id: string, name: string) =>
  name === id || (/^[A-Za-z0-9_][A-Za-z0-9_.:-]*$/.test(name) && nodeOf(graph, name) === undefined);

export type Places = ReadonlyMap<string, { x: number; y: number }>;

export const placeNodes = (graph: PolicyGraph, places: Places): PolicyGraph => ({
  ...graph,
  nodes: graph.nodes.map((node) => {
    const at = places.get(node.id) ?? node.position;
    return at ? { ...node, position: { x: Math.round(at.x), y: Math.round(at.y) } } : node;
  }),
});

/** The nodes go back to where the layout puts them. */
export const unplaceNodes = (graph: PolicyGraph): PolicyGraph => ({
  ...graph,
  nodes: graph.nodes.map(({ position: _, ...node }) => node),
});
