/**
 * How the nodes and edges of a drawn policy hang together: one start, known ends, one way for each answer, no cycle, no
 * island. A condition node needs a way on for at least one of its answers; an answer without an edge denies.
 */
import type { GraphNode, PolicyGraph } from './schema.ts';

/** A place in the policy's body (RFC 6901), the node concerned, and what is wrong and how to mend it. */
export interface GraphError {
  pointer: string;
  node?: string;
  detail: string;
}

/** Every error in how the graph hangs together. Ids are compared as they are. */
export function checkStructure(graph: PolicyGraph): GraphError[] {
  const errors = [...checkIds(graph), ...checkEdges(graph)];
  // Ways can only be followed where ids and edges are sound.
  if (errors.length > 0) return errors;
  return [...checkWaysOn(graph), ...checkCycles(graph), ...checkReach(graph)];
}

const nodePointer = (graph: PolicyGraph, node: GraphNode) => `/graph/nodes/${graph.nodes.indexOf(node)}`;

function checkIds(graph: PolicyGraph): GraphError[] {
  const errors: GraphError[] = [];
  const seen = new Set<string>();
  for (const [index, { id }] of graph.nodes.entries()) {
    if (seen.has(id)) {
      errors.push({
        pointer: `/graph/nodes/${index}/id`,
        node: id,
        detail: `another node is also called ${id}: rename one`,
      });
    }
    seen.add(id);
  }
  const starts = graph.nodes.filter(({ type }) => type === 'start');
  if (starts.length === 0) errors.push({ pointer: '/graph/nodes', detail: 'no node has type start: add one' });
  for (const extra of starts.slice(1)) {
    errors.push({
      pointer: nodePointer(graph, extra),
      node: extra.id,
      detail: `is a second start besides ${starts[0]!.id}: remove one`,
    });
  }
  return errors;
}

function checkEdges(graph: PolicyGraph): GraphError[] {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const taken = new Map<string, number>();
  const errors: GraphError[] = [];
  for (const [index, { from, to, on }] of graph.edges.entries()) {
    const pointer = `/graph/edges/${index}`;
    const source = nodes.get(from);
    const refuse = (field: string, node: string, detail: string) =>
      errors.push({ pointer: `${pointer}${field}`, node, detail });
    if (!source) refuse('/from', from, `no node is called ${from}`);
    if (!nodes.has(to)) refuse('/to', to, `no node is called ${to}`);
    if (nodes.get(to)?.type === 'start') refuse('/to', to, `leads to the start ${to}, to which nothing leads`);
    if (source?.type === 'outcome') refuse('/from', from, `leaves the outcome ${from}, where the decision ends`);
    if (source?.type === 'start' && on !== undefined)
      refuse('/on', from, `leaves the start ${from}, which has no answer: leave out on`);
    if (source?.type === 'condition' && on === undefined) {
      refuse('/on', from, `leaves the condition ${from}: say on "true" or on "false"`);
    } else if (source && source.type !== 'outcome') {
      const way = `${from} ${on}`;
      const earlier = taken.get(way);
      if (earlier !== undefined)
        refuse('', from, `leaves ${from}${on ? ` on ${on}` : ''} like edge ${earlier}: keep one of them`);
      taken.set(way, earlier ?? index);
    }
  }
  return errors;
}

function checkWaysOn(graph: PolicyGraph): GraphError[] {
  const left = new Set(graph.edges.map(({ from }) => from));
  return graph.nodes
    .filter(({ id, type }) => type !== 'outcome' && !left.has(id))
    .map((node) => ({
      pointer: nodePointer(graph, node),
      node: node.id,
      detail:
        node.type === 'start'
          ? `the start ${node.id} leads nowhere: draw an edge to the first node`
          : `the condition ${node.id} leads nowhere: draw an edge for at least one of its answers`,
    }));
}

const successors = (graph: PolicyGraph) => {
  const next = new Map<string, string[]>(graph.nodes.map(({ id }) => [id, []]));
  for (const { from, to } of graph.edges) next.get(from)!.push(to);
  return next;
};

function checkCycles(graph: PolicyGraph): GraphError[] {
  const next = successors(graph);
  const done = new Set<string>();
  const trail: string[] = [];
  const errors: GraphError[] = [];
  const visit = (id: string) => {
    const begin = trail.indexOf(id);
    if (begin >= 0) {
      const node = graph.nodes.find((candidate) => candidate.id === id)!;
      const round = [...trail.slice(begin), id].join(' → ');
      errors.push({
        pointer: nodePointer(graph, node),
        node: id,
        detail: `is in a cycle: ${round}; remove one of these edges`,
      });
    }
    if (begin >= 0 || done.has(id)) return;
    trail.push(id);
    for (const follower of next.get(id)!) visit(follower);
    trail.pop();
    done.add(id);
  };
  for (const { id } of graph.nodes) visit(id);
  return errors;
}

function checkReach(graph: PolicyGraph): GraphError[] {
  const next = successors(graph);
  const reached = new Set(graph.nodes.filter(({ type }) => type === 'start').map(({ id }) => id));
  for (const id of reached) for (const follower of next.get(id)!) reached.add(follower);
  return graph.nodes
    .filter(({ id }) => !reached.has(id))
    .map((node) => ({
      pointer: nodePointer(graph, node),
      node: node.id,
      detail: `cannot be reached from the start: draw an edge to ${node.id} or remove it`,
    }));
}
