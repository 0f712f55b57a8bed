/** Drawn policies that tests share: a ladder of any size, and three whose Rego is kept beside the tests for people to read. */
import type { GraphNode, PolicyGraph } from '../../../server/policies/graph/schema.ts';

/** A ladder whose every rung can be reached from both nodes of the rung above: 2^rungs ways, 2·rungs nodes. */
export function ladder(rungs: number): PolicyGraph {
  const test = (id: string): GraphNode => ({
    id,
    type: 'condition',
    conditions: [{ type: 'attribute', path: `context.${id}`, operator: 'eq', value: true }],
  });
  const graph: PolicyGraph = {
    nodes: [{ id: 'start', type: 'start' }, test('first')],
    edges: [{ from: 'start', to: 'first' }],
  };
  let above = ['first'];
  for (let rung = 0; rung < rungs; rung += 1) {
    const [left, right] = [`left${rung}`, `right${rung}`] as const;
    graph.nodes.push(test(left), test(right));
    for (const from of above) graph.edges.push({ from, to: left, on: 'true' }, { from, to: right, on: 'false' });
    above = [left, right];
  }
  graph.nodes.push({ id: 'end', type: 'outcome', outcome: 'allow' });
  for (const from of above) graph.edges.push({ from, to: 'end', on: 'true' }, { from, to: 'end', on: 'false' });
  return graph;
}

const carSharing: PolicyGraph = {
  nodes: [
    { id: 'start', type: 'start', position: { x: 0, y: 0 } },
    { id: 'owner', type: 'condition', conditions: [{ type: 'relationship', relationshipType: 'is_owner_of' }] },
    {
      id: 'driver-in-good-standing',
      type: 'condition',
      conditions: [
        { type: 'relationship', relationshipType: 'drives' },
        { type: 'consent', name: 'terms-of-driving' },
        { type: 'attribute', path: 'subject.penaltyPoints', operator: 'lt', value: 8 },
      ],
    },
    { id: 'open', type: 'outcome', outcome: 'allow' },
    { id: 'open-and-log', type: 'outcome', outcome: 'allow', obligations: ['log-driver'] },
    { id: 'closed', type: 'outcome', outcome: 'deny', reason: 'Only the owner and drivers in good standing.' },
  ],
  edges: [
    { from: 'start', to: 'owner' },
    { from: 'owner', to: 'open', on: 'true' },
    { from: 'owner', to: 'driver-in-good-standing', on: 'false' },
    { from: 'driver-in-good-standing', to: 'open-and-log', on: 'true' },
    { from: 'driver-in-good-standing', to: 'closed', on: 'false' },
  ],
};

const nightShift: PolicyGraph = {
  nodes: [
    { id: 'start', type: 'start' },
    {
      id: 'on-site',
      type: 'condition',
      match: 'any',
      conditions: [
        { type: 'ipRange', ranges: ['192.0.2.0/24', '2001:db8::/32'] },
        { type: 'attribute', path: 'subject.badges', operator: 'contains', valuePath: 'resource.ward' },
      ],
    },
    {
      id: 'night',
      type: 'condition',
      conditions: [
        {
          type: 'relationship',
          relationshipType: 'works_at',
          target: 'entity',
          targetType: 'hospital',
          targetId: 'west',
        },
        {
          type: 'time',
          after: '2026-01-01T00:00:00+01:00',
          fromTime: '22:00',
          toTime: '06:30',
          weekdays: ['friday', 'saturday'],
          timezone: 'Europe/Amsterdam',
        },
      ],
    },
    {
      id: 'blocked',
      type: 'condition',
      match: 'none',
      conditions: [
        { type: 'attribute', path: 'subject.status', operator: 'in', values: ['suspended', 'left'] },
        { type: 'relationship', relationshipType: 'barred_from', target: 'anyOfType', targetType: 'hospital' },
      ],
    },
    { id: 'read', type: 'outcome', outcome: 'allow', reason: 'On shift.', obligations: ['log', 'mask-name'] },
  ],
  edges: [
    { from: 'start', to: 'on-site' },
    { from: 'on-site', to: 'blocked', on: 'true' },
    { from: 'on-site', to: 'night', on: 'false' },
    { from: 'night', to: 'blocked', on: 'true' },
    { from: 'blocked', to: 'read', on: 'true' },
  ],
};

const hostileText = '"\n}\noutcome := "allow"\n# \u2028\u202e within(';

const hostileTexts: PolicyGraph = {
  nodes: [
    { id: 'start', type: 'start' },
    {
      id: 'a.b',
      type: 'condition',
      conditions: [
        { type: 'consent', name: hostileText },
        { type: 'attribute', path: `subject.${hostileText}.default`, operator: 'eq', value: hostileText },
        { type: 'attribute', path: 'context.default', operator: 'startsWith', valuePath: 'resource.no-identifier' },
      ],
    },
    { id: 'a:b', type: 'condition', match: 'any', conditions: [{ type: 'invitation', relationshipType: hostileText }] },
    { id: 'a_b', type: 'outcome', outcome: 'deny', reason: hostileText, obligations: [hostileText] },
    { id: 'yes', type: 'outcome', outcome: 'allow' },
  ],
  edges: [
    { from: 'start', to: 'a.b' },
    { from: 'a.b', to: 'yes', on: 'true' },
    { from: 'a.b', to: 'a:b', on: 'false' },
    { from: 'a:b', to: 'yes', on: 'true' },
    { from: 'a:b', to: 'a_b', on: 'false' },
  ],
};

/** Graphs whose Rego is in golden/, by the name of the file. */
export const goldenGraphs = { 'car-sharing': carSharing, 'night-shift': nightShift, 'hostile-texts': hostileTexts };
