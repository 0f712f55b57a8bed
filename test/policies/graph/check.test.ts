import { describe, expect, test } from 'vitest';
import { limits } from '../../../server/core/limits.ts';
import { checkGraph, type PolicyGraph } from '../../../server/policies/graph/index.ts';
import type { Condition, GraphEdge, GraphNode } from '../../../server/policies/graph/schema.ts';
import { oneTest } from '../../helpers/drawn.ts';
import { errorsOf, hasShape } from './errors.ts';
import { ladder } from './examples.ts';

const consent: Condition = { type: 'consent', name: 'terms' };

const withNodes = (...nodes: GraphNode[]): PolicyGraph => {
  const graph = oneTest([consent]);
  return { nodes: [...graph.nodes, ...nodes], edges: graph.edges };
};
const withEdges = (...edges: GraphEdge[]): PolicyGraph => {
  const graph = oneTest([consent]);
  return { nodes: graph.nodes, edges: [...graph.edges, ...edges] };
};
const changed = (id: string, change: Partial<GraphNode>): PolicyGraph => {
  const graph = oneTest([consent]);
  return { nodes: graph.nodes.map((node) => (node.id === id ? { ...node, ...change } : node)), edges: graph.edges };
};
const without = (id: string, field: keyof GraphNode): PolicyGraph => {
  const graph = changed(id, {});
  delete graph.nodes.find((node) => node.id === id)![field];
  return graph;
};
const onlyEdges = (...edges: GraphEdge[]): PolicyGraph => ({ nodes: oneTest([consent]).nodes, edges });

test('a graph in order has no errors', () => {
  expect(errorsOf(oneTest([consent]))).toEqual([]);
  expect(errorsOf(ladder(10))).toEqual([]);
});

test('a start may lead straight to an outcome, and an answer may lead nowhere', () => {
  const nodes: GraphNode[] = [
    { id: 's', type: 'start' },
    { id: 'o', type: 'outcome', outcome: 'allow' },
  ];
  expect(errorsOf({ nodes, edges: [{ from: 's', to: 'o' }] })).toEqual([]);
  const graph = oneTest([consent]);
  expect(errorsOf({ nodes: graph.nodes.slice(0, 3), edges: graph.edges.slice(0, 2) })).toEqual([]);
});

describe('nodes', () => {
  test.each<[string, PolicyGraph, string[]]>([
    [
      'no start',
      { nodes: [{ id: 'o', type: 'outcome', outcome: 'deny' }], edges: [] },
      ['/graph/nodes: no node has type start: add one'],
    ],
    [
      'two starts',
      withNodes({ id: 'again', type: 'start' }),
      ['/graph/nodes/4: is a second start besides start: remove one'],
    ],
    [
      'an id twice',
      withNodes({ id: 'yes', type: 'outcome', outcome: 'deny' }),
      ['/graph/nodes/4/id: another node is also called yes: rename one'],
    ],
    [
      'a start with conditions',
      changed('start', { conditions: [consent] }),
      ['/graph/nodes/0/conditions: does not belong to a node of type start'],
    ],
    [
      'a condition with an outcome',
      changed('test', { outcome: 'allow' }),
      ['/graph/nodes/1/outcome: does not belong to a node of type condition'],
    ],
    [
      'an outcome with match',
      changed('yes', { match: 'any' }),
      ['/graph/nodes/2/match: does not belong to a node of type outcome'],
    ],
    [
      'a condition without conditions',
      without('test', 'conditions'),
      ['/graph/nodes/1/conditions: is missing: a node of type condition needs it'],
    ],
    [
      'an outcome without outcome',
      without('no', 'outcome'),
      ['/graph/nodes/3/outcome: is missing: a node of type outcome needs it'],
    ],
    [
      'half a surrogate pair',
      changed('no', { reason: 'a\ud800' }),
      ['/graph/nodes/3/reason: contains NUL or an unpaired surrogate: remove it'],
    ],
    [
      'NUL',
      changed('no', { obligations: ['x', '\0'] }),
      ['/graph/nodes/3/obligations/1: contains NUL or an unpaired surrogate: remove it'],
    ],
  ])('%s', (_, graph, errors) => {
    expect(errorsOf(graph)).toEqual(errors);
  });

  test('each error carries the id of its node', () => {
    expect(checkGraph(changed('yes', { match: 'any' }))).toEqual([
      { pointer: '/graph/nodes/2/match', node: 'yes', detail: 'does not belong to a node of type outcome' },
    ]);
  });
});

describe('edges', () => {
  const [begin, onTrue, onFalse] = oneTest([consent]).edges;
  test.each<[string, PolicyGraph, string[]]>([
    ['from nowhere', withEdges({ from: 'ghost', to: 'yes' }), ['/graph/edges/3/from: no node is called ghost']],
    [
      'to nowhere',
      onlyEdges(begin!, onTrue!, { from: 'test', to: 'ghost', on: 'false' }),
      ['/graph/edges/2/to: no node is called ghost'],
    ],
    [
      'to the start',
      onlyEdges(begin!, onTrue!, { from: 'test', to: 'start', on: 'false' }),
      ['/graph/edges/2/to: leads to the start start, to which nothing leads'],
    ],
    [
      'from an outcome',
      withEdges({ from: 'yes', to: 'no' }),
      ['/graph/edges/3/from: leaves the outcome yes, where the decision ends'],
    ],
    [
      'the start has an answer',
      onlyEdges({ ...begin!, on: 'true' }, onTrue!, onFalse!),
      ['/graph/edges/0/on: leaves the start start, which has no answer: leave out on'],
    ],
    [
      'a condition without an answer',
      onlyEdges(begin!, onTrue!, { from: 'test', to: 'no' }),
      ['/graph/edges/2/on: leaves the condition test: say on "true" or on "false"'],
    ],
    [
      'an answer twice',
      withEdges({ from: 'test', to: 'no', on: 'true' }),
      ['/graph/edges/3: leaves test on true like edge 1: keep one of them'],
    ],
    [
      'two ways from the start',
      withEdges({ from: 'start', to: 'no' }),
      ['/graph/edges/3: leaves start like edge 0: keep one of them'],
    ],
    [
      'the start leads nowhere',
      { nodes: [{ id: 's', type: 'start' }], edges: [] },
      ['/graph/nodes/0: the start s leads nowhere: draw an edge to the first node'],
    ],
    [
      'a condition leads nowhere',
      { nodes: oneTest([consent]).nodes.slice(0, 2), edges: [begin!] },
      ['/graph/nodes/1: the condition test leads nowhere: draw an edge for at least one of its answers'],
    ],
    [
      'an island',
      withNodes({ id: 'far', type: 'outcome', outcome: 'allow' }),
      ['/graph/nodes/4: cannot be reached from the start: draw an edge to far or remove it'],
    ],
  ])('%s', (_, graph, errors) => {
    expect(errorsOf(graph)).toEqual(errors);
  });

  test('a cycle is named node by node', () => {
    const node = (id: string): GraphNode => ({ id, type: 'condition', conditions: [consent] });
    const graph: PolicyGraph = {
      nodes: [
        { id: 's', type: 'start' },
        node('a'),
        node('b'),
        node('c'),
        { id: 'o', type: 'outcome', outcome: 'deny' },
      ],
      edges: [
        { from: 's', to: 'a' },
        { from: 'a', to: 'b', on: 'true' },
        { from: 'a', to: 'o', on: 'false' },
        { from: 'b', to: 'c', on: 'true' },
        { from: 'c', to: 'b', on: 'true' },
        { from: 'c', to: 'c', on: 'false' },
      ],
    };
    expect(errorsOf(graph)).toEqual([
      '/graph/nodes/2: is in a cycle: b → c → b; remove one of these edges',
      '/graph/nodes/3: is in a cycle: c → c; remove one of these edges',
    ]);
  });
});

const attribute = (rest: Partial<Condition>): Condition => ({
  type: 'attribute',
  path: 'subject.a',
  operator: 'eq',
  ...rest,
});
describe('bounds', () => {
  test('nodes', () => {
    const { nodes, edges } = ladder(limits.graphNodesMax / 2 - 2);
    const extra: GraphNode = { id: 'one-more', type: 'outcome', outcome: 'deny' };
    const full = { nodes: [...nodes, extra], edges };
    expect([full.nodes.length, hasShape(full)]).toEqual([limits.graphNodesMax, true]);
    expect(hasShape({ nodes: [...full.nodes, extra], edges })).toBe(false);
  });

  test('edges, conditions of a node, values, obligations', () => {
    const fill = <T>(length: number, item: T) => Array<T>(length).fill(item);
    const shapes = (count: number): [number, PolicyGraph][] => [
      [limits.graphEdgesMax, onlyEdges(...fill(count, { from: 'a', to: 'b' }))],
      [limits.graphConditionsPerNodeMax, oneTest(fill(count, consent))],
      [limits.graphListItemsMax, oneTest([attribute({ operator: 'in', values: fill(count, 1) })])],
      [limits.graphListItemsMax, oneTest([{ type: 'ipRange', ranges: fill(count, '::/0') }])],
      [limits.graphObligationsMax, changed('no', { obligations: fill(count, 'log') })],
      [limits.graphTextCharsMax, changed('no', { reason: 'x'.repeat(count) })],
      [limits.graphNodeIdCharsMax, withNodes({ id: 'x'.repeat(count), type: 'start' })],
    ];
    for (const [index, [limit]] of shapes(1).entries()) {
      expect([limit, hasShape(shapes(limit)[index]![1])]).toEqual([limit, true]);
      expect([limit, hasShape(shapes(limit + 1)[index]![1])]).toEqual([limit, false]);
    }
  });

  test('the Rego that it becomes', () => {
    const long = 'x'.repeat(limits.graphTextCharsMax);
    const obligations = (count: number) => changed('no', { obligations: Array<string>(count).fill(long) });
    const fits = Math.floor(limits.regoSourceBytesMax / (limits.graphTextCharsMax + 4)) - 1;
    expect(fits).toBeGreaterThan(limits.graphObligationsMax);
    expect(checkGraph(obligations(fits))).toEqual([]);
    expect(checkGraph(obligations(fits + 2))).toEqual([
      {
        pointer: '/graph',
        detail: expect.stringMatching(/^is \d+ bytes as Rego, at most 65536: split the policy or shorten/),
      },
    ]);
  });
});

test.each(['a b', 'a\n', '"', '-a', '', 'é'])('an id such as %j has not the shape of one', (id) => {
  expect(hasShape(withNodes({ id, type: 'start' }))).toBe(false);
});

test.each(['', '.a', 'a.', 'a..b'])('a path such as %j has not the shape of one', (path) => {
  expect(hasShape(oneTest([attribute({ path })]))).toBe(false);
});

test('an unknown field has no place anywhere', () => {
  expect(hasShape({ ...oneTest([consent]), name: 'x' })).toBe(false);
  expect(hasShape(oneTest([{ ...consent, negate: true } as Condition]))).toBe(false);
});
