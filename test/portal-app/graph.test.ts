/** Changes of a drawn policy, its layout, its sentences and its steps, without a browser. */
import { describe, expect, test } from 'vitest';
import {
  addOnWay,
  changeCondition,
  changeNode,
  connect,
  mayConnect,
  placeNodes,
  removeNode,
  renameNode,
  unplaceNodes,
} from '../../portal/src/screens/policies/graph/change.ts';
import { flowEdges, flowNodes, placesOfNodes, wayOfConnection } from '../../portal/src/screens/policies/graph/flow.ts';
import { redo, startHistory, step, undo } from '../../portal/src/screens/policies/graph/history.ts';
import { openId, placesOf } from '../../portal/src/screens/policies/graph/layout.ts';
import {
  isSameGraph,
  openWays,
  type PolicyGraph,
  readGraph,
  sortProblems,
} from '../../portal/src/screens/policies/graph/model.ts';
import { rowsOf } from '../../portal/src/screens/policies/graph/rows.ts';
import { sentenceOf, summaryOf } from '../../portal/src/screens/policies/graph/sentences.ts';
import { en } from '../../portal/src/screens/policies/graph/texts.en.ts';
import { placeOf, takesFocus } from '../../portal/src/screens/policies/marking.ts';
import { type Draft, draftOf, isSame, type PolicyView } from '../../portal/src/screens/policies/shapes.ts';
import { isAt, isTold } from '../../portal/src/why/places.ts';
import { checkGraph } from '../../server/policies/graph/check.ts';

const graph: PolicyGraph = {
  nodes: [
    { id: 'begin', type: 'start' },
    {
      id: 'adult',
      type: 'condition',
      conditions: [{ type: 'attribute', path: 'subject.age', operator: 'gte', value: 18 }],
    },
    { id: 'agreed', type: 'condition', conditions: [{ type: 'consent', name: 'trips' }] },
    { id: 'yes', type: 'outcome', outcome: 'allow' },
    { id: 'no', type: 'outcome', outcome: 'deny', reason: 'too young' },
  ],
  edges: [
    { from: 'begin', to: 'adult' },
    { from: 'adult', on: 'false', to: 'no' },
    { from: 'adult', on: 'true', to: 'agreed' },
    { from: 'agreed', on: 'true', to: 'yes' },
  ],
};
const relationship = { type: 'relationship', relationshipType: 'may_use' } as const;
const none = new Map<string, number>();
const draw = (one: PolicyGraph, path: string[] = []) => ({
  ...{ graph: one, path, places: placesOf(one, none), lines: new Map(), problems: new Map() },
  ...{ open: undefined, marked: undefined },
});

describe('changes', () => {
  test('a question on an edge goes on by yes to where the edge led, and is in order once it is filled in', () => {
    const before = JSON.stringify(graph);
    const added = addOnWay(graph, { from: 'adult', on: 'false' }, 'condition');
    expect(added.id).toBe('question');
    expect(added.graph.edges).toContainEqual({ from: 'adult', on: 'false', to: 'question' });
    expect(added.graph.edges).toContainEqual({ from: 'question', on: 'true', to: 'no' });
    expect(openWays(added.graph)).toContainEqual({ from: 'question', on: 'false' });
    expect(checkGraph(added.graph).map(({ node, pointer }) => [node, pointer])).toEqual([
      ['question', '/graph/nodes/5/conditions/0/relationshipType'],
    ]);
    const question = added.graph.nodes.at(-1)!;
    expect(checkGraph(changeNode(added.graph, added.id, changeCondition(question, 0, relationship)))).toEqual([]);
    expect(JSON.stringify(graph)).toBe(before);
  });

  test('an outcome ends a way that led nowhere; names are free ones', () => {
    const { graph: once } = addOnWay(graph, { from: 'agreed', on: 'false' }, 'deny');
    expect(checkGraph(once)).toEqual([]);
    expect(once.nodes.at(-1)).toEqual({ id: 'deny', type: 'outcome', outcome: 'deny' });
    expect(addOnWay(once, { from: 'begin', on: undefined }, 'condition').graph.edges).toContainEqual({
      ...{ from: 'begin', to: 'question' },
    });
    const { graph: twice } = addOnWay(
      addOnWay(once, { from: 'adult', on: 'true' }, 'condition').graph,
      { from: 'question', on: 'false' },
      'deny',
    );
    expect(twice.nodes.at(-1)!.id).toBe('deny-2');
  });

  test('what led to a removed question leads on to where its yes led', () => {
    const without = removeNode(graph, 'agreed');
    expect(without.edges).toContainEqual({ from: 'adult', on: 'true', to: 'yes' });
    expect(checkGraph(without)).toEqual([]);
    expect(removeNode(graph, 'yes').edges.some(({ to }) => to === 'yes')).toBe(false);
    expect(removeNode(graph, 'begin')).toBe(graph);
    expect(removeNode(graph, 'nobody')).toBe(graph);
  });

  test('an edge is replaced, ended, and never makes a cycle or leads to the start', () => {
    expect(connect(graph, { from: 'adult', on: 'false' }, 'yes').edges).toContainEqual({
      from: 'adult',
      on: 'false',
      to: 'yes',
    });
    expect(connect(graph, { from: 'adult', on: 'false' }, 'yes').edges).toHaveLength(4);
    expect(connect(graph, { from: 'adult', on: 'false' }, undefined).edges).toHaveLength(3);
    expect(mayConnect(graph, { from: 'agreed', on: 'false' }, 'adult')).toBe(false);
    expect(mayConnect(graph, { from: 'agreed', on: 'false' }, 'agreed')).toBe(false);
    expect(mayConnect(graph, { from: 'agreed', on: 'false' }, 'begin')).toBe(false);
    expect(mayConnect(graph, { from: 'yes', on: 'true' }, 'no')).toBe(false);
    expect(connect(graph, { from: 'agreed', on: 'false' }, 'adult')).toBe(graph);
  });

  test('a node gets another name everywhere; one that is taken or not allowed changes nothing', () => {
    const named = renameNode(graph, 'adult', 'grown-up');
    expect(named.edges.filter(({ from, to }) => from === 'grown-up' || to === 'grown-up')).toHaveLength(3);
    expect(checkGraph(named)).toEqual([]);
    for (const name of ['no', 'two words', '']) expect(renameNode(graph, 'adult', name)).toBe(graph);
  });

  test('neither the order of members, nodes and edges nor a default that is said makes another graph', () => {
    const turned = graph.edges.map(({ on, to, from }) => (on ? { on, to, from } : { to, from }));
    expect(isSameGraph(graph, { edges: turned.toReversed(), nodes: graph.nodes.toReversed() })).toBe(true);
    expect(isSameGraph(graph, changeNode(graph, 'adult', { match: 'all' }))).toBe(true);
    const consent = { type: 'consent', name: 'trips' } as const;
    const said = changeNode(graph, 'agreed', { conditions: [{ whose: 'subject', ...consent }] });
    expect(isSameGraph(graph, said)).toBe(true);
    const others: PolicyGraph[] = [
      changeNode(graph, 'adult', { match: 'none' }),
      changeNode(graph, 'agreed', { conditions: [{ ...consent, whose: 'dataSubjects' }] }),
      changeNode(graph, 'agreed', { position: { x: 1, y: 2 } }),
      connect(graph, { from: 'adult', on: 'false' }, 'yes'),
      { ...graph, edges: graph.edges.slice(1) },
    ];
    expect(others.map((other) => isSameGraph(graph, other))).toEqual(others.map(() => false));
  });

  test('fields that are emptied are absent', () => {
    expect(changeNode(graph, 'no', { reason: undefined }).nodes.at(-1)).toEqual({
      id: 'no',
      type: 'outcome',
      outcome: 'deny',
    });
  });
});

describe('a draft', () => {
  const stored: PolicyView = {
    ...{ name: 'car:drive', effectiveRego: '', revision: 1, updatedAt: '', updatedBy: '', managedBy: 'api' },
    graph: { edges: graph.edges.map(({ on, to, from }) => (on ? { on, to, from } : { to, from })), nodes: graph.nodes },
    dataSubjects: { path: 'resource.owner', relationship: 'user:owns:car' },
    tests: [{ name: 'one', input: { b: 1, a: { d: 2, c: 3 } }, expect: { outcome: 'deny' } }],
  };
  const same: Draft = {
    graph: removeNode(addOnWay(graph, { from: 'adult', on: 'false' }, 'condition').graph, 'question'),
    dataSubjects: { relationship: 'user:owns:car', path: 'resource.owner' },
    tests: [{ expect: { outcome: 'deny' }, name: 'one', input: { a: { c: 3, d: 2 }, b: 1 } }],
  };

  test('that means what is stored is no change, however it is written', () => {
    expect(isSame(same, draftOf(stored))).toBe(true);
    expect(isSame({ rego: 'package a', tests: [] }, { tests: [], rego: 'package a', dataSubjects: {} })).toBe(true);
  });

  test('that means something else is one', () => {
    const clean = draftOf(stored);
    const drafts: Draft[] = [
      { ...same, graph: removeNode(graph, 'no') },
      { ...same, dataSubjects: { path: 'resource.owner' } },
      { ...same, tests: [] },
      { rego: '', tests: same.tests, dataSubjects: clean.dataSubjects as object },
    ];
    expect(drafts.map((draft) => isSame(draft, clean))).toEqual(drafts.map(() => false));
    expect(isSame({ rego: 'package a', tests: [] }, { rego: 'package a ', tests: [] })).toBe(false);
  });
});

describe('marks', () => {
  const lines = [
    { node: 'no', start: 6, end: 6 },
    { node: 'adult', start: 11, end: 14 },
    { node: 'no', start: 8, end: 8 },
  ];

  test('a line marks its node and all lines of that, and a node its lines', () => {
    const ofAdult = { place: { node: 'adult', line: 13 }, lines: [11, 12, 13, 14] };
    expect(placeOf({ line: 13, by: 'trace' }, lines)).toEqual(ofAdult);
    expect(placeOf({ node: 'no', by: 'source' }, lines)).toEqual({ place: { node: 'no' }, lines: [6, 8] });
    expect(placeOf({ line: 9, by: 'trace' }, lines)).toEqual({ place: { line: 9 }, lines: [9] });
    expect(placeOf({ line: 9, by: 'trace' }, undefined)).toEqual({ place: { line: 9 }, lines: [9] });
    expect(placeOf(undefined, lines)).toEqual({ place: {}, lines: [] });
  });

  test('the focus follows a mark once, and to the other side only', () => {
    const mark = { line: 1, by: 'source', goes: true } as const;
    expect(takesFocus(mark, 'source')).toBe(false);
    expect([takesFocus(mark, 'trace'), takesFocus(mark, 'trace')]).toEqual([true, false]);
    expect(takesFocus({ line: 1, by: 'source' }, 'trace')).toBe(false);
  });

  test('what is told stands in each line of its text, at its node, and in no library', () => {
    const rule = { line: 3, text: 'a if {\n\tb\n}' };
    expect([2, 3, 5, 6].map((line) => isAt(rule, { line }))).toEqual([false, true, true, false]);
    expect(isAt({ ...rule, file: 'lib' }, { line: 3 })).toBe(false);
    expect([isAt({ node: 'no' }, { node: 'no' }), isAt({ node: 'no' }, { line: 3 })]).toEqual([true, false]);
    const because = [{ line: 20, text: 'deep' }];
    const explain = {
      rules: [{ line: 3, text: 'a' }],
      path: ['begin'],
      whyNot: { rules: [{ line: 9, text: 'x', condition: { line: 10, text: 'y', values: [], because } }] },
    };
    const told = [{ line: 3 }, { node: 'begin' }, { line: 10 }, { line: 20 }];
    expect(told.map((place) => isTold(explain, place))).toEqual(told.map(() => true));
    expect([{ line: 4 }, { node: 'end' }, {}].map((place) => isTold(explain, place))).toEqual([false, false, false]);
  });
});

test('undo and redo: each change is a step, typing in one field is one, and a new change ends what could be redone', () => {
  let history = startHistory('');
  for (const text of ['d', 'dr', 'dri']) history = step(history, text, 'name');
  history = step(history, 'moved');
  expect(history.past).toEqual(['', 'dri']);
  expect(undo(undo(undo(history))).present).toBe('');
  expect(redo(undo(history)).present).toBe('moved');
  expect(redo(history)).toBe(history);
  expect(step(undo(history), 'drive', 'name').future).toEqual([]);
  expect(undo(step(undo(history), 'drive', 'name')).present).toBe('dri');
});

describe('drawing', () => {
  /** Each question leads to two others; every fourth no leads nowhere. */
  const tree = (depth: number): PolicyGraph => {
    const made: PolicyGraph = { nodes: [{ id: 'start', type: 'start' }], edges: [{ from: 'start', to: 'q' }] };
    const grow = (id: string) => {
      if (id.length > depth) return made.nodes.push({ id, type: 'outcome', outcome: 'allow' });
      made.nodes.push({ id, type: 'condition', conditions: [{ type: 'invitation' }] });
      for (const on of ['false', 'true'] as const) {
        if (id.endsWith('ff') && on === 'false') continue;
        made.edges.push({ from: id, on, to: id + on[0] });
        grow(id + on[0]);
      }
      return 0;
    };
    grow('q');
    return made;
  };

  test('goes from top to bottom, yes to the left of no, and no card lies on another', () => {
    for (const one of [graph, tree(1), tree(4)]) {
      const places = placesOf(one, none);
      const at = (id: string) => places.get(id)!;
      for (const { from, to } of one.edges) expect(at(to).y).toBeGreaterThan(at(from).y);
      for (const { id, type } of one.nodes) {
        if (type !== 'condition') continue;
        const [yes, no] = (['true', 'false'] as const).map((on) => {
          const to = one.edges.find((edge) => edge.from === id && edge.on === on)?.to;
          return at(to ?? openId({ from: id, on })).x;
        });
        expect([id, yes! < no!]).toEqual([id, true]);
      }
      const cards = one.nodes.map(({ id }) => at(id));
      for (const [index, a] of cards.entries())
        for (const b of cards.slice(index + 1))
          expect(Math.abs(a.x - b.x) >= 248 || Math.abs(a.y - b.y) >= 60).toBe(true);
    }
  });

  test('places that nodes were moved to are kept, and a question between makes room below it', () => {
    const moved = placeNodes(graph, new Map([...placesOf(graph, none), ['no', { x: 700.4, y: 300 }]]));
    expect(placesOf(moved, none).get('no')).toEqual({ x: 700, y: 300 });
    const { graph: added } = addOnWay(moved, { from: 'adult', on: 'false' }, 'condition');
    expect(added.nodes.find(({ id }) => id === 'no')?.position).toEqual({ x: 700, y: 450 });
    expect(checkGraph(moved)).toEqual([]);
    expect(unplaceNodes(moved)).toEqual(graph);
  });

  test('nodes of React Flow and back; what did not change is the same object', () => {
    const nodes = flowNodes(draw(graph, ['begin', 'adult', 'no']), []);
    expect(nodes.map(({ id, type }) => [id, type])).toEqual([
      ...graph.nodes.map(({ id, type }) => [id, type]),
      ['open agreed false', 'open'],
    ]);
    expect([...placesOfNodes(nodes).keys()]).toEqual(graph.nodes.map(({ id }) => id));
    const again = flowNodes(draw(structuredClone(graph), ['begin', 'adult', 'no']), nodes);
    expect(again.every((node, index) => node === nodes[index])).toBe(true);
    const other = flowNodes(draw(changeNode(graph, 'no', { reason: 'other' }), ['begin', 'adult', 'no']), nodes);
    expect(other.filter((node, index) => node !== nodes[index]).map(({ id }) => id)).toEqual(['no']);
    const taken = flowEdges(graph, ['begin', 'adult', 'no']).filter(({ data }) => data?.isTaken);
    expect(taken.map(({ id }) => id)).toEqual(['begin ', 'adult false']);
    expect(wayOfConnection('adult', 'false')).toEqual({ from: 'adult', on: 'false' });
    expect(wayOfConnection('begin', null)).toEqual({ from: 'begin', on: undefined });
  });

  test('the outline has each way once, in reading order', () => {
    const joined = connect(graph, { from: 'agreed', on: 'false' }, 'no');
    const rows = rowsOf(joined).map(({ way, node, isAgain }) => [way?.on ?? '', node?.id, isAgain]);
    expect(rows).toEqual([
      ['', 'begin', false],
      ['', 'adult', false],
      ['true', 'agreed', false],
      ['true', 'yes', false],
      ['false', 'no', false],
      ['false', 'no', true],
    ]);
    expect(rowsOf(connect(joined, { from: 'agreed', on: 'true' }, undefined)).at(-1)).toMatchObject({
      node: { id: 'yes' },
    });
  });

  test('errors stand at their nodes; any value can be read', () => {
    const { ofNodes, rest } = sortProblems(graph, [
      { pointer: '/graph/nodes/1/conditions/0/path', detail: 'a' },
      { pointer: '/graph/edges/2', detail: 'b' },
      { pointer: '/graph/nodes/9', node: 'no', detail: 'c' },
      { pointer: '/graph', detail: 'd' },
    ]);
    expect([...ofNodes].map(([id, list]) => [id, list.map(({ detail }) => detail)])).toEqual([
      ['adult', ['a', 'b']],
      ['no', ['c']],
    ]);
    expect(rest.map(({ detail }) => detail)).toEqual(['d']);
    for (const value of [undefined, null, 1, [], { nodes: 1 }, { nodes: [null, { id: 1 }], edges: [3] }])
      expect(readGraph(value)).toEqual({ nodes: [], edges: [] });
  });
});

test('conditions are said as sentences', () => {
  const said = (condition: Parameters<typeof sentenceOf>[0]) => sentenceOf(condition, en, 'car');
  expect(said(relationship)).toBe('the user may use this car');
  expect(said({ ...relationship, target: 'anyOfType', targetType: 'car' })).toBe('the user may use any car');
  expect(said({ ...relationship, target: 'entity', targetType: 'car', targetId: 'c1' })).toBe(
    'the user may use car c1',
  );
  expect(said({ type: 'attribute', path: 'subject.age', operator: 'gte', value: 18 })).toBe(
    'subject.age is at least 18',
  );
  expect(said({ type: 'attribute', path: 'subject.team', operator: 'in', values: ['a', 1] })).toBe(
    'subject.team is one of “a” or 1',
  );
  expect(said({ type: 'consent', name: 'trips', whose: 'dataSubjects' })).toBe('all data subjects agree to trips');
  expect(said({ type: 'time', fromTime: '22:00', toTime: '06:00', timezone: 'Europe/Amsterdam' })).toBe(
    'it is between 22:00 and 06:00 (Europe/Amsterdam)',
  );
  expect(said({ type: 'ipRange', ranges: ['10.0.0.0/8'] })).toBe('context.ip lies in 10.0.0.0/8');
  expect(
    summaryOf({ id: 'a', type: 'condition', match: 'any', conditions: [relationship, { type: 'invitation' }] }, en),
  ).toBe('One of: the user may use this resource; the request has a valid invitation');
  expect(summaryOf({ id: 'a', type: 'outcome', outcome: 'deny', reason: 'too young' }, en)).toBe('Deny: too young');
});
