/**
 * Whether a drawn policy that has the right shape (schema.ts) also makes sense: the one entry point for its errors, each of
 * which says where, which node, what is wrong and how to mend it.
 */

import { limits } from '../../core/limits.ts';
import { isText } from '../../core/text.ts';
import { checkCondition } from './conditions.ts';
import { graphToRego } from './convert.ts';
import type { GraphNode, PolicyGraph } from './schema.ts';
import { checkStructure, type GraphError } from './structure.ts';

type NodeField = Exclude<keyof GraphNode, 'id' | 'type' | 'position'>;

const fieldsOf: Record<GraphNode['type'], { required: NodeField[]; optional: NodeField[] }> = {
  start: { required: [], optional: [] },
  condition: { required: ['conditions'], optional: ['match'] },
  outcome: { required: ['outcome'], optional: ['reason', 'obligations'] },
};

/**
 * Every error of a graph that has the shape of GraphSchema, with pointers into the policy's body (`/graph/…`); empty
 * when graphToRego can convert it.
 */
export function checkGraph(graph: PolicyGraph): GraphError[] {
  const errors = [
    ...graph.nodes.flatMap((node, index) => checkNode(node, `/graph/nodes/${index}`)),
    ...checkTexts(graph),
    ...checkStructure(graph),
  ];
  return errors.length > 0 ? errors : checkSize(graph);
}

function checkNode(node: GraphNode, pointer: string): GraphError[] {
  const { id, type } = node;
  const { required, optional } = fieldsOf[type];
  const allowed: string[] = ['id', 'type', 'position', ...required, ...optional];
  const misplaced = Object.keys(node)
    .filter((field) => !allowed.includes(field))
    .map((field) => ({
      pointer: `${pointer}/${field}`,
      node: id,
      detail: `does not belong to a node of type ${type}`,
    }));
  const missing = required
    .filter((field) => node[field] === undefined)
    .map((field) => ({
      pointer: `${pointer}/${field}`,
      node: id,
      detail: `is missing: a node of type ${type} needs it`,
    }));
  const conditions = (node.conditions ?? []).flatMap((condition, index) =>
    checkCondition(condition).map(({ field, detail }) => ({
      pointer: `${pointer}/conditions/${index}${field && `/${field}`}`,
      node: id,
      detail,
    })),
  );
  return [...misplaced, ...missing, ...conditions];
}

const listOf = (value: unknown) => (Array.isArray(value) ? value : []);

/** The texts of the graph with their places; `value` and `values` may hold anything, only what is text is taken. */
function* textsOf(graph: PolicyGraph): Generator<{ pointer: string; node: string; text: unknown }> {
  for (const [index, { id: node, reason, obligations, conditions }] of graph.nodes.entries()) {
    const at = `/graph/nodes/${index}`;
    yield { pointer: `${at}/reason`, node, text: reason };
    for (const [item, text] of listOf(obligations).entries())
      yield { pointer: `${at}/obligations/${item}`, node, text };
    for (const [number, condition] of listOf(conditions).entries()) {
      for (const [field, value] of Object.entries(condition)) {
        const pointer = `${at}/conditions/${number}/${field}`;
        yield { pointer, node, text: value };
        for (const [item, text] of listOf(value).entries()) yield { pointer: `${pointer}/${item}`, node, text };
      }
    }
  }
}

function checkTexts(graph: PolicyGraph): GraphError[] {
  const errors: GraphError[] = [];
  for (const { pointer, node, text } of textsOf(graph)) {
    if (typeof text !== 'string') continue;
    if (!isText(text)) {
      errors.push({ pointer, node, detail: 'contains NUL or an unpaired surrogate: remove it' });
    } else if ([...text].length > limits.graphTextCharsMax) {
      errors.push({ pointer, node, detail: `is longer than ${limits.graphTextCharsMax} characters` });
    }
  }
  return errors;
}

function checkSize(graph: PolicyGraph): GraphError[] {
  const bytes = Buffer.byteLength(graphToRego(graph));
  if (bytes <= limits.regoSourceBytesMax) return [];
  const detail = `is ${bytes} bytes as Rego, at most ${limits.regoSourceBytesMax}: split the policy or shorten its texts`;
  return [{ pointer: '/graph', detail }];
}
