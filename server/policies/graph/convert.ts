/**
 * A drawn policy as Rego that a person can read and keep. Each condition node becomes one rule, whose value is where its
 * ways end: linear in the graph's size also where ways meet again, because a rule is evaluated once for a decision, and
 * exactly one outcome, because a rule has one value. (Rules that say when a node is reached took 14 times the budget.)
 */
import { type Bodies, helperFunctions, literal, renderCondition } from './render.ts';
import type { GraphNode, PolicyGraph } from './schema.ts';

const stringLiterals = /"(?:[^"\\]|\\.)*"/g;

/** A part of the module, and the node that it was made from. */
type Section = { text: string; node?: string };
/** Lines of the Rego that were made from a node; a node has more than one of these where its rules stand apart. */
export type NodeLines = { node: string; start: number; end: number };

/**
 * The Rego module (v1 syntax, formatted as `opa fmt` does) of a graph without errors (checkGraph): package
 * accord.graph with `outcome`, and `reason` and `obligations` where the reached outcome has them.
 */
export const graphToRego = (graph: PolicyGraph): string => textOf(sectionsOf(graph));

const textOf = (sections: readonly Section[]) => `${sections.map(({ text }) => text).join('\n\n')}\n`;

/** Which lines of the Rego come from which node, in the order of the lines; undefined when it is not what the graph becomes today. */
export function linesOfNodes(graph: PolicyGraph, rego: string): NodeLines[] | undefined {
  const sections = sectionsOf(graph);
  if (textOf(sections) !== rego) return undefined;
  let next = 1;
  return sections.flatMap(({ text, node }) => {
    const start = next;
    const end = start + text.split('\n').length - 1;
    next = end + 2;
    return node === undefined ? [] : [{ node, start, end }];
  });
}

function sectionsOf(graph: PolicyGraph): Section[] {
  const nodes = inOrder(graph);
  const outcomes = nodes.filter(({ type }) => type === 'outcome');
  const answers = (rule: string, value: (node: GraphNode) => unknown): Section[] =>
    outcomes
      .filter((node) => value(node) !== undefined)
      .map((node) => ({
        node: node.id,
        text: `${rule} := ${literal(value(node))} if reached == ${literal(node.id)}`,
      }));
  const names = ruleNames(nodes);
  const wayOf = ways(graph, names);
  const steps = nodes
    .filter(({ type }) => type === 'condition')
    .flatMap((node) => renderNode(node, names, wayOf).map((text) => ({ node: node.id, text })));
  const code = steps.map(({ text }) => text.replace(stringLiterals, '""')).join('\n');
  const helpers = Object.entries(helperFunctions)
    .filter(([called]) => code.includes(`${called}(`))
    .map(([, text]) => ({ text }));
  const start = graph.nodes.find(({ type }) => type === 'start')!;
  const reached = `# The outcome where the decision ends, null where a way leads nowhere.\nreached := ${wayOf(start.id)}`;
  return [
    { text: '# Made from the drawn policy: change the drawing, not this text.\npackage accord.graph' },
    { text: 'default outcome := "deny"' },
    ...answers('outcome', ({ outcome }) => outcome),
    ...answers('reason', ({ reason }) => reason),
    ...answers('obligations', ({ obligations }) => obligations),
    { node: start.id, text: reached },
    ...steps,
    ...helpers,
  ];
}

/** The nodes without the start, each after all that lead to it. */
function inOrder(graph: PolicyGraph): GraphNode[] {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const order: GraphNode[] = [];
  const seen = new Set<string>();
  const visit = (id: string) => {
    if (seen.has(id)) return;
    seen.add(id);
    // Last first: what is visited last comes first, and the way of "true" should be read before that of "false".
    const ways = graph.edges.filter(({ from }) => from === id).sort((a, b) => (a.on ?? '').localeCompare(b.on ?? ''));
    for (const { to } of ways) visit(to);
    order.unshift(nodes.get(id)!);
  };
  visit(graph.nodes.find(({ type }) => type === 'start')!.id);
  return order.slice(1);
}

/** Identifiers for node ids, which may hold characters that Rego's names may not; different for different ids. */
function ruleNames(nodes: GraphNode[]): Map<string, string> {
  const taken = new Set<string>();
  const names = new Map<string, string>();
  for (const { id } of nodes) {
    const plain = id.replace(/[^A-Za-z0-9_]/g, '_');
    let name = plain;
    for (let number = 2; taken.has(name); number += 1) name = `${plain}_${number}`;
    taken.add(name);
    names.set(id, name);
  }
  return names;
}

/** What the way from a node is worth (on an answer, where it has some): an outcome's id, or the next node's rule. */
type WayOf = (id: string, on?: 'true' | 'false') => string;

function ways({ nodes, edges }: PolicyGraph, names: Map<string, string>): WayOf {
  const outcomes = new Set(nodes.filter(({ type }) => type === 'outcome').map(({ id }) => id));
  return (id, on) => {
    const to = edges.find((edge) => edge.from === id && edge.on === on)?.to;
    if (to === undefined) return 'null';
    return outcomes.has(to) ? literal(to) : `at_${names.get(to)}`;
  };
}

function rule(head: string, body: string[], otherwise?: string): string {
  if (body.length === 1 && otherwise === undefined) return `${head} if ${body[0]}`;
  const orElse = otherwise === undefined ? '' : ` else := ${otherwise}`;
  return `${head} if {\n${body.map((line) => `\t${line}\n`).join('')}}${orElse}`;
}

/** A body that looks through a list would look again for each match of an earlier one: it gets a rule of its own. */
const isPlain = (bodies: Bodies) => bodies.length === 1 && !bodies[0]!.some((line) => line.startsWith('some '));

function renderNode(
  { id, match = 'all', conditions = [] }: GraphNode,
  names: Map<string, string>,
  wayOf: WayOf,
): string[] {
  const name = names.get(id)!;
  const tests = conditions.map(renderCondition);
  const helpers: string[] = [];
  const define = (helper: string, bodies: Bodies) => {
    helpers.push(...bodies.map((body) => rule(helper, body)));
    return helper;
  };
  let body: string[];
  if (match === 'none') body = [`not ${define(`any_${name}`, tests.flat())}`];
  else if (match === 'any' && tests.flat().length > 1) body = [define(`any_${name}`, tests.flat())];
  else if (tests.flat().length === 1) body = tests[0]![0]!;
  else
    body = tests.flatMap((bodies, index) =>
      isPlain(bodies) ? bodies[0]! : [define(`part_${index + 1}_${name}`, bodies)],
    );
  const title = `# Condition ${literal(id)}${conditions.length > 1 ? `, ${match} of` : ''}`;
  return [`${title}\n${rule(`at_${name} := ${wayOf(id, 'true')}`, body, wayOf(id, 'false'))}`, ...helpers];
}
