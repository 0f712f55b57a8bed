/**
 * Random drawn policies without errors and random inputs for them, from one small vocabulary so that conditions are
 * true often enough: graphs whose ways meet again, answers that lead nowhere, facts that are absent or of odd types.
 */
import fc from 'fast-check';
import type { Condition, GraphEdge, GraphNode, PolicyGraph } from '../../../server/policies/graph/schema.ts';

const someOf = <const T extends readonly unknown[]>(...items: T): fc.Arbitrary<T[number]> => fc.constantFrom(...items);

const paths = someOf(
  ...['action', 'tenant', 'subject.id', 'subject.department', 'subject.level', 'subject.tags', 'subject.x-y z"'],
  ...[
    'resource.type',
    'resource.id',
    'resource.level',
    'resource.tags',
    'context.ip',
    'context.deep.er',
    'context.default',
  ],
);
const texts = someOf(
  'a',
  'b',
  'ab',
  'car',
  'group',
  '',
  'é',
  '\uffee',
  '\u{1f600}',
  '"\n\u2028',
  '\u{e0001}\u202e',
  '1',
  'true',
);
const numbers = fc.oneof(
  someOf(0, 1, -1, 2, 10, 1.5, -0.25, 1e-7, 1e21, 9007199254740991),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const literals = fc.oneof(
  texts,
  numbers.filter((value) => Math.abs(value) <= Number.MAX_SAFE_INTEGER),
  fc.boolean(),
);
const types = someOf('car', 'group');
const ids = someOf('a', 'auth0|5f');
const relationshipTypes = someOf('owns', 'drives');
const lists = someOf('subject.tags', 'resource.tags');
const consentNames = someOf('terms', 'research');
const zones = someOf(
  'Europe/Amsterdam',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'UTC',
);
const days = someOf(...(['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const));
const minutes = someOf('00:00', '00:01', '01:59', '06:30', '12:00', '18:00', '22:15', '23:59');
const ranges = someOf(
  ...[
    '10.0.0.0/8',
    '10.1.2.3/32',
    '192.168.0.0/16',
    '0.0.0.0/0',
    '10.1.2.0/25',
    '::/0',
    '2001:db8::/32',
    '2001:db8::1/128',
  ],
  ...['fe80::/10', '::1/128', '1.2.3.4/30'],
);

/** An instant near a boundary (midnights, hours at which clocks change) or anywhere in twenty years. */
const instants = fc
  .oneof(
    someOf(
      '2026-03-29T00:59:59.999Z',
      '2026-03-29T01:00:00.000Z',
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:00:00.000Z',
    ),
    someOf(
      '2026-11-20T22:59:59.999Z',
      '2026-11-20T23:00:00.000Z',
      '2026-11-22T05:30:00.000Z',
      '2011-12-30T10:30:00.000Z',
    ),
    fc.date({ min: new Date('2010-01-01T00:00:00Z'), max: new Date('2030-01-01T00:00:00Z'), noInvalidDate: true }),
  )
  .map((instant) => (instant instanceof Date ? instant.toISOString() : instant));

const relationship = fc
  .tuple(relationshipTypes, someOf('resource', 'entity', 'anyOfType', undefined), types, ids)
  .map(([relationshipType, target, targetType, targetId]): Condition => {
    const to = { entity: { targetType, targetId }, anyOfType: { targetType }, resource: {} }[target ?? 'resource'];
    return { type: 'relationship', relationshipType, ...(target && { target }), ...to };
  });

const usually = <T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: usual, weight: 4 }, { arbitrary: other, weight: 1 });
const valueOrPath = (values: fc.Arbitrary<unknown>, from: fc.Arbitrary<string>, field: 'value' | 'values' = 'value') =>
  fc.oneof(
    values.map((value) => ({ [field]: value })),
    from.map((valuePath) => ({ valuePath })),
  );
const test = (operators: Condition['operator'][], left: fc.Arbitrary<string>, right: fc.Arbitrary<object>) =>
  fc.tuple(someOf(...operators), left, right).map(([operator, path, rest]): Condition => {
    return { type: 'attribute', path, operator: operator!, ...rest };
  });

const attribute = fc.oneof(
  test(['eq', 'ne'], paths, valueOrPath(literals, paths)),
  test(['contains'], usually(lists, paths), valueOrPath(literals, paths)),
  test(
    ['lt', 'lte', 'gt', 'gte'],
    paths,
    valueOrPath(
      literals.filter((value) => typeof value !== 'boolean'),
      paths,
    ),
  ),
  test(['startsWith'], paths, valueOrPath(someOf('a', 'car', 'é', '10.'), paths)),
  test(['in'], paths, valueOrPath(fc.array(literals, { minLength: 1, maxLength: 5 }), usually(lists, paths), 'values')),
  test(['exists'], paths, fc.constant({})),
);

const time = fc
  .record({
    bounds: fc.option(fc.uniqueArray(instants, { minLength: 2, maxLength: 2 })),
    half: someOf('after', 'before', 'both'),
    day: fc.option(fc.uniqueArray(minutes, { minLength: 2, maxLength: 2 })),
    weekdays: fc.uniqueArray(days, { maxLength: 7 }),
    timezone: zones,
  })
  .map(({ bounds, half, day, weekdays, timezone }): Condition => {
    const [after, before] = (bounds ?? ['2015-01-01T00:00:00+05:30', '2029-01-01T00:00:00Z']).sort(
      (a, b) => Date.parse(a) - Date.parse(b),
    );
    const local = day !== null || weekdays.length > 0;
    return {
      type: 'time',
      ...((half !== 'before' || !local) && { after: after! }),
      ...(half !== 'after' && { before: before! }),
      ...(day && { fromTime: day[0]!, toTime: day[1]! }),
      ...(weekdays.length > 0 && { weekdays }),
      ...(local && { timezone }),
    };
  });

const consents = fc.array(
  fc.record({ name: consentNames, sufficient: fc.oneof(fc.boolean(), someOf('true', 1)) }, { requiredKeys: ['name'] }),
  { maxLength: 3 },
);

/** Any condition without errors. */
const conditions: fc.Arbitrary<Condition> = fc.oneof(
  relationship,
  { arbitrary: attribute, weight: 4 },
  fc
    .tuple(consentNames, someOf(null, 'subject', 'dataSubjects'))
    .map(([name, whose]): Condition => ({ type: 'consent', name, ...(whose !== null && { whose }) })),
  fc.option(relationshipTypes).map((offered): Condition => {
    return { type: 'invitation', ...(offered !== null && { relationshipType: offered }) };
  }),
  time,
  fc
    .tuple(fc.uniqueArray(ranges, { minLength: 1, maxLength: 4 }), usually<string | null>(fc.constant(null), paths))
    .map(([list, path]): Condition => ({ type: 'ipRange', ranges: list, ...(path !== null && { path }) })),
);

const conditionNodes = fc.record({
  match: someOf('all', 'any', 'none', undefined),
  conditions: fc.array(conditions, { minLength: 1, maxLength: 4 }),
  onTrue: fc.nat(),
  onFalse: fc.nat(),
  leadsNowhere: fc.nat(11),
});

const outcomeNodes = fc.record({
  outcome: someOf('allow', 'deny'),
  reason: fc.option(someOf('because', 'a "quoted"\nreason')),
  obligations: fc.option(fc.array(someOf('log', 'mfa', ''), { maxLength: 3 })),
});

/** Graphs without errors: edges lead only to later nodes, what the start cannot reach is left out. */
export const graphs: fc.Arbitrary<PolicyGraph> = fc
  .tuple(fc.array(conditionNodes, { maxLength: 9 }), fc.array(outcomeNodes, { minLength: 1, maxLength: 4 }))
  .map(([tests, ends]) => {
    const idOf = (index: number) => ['n-', 'n_', 'N.', '9:'][index % 4]! + Math.floor(index / 2);
    const edges: GraphEdge[] = [{ from: 'start', to: idOf(0) }];
    const nodes: GraphNode[] = [];
    for (const [index, { match, conditions: list, onTrue, onFalse, leadsNowhere }] of tests.entries()) {
      const later = tests.length + ends.length - index - 1;
      const to = (choice: number) => idOf(index + 1 + (choice % later));
      if (leadsNowhere !== 0) edges.push({ from: idOf(index), to: to(onTrue), on: 'true' });
      if (leadsNowhere !== 1) edges.push({ from: idOf(index), to: to(onFalse), on: 'false' });
      nodes.push({ id: idOf(index), type: 'condition', conditions: list, ...(match && { match }) });
    }
    for (const [index, { outcome, reason, obligations }] of ends.entries()) {
      const given = {
        ...(reason && { reason }),
        ...(obligations && { obligations: obligations.map((item) => item || 'x') }),
      };
      nodes.push({ id: idOf(tests.length + index), type: 'outcome', outcome, ...given });
    }
    return withoutIslands({ nodes: [{ id: 'start', type: 'start' }, ...nodes], edges });
  });

function withoutIslands({ nodes, edges }: PolicyGraph): PolicyGraph {
  const reached = new Set(['start']);
  for (const id of reached) for (const { from, to } of edges) if (from === id) reached.add(to);
  return { nodes: nodes.filter(({ id }) => reached.has(id)), edges: edges.filter(({ from }) => reached.has(from)) };
}

const odd = fc.oneof(
  someOf(null, [], {}, ['a', 1, null, true], [null], { er: 'a' }, { er: ['a', 'b', 'car'] }, [['a']]),
  literals,
);
const attributes = (usual: Record<string, fc.Arbitrary<unknown>>) =>
  fc.oneof(
    {
      arbitrary: fc.record(
        mapValues(usual, (value) => fc.oneof({ arbitrary: value, weight: 4 }, odd)),
        { requiredKeys: [] },
      ),
      weight: 9,
    },
    odd,
  );

function mapValues<T, U>(object: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

const entities = fc.record({ type: types, id: ids }, { requiredKeys: ['type'] });
const tags = fc.array(literals, { maxLength: 4 });
const addresses = someOf(
  ...[
    '10.1.2.3',
    '10.1.2.200',
    '192.168.1.1',
    '1.2.3.5',
    '2001:db8::1',
    '2001:DB8:0:0::A',
    '::1',
    'fe80::1',
    '::ffff:10.1.2.3',
  ],
  ...[
    '10.1.2.3/32',
    '2001:db8::/64',
    '010.1.2.3',
    '10.1.2',
    '10.1.2.256',
    '0x0a.1.2.3',
    'fe80::1%eth0',
    ' 10.1.2.3',
    'nowhere',
    '',
  ],
  ...['::ffff:a01:203', '2001:db8:::1', '1:2:3:4:5:6:7:8:9', '12345::', '10.1.2.3.4', '167838211', '::10.1.2.3'],
);

/** Inputs as the service builds them; what comes from the request (subject, resource, context) may be anything. */
export const inputs = fc.record(
  mapValues<fc.Arbitrary<unknown>, fc.Arbitrary<unknown>>(
    {
      subject: attributes({ id: ids, department: texts, level: numbers, tags, 'x-y z"': literals }),
      resource: attributes({ type: types, id: ids, level: numbers, tags }),
      context: attributes({ ip: addresses, deep: attributes({ er: literals }), default: literals }),
      action: someOf('car:read', 'a'),
      tenant: someOf('acme', 'b'),
      time: fc.oneof({ arbitrary: instants, weight: 8 }, someOf('', 'yesterday', '2026-02-30T00:00:00Z', 5, null)),
      graph: fc.record(
        {
          subject: fc.array(
            fc.record({ relationshipType: relationshipTypes, to: entities }, { requiredKeys: ['relationshipType'] }),
            {
              maxLength: 5,
            },
          ),
        },
        { requiredKeys: [] },
      ),
      consents,
      dataSubjects: fc.array(fc.record({ id: ids, consents }, { requiredKeys: ['id'] }), { maxLength: 3 }),
      invitation: fc.record(
        { status: someOf('pending', 'pending', 'revoked'), relationshipType: relationshipTypes, to: entities },
        { requiredKeys: ['relationshipType'] },
      ),
    },
    (part) => fc.oneof({ arbitrary: part, weight: 9 }, fc.constant(undefined)),
  ),
);
