import Ajv from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { limits } from '../../../server/core/limits.ts';
import { checkGraph, GraphSchema, type PolicyGraph } from '../../../server/policies/graph/index.ts';
import type { Condition, GraphEdge, GraphNode } from '../../../server/policies/graph/schema.ts';
import { ladder, oneTest } from './examples.ts';

const hasShape = new Ajv.default({ strict: true }).compile(GraphSchema);

const consent: Condition = { type: 'consent', name: 'terms' };

/** The errors of a graph of the right shape, as "pointer: detail". */
function errorsOf(graph: PolicyGraph): string[] {
  expect(hasShape(graph), JSON.stringify(hasShape.errors)).toBe(true);
  return checkGraph(graph).map(({ pointer, detail }) => `${pointer}: ${detail}`);
}

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
      ['/graph/nodes/3/reason: holds NUL or half a surrogate pair: remove it'],
    ],
    [
      'NUL',
      changed('no', { obligations: ['x', '\0'] }),
      ['/graph/nodes/3/obligations/1: holds NUL or half a surrogate pair: remove it'],
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
const time = (rest: Partial<Condition>): Condition => ({ type: 'time', ...rest });
const zone = 'Europe/Amsterdam';
const notInstant = 'must be an instant with a zone, such as 2027-01-31T09:00:00Z, of at most milliseconds';
const notRange = 'must be a CIDR range such as 192.0.2.0/24 or 2001:db8::/32';
const notNumber = `must be a number between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`;

describe('conditions', () => {
  test.each<[string, Condition, string[]]>([
    [
      'a field of another type',
      { ...consent, path: 'subject.a' },
      ['/path: does not belong to a condition of type consent, which takes name'],
    ],
    ['consent to what', { type: 'consent' }, ['/name: is missing: a condition of type consent needs it']],
    [
      'relationship of what',
      { type: 'relationship' },
      ['/relationshipType: is missing: a condition of type relationship needs it'],
    ],
    [
      'a thing without type and id',
      { type: 'relationship', relationshipType: 'r', target: 'thing' },
      ['/targetType: is missing: target thing or anyOfType needs it', '/targetId: is missing: target thing needs it'],
    ],
    [
      'the resource with an id',
      { type: 'relationship', relationshipType: 'r', targetId: 'x' },
      ['/targetId: goes only with target thing'],
    ],
    [
      'an unknown root',
      attribute({ path: 'user.a', value: 1 }),
      ['/path: begins with "user"; begin it with one of subject, action, resource, context, tenant, invitation'],
    ],
    [
      'an unknown root to compare with',
      attribute({ valuePath: 'time' }),
      ['/valuePath: begins with "time"; begin it with one of subject, action, resource, context, tenant, invitation'],
    ],
    [
      'no operator',
      { type: 'attribute', path: 'subject.a', value: 1 },
      ['/operator: is missing: a condition of type attribute needs it'],
    ],
    ['nothing to compare with', attribute({}), ['/operator: eq needs exactly one of value and valuePath']],
    [
      'two to compare with',
      attribute({ value: 1, valuePath: 'resource.a' }),
      ['/operator: eq needs exactly one of value and valuePath'],
    ],
    [
      'in without values',
      attribute({ operator: 'in', value: 1 }),
      ['/value: does not go with operator in', '/operator: in needs exactly one of values and valuePath'],
    ],
    ['exists with a value', attribute({ operator: 'exists', value: 1 }), ['/value: does not go with operator exists']],
    ['eq to a list', attribute({ value: ['x'] }), ['/value: must be a string or a number or a boolean']],
    ['eq to null', attribute({ value: null }), ['/value: must be a string or a number or a boolean']],
    ['less than true', attribute({ operator: 'lt', value: true }), ['/value: must be a string or a number']],
    ['starts with a number', attribute({ operator: 'startsWith', value: 1 }), ['/value: must be a string']],
    [
      'starts with nothing',
      attribute({ operator: 'startsWith', value: '' }),
      ['/value: is empty: every string would start with it'],
    ],
    ['a number past 2^53', attribute({ operator: 'gt', value: 2 ** 53 }), [`/value: ${notNumber}`]],
    [
      'an object among values',
      attribute({ operator: 'in', values: [1, {}] }),
      ['/values/1: must be a string or a number or a boolean'],
    ],
    [
      'a long value',
      attribute({ value: 'x'.repeat(limits.graphTextCharsMax + 1) }),
      [`/value: is longer than ${limits.graphTextCharsMax} characters`],
    ],
    [
      'NUL among values',
      attribute({ operator: 'in', values: ['\0'] }),
      ['/values/0: holds NUL or half a surrogate pair: remove it'],
    ],
    ['no time at all', time({}), [': a condition of type time needs after, before, fromTime and toTime, or weekdays']],
    ['an instant without a zone', time({ after: '2027-01-31T09:00:00' }), [`/after: ${notInstant}`]],
    ['a day that does not exist', time({ before: '2027-02-29T09:00:00Z' }), [`/before: ${notInstant}`]],
    ['an hour that does not exist', time({ before: '2027-02-28T24:00:00Z' }), [`/before: ${notInstant}`]],
    ['nanoseconds', time({ before: '2027-02-28T09:00:00.000001Z' }), [`/before: ${notInstant}`]],
    [
      'between in the wrong order',
      time({ after: '2027-01-01T00:00:00Z', before: '2027-01-01T01:00:00+01:00' }),
      ['/before: is not later than after: the condition would never hold'],
    ],
    ['half a time of day', time({ fromTime: '09:00', timezone: zone }), ['/toTime: is missing: fromTime needs it']],
    ['the other half', time({ toTime: '09:00', timezone: zone }), ['/toTime: goes only with fromTime']],
    [
      'an empty time of day',
      time({ fromTime: '09:00', toTime: '09:00', timezone: zone }),
      ['/toTime: equals fromTime; leave both out to mean the whole day'],
    ],
    [
      'weekdays of nowhere',
      time({ weekdays: ['monday'] }),
      ['/timezone: is missing: a time of day or weekdays needs it'],
    ],
    [
      'a zone for instants',
      time({ after: '2027-01-01T00:00:00Z', timezone: zone }),
      ['/timezone: goes only with a time of day or weekdays'],
    ],
    [
      'no such zone',
      time({ weekdays: ['monday'], timezone: 'Europe/Atlantis' }),
      ['/timezone: "Europe/Atlantis" is not an IANA time zone; write one such as Europe/Amsterdam or UTC'],
    ],
    [
      'an offset',
      time({ weekdays: ['monday'], timezone: '+01:00' }),
      ['/timezone: +01:00 is an offset; name a time zone such as Europe/Amsterdam or UTC'],
    ],
    [
      'a zone in other letters',
      time({ weekdays: ['monday'], timezone: 'europe/amsterdam' }),
      ['/timezone: write Europe/Amsterdam, not europe/amsterdam'],
    ],
    ['no ranges', { type: 'ipRange' }, ['/ranges: is missing: a condition of type ipRange needs it']],
    ['an address', { type: 'ipRange', ranges: ['10.0.0.0/8', '10.0.0.1'] }, [`/ranges/1: ${notRange}`]],
    [
      'a prefix too long',
      { type: 'ipRange', ranges: ['10.0.0.0/33', '::/129'] },
      [`/ranges/0: ${notRange}`, `/ranges/1: ${notRange}`],
    ],
    [
      'an address with its prefix',
      { type: 'ipRange', ranges: ['10.0.0.1/8', '2001:db8::1/64'] },
      [
        "/ranges/0: has bits set after its prefix of 8: write the network's first address",
        "/ranges/1: has bits set after its prefix of 64: write the network's first address",
      ],
    ],
    [
      'an unknown root of the address',
      { type: 'ipRange', ranges: ['10.0.0.0/8'], path: 'ip' },
      ['/path: begins with "ip"; begin it with one of subject, action, resource, context, tenant, invitation'],
    ],
  ])('%s', (_, condition, errors) => {
    expect(errorsOf(oneTest([consent, condition]))).toEqual(
      errors.map((error) => `/graph/nodes/1/conditions/1${error}`),
    );
  });

  test('a value may be as long as a text, counted in characters', () => {
    expect(errorsOf(oneTest([attribute({ value: '😀'.repeat(limits.graphTextCharsMax) })]))).toEqual([]);
  });

  test('a value that is nested without end is refused like any other object', () => {
    let value: unknown = 'x';
    for (let depth = 0; depth < 100_000; depth += 1) value = [value];
    expect(checkGraph(oneTest([attribute({ value })]))).toHaveLength(1);
  });
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
