/** A drawn policy as the editor holds it. Its shape is the server's own (crds/graph.ts). */
import type { Condition, GraphEdge, GraphNode, PolicyGraph } from '../../../../../crds/graph.ts';
import { ordered } from '../same.ts';

export type { Condition, GraphEdge, GraphNode, PolicyGraph };
export type On = 'true' | 'false' | undefined;
/** Where a decision goes on from a node: the one way of a start, or an answer of a question. */
export type Way = { from: string; on: On };
export type Problem = { pointer: string; detail: string; node?: string };

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** What can be drawn of any value: a draft that an older portal kept may have another shape. */
export function readGraph(value: unknown): PolicyGraph {
  const { nodes, edges } = isObject(value) ? value : {};
  const isNode = (node: unknown): node is GraphNode =>
    isObject(node) && typeof node.id === 'string' && ['start', 'condition', 'outcome'].includes(String(node.type));
  const isEdge = (edge: unknown): edge is GraphEdge =>
    isObject(edge) && typeof edge.from === 'string' && typeof edge.to === 'string';
  return { nodes: listOf(nodes).filter(isNode), edges: listOf(edges).filter(isEdge) };
}

export const nodeOf = ({ nodes }: PolicyGraph, id: string | undefined) => nodes.find((node) => node.id === id);
export const startOf = ({ nodes }: PolicyGraph) => nodes.find(({ type }) => type === 'start');
export const edgeOf = ({ edges }: PolicyGraph, { from, on }: Way) =>
  edges.find((edge) => edge.from === from && edge.on === on);

const answers: readonly On[] = ['true', 'false'];
/** The ways that leave a node, yes before no. */
export const waysOf = ({ id, type }: GraphNode): Way[] =>
  type === 'outcome' ? [] : (type === 'start' ? [undefined] : answers).map((on) => ({ from: id, on }));

/** Ways that lead nowhere: they deny. */
export const openWays = (graph: PolicyGraph): Way[] =>
  graph.nodes.flatMap(waysOf).filter((way) => nodeOf(graph, edgeOf(graph, way)?.to) === undefined);

export type ProblemsOfNodes = ReadonlyMap<string, readonly Problem[]>;

/** Errors by the node that they concern, and those that concern none. */
export function sortProblems(graph: PolicyGraph, problems: readonly Problem[]) {
  const ofNodes = new Map<string, Problem[]>();
  const rest: Problem[] = [];
  for (const problem of problems) {
    const [, list, index = ''] = /^\/graph\/(nodes|edges)\/(\d+)/.exec(problem.pointer) ?? [];
    const found =
      problem.node ?? (list === 'nodes' ? graph.nodes[Number(index)]?.id : graph.edges[Number(index)]?.from);
    if (list === undefined || found === undefined || nodeOf(graph, found) === undefined) rest.push(problem);
    else ofNodes.set(found, [...(ofNodes.get(found) ?? []), problem]);
  }
  return { ofNodes: ofNodes as ProblemsOfNodes, rest };
}

/** The part of a pointer behind the node: conditions/0/path. */
export const fieldOf = ({ pointer }: Problem) => pointer.replace(/^\/graph\/nodes\/\d+\/?/, '');

/** Whether `to` can be reached from `from`. */
export function leadsTo({ edges }: PolicyGraph, from: string, to: string): boolean {
  const seen = new Set([from]);
  for (const id of seen) for (const edge of edges) if (edge.from === id) seen.add(edge.to);
  return seen.has(to);
}

/** What a condition or a node says when it says nothing. */
const defaults: Record<string, string> = { match: 'all', target: 'resource', whose: 'subject' };
const stated = <T extends object>(one: T) =>
  Object.fromEntries(Object.entries(one).filter(([name, value]) => defaults[name] !== value));
const byText = (values: readonly unknown[]) => values.map(ordered).sort();

/** Whether two graphs mean the same: nodes and edges have no order, nor have the members of an object, and a default may be left out. */
export const isSameGraph = (a: PolicyGraph, b: PolicyGraph) => meaningOf(a) === meaningOf(b);
const meaningOf = ({ nodes, edges }: PolicyGraph) =>
  ordered([
    byText(nodes.map((node) => ({ ...stated(node), conditions: node.conditions?.map(stated) }))),
    byText(edges.map(({ from, on, to }) => ({ from, on, to }))),
  ]);
