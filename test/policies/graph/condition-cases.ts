/** What each condition means, case by case; the interpreter and the compiled Rego are both held to it. */
import type { Condition } from '../../../server/policies/graph/schema.ts';

export interface ConditionCase {
  title: string;
  condition: Condition;
  input: unknown;
  is: boolean;
}

type Row = [title: string, condition: Omit<Condition, 'type'>, input: unknown, is: boolean];

const rows = (type: Condition['type'], list: Row[]): ConditionCase[] =>
  list.map(([title, condition, input, is]) => ({
    title: `${type}: ${title}`,
    condition: { type, ...condition },
    input,
    is,
  }));

const car7 = { type: 'car', id: '7' };
const owns = { relationshipType: 'owns' };
const linked = (to: unknown, relationshipType = 'owns') => ({
  resource: car7,
  graph: {
    subject: [
      { relationshipType: 'owns', to: { type: 'car', id: '1' } },
      { type: relationshipType, relationshipType, to },
    ],
  },
});

const relationships = rows('relationship', [
  ['to the resource', owns, linked(car7), true],
  ['to the resource, said so', { ...owns, target: 'resource' }, linked(car7), true],
  ['of another type', owns, linked(car7, 'drives'), false],
  ['to another of the type', owns, linked({ type: 'car', id: '8' }), false],
  ['to another type with the id', owns, linked({ type: 'bike', id: '7' }), false],
  ['request without a resource', owns, { graph: linked(car7).graph }, false],
  [
    'resource without an id, link without an id',
    owns,
    { ...linked({ type: 'car' }), resource: { type: 'car' } },
    false,
  ],
  ['input without a graph', owns, { resource: car7 }, false],
  [
    'to a given entity',
    { ...owns, target: 'entity', targetType: 'group', targetId: 'g' },
    linked({ type: 'group', id: 'g' }),
    true,
  ],
  [
    'to not that entity',
    { ...owns, target: 'entity', targetType: 'group', targetId: 'h' },
    linked({ type: 'group', id: 'g' }),
    false,
  ],
  ['to any of a type', { ...owns, target: 'anyOfType', targetType: 'group' }, linked({ type: 'group', id: 'g' }), true],
  [
    'to none of a type',
    { ...owns, target: 'anyOfType', targetType: 'house' },
    linked({ type: 'group', id: 'g' }),
    false,
  ],
]);

const at = (path: string, operator: Condition['operator'], value: unknown) => ({ path, operator: operator!, value });
const between = (operator: Condition['operator']) => ({
  path: 'subject.a',
  operator: operator!,
  valuePath: 'resource.a',
});
const subject = (a: unknown) => ({ subject: { a } });
const both = (a: unknown, b: unknown) => ({ subject: { a }, resource: { a: b } });

const attributes = rows('attribute', [
  ['eq', at('subject.a', 'eq', 'x'), subject('x'), true],
  ['eq, other text', at('subject.a', 'eq', 'x'), subject('X'), false],
  ['eq, number for text', at('subject.a', 'eq', '1'), subject(1), false],
  ['eq, list of it', at('subject.a', 'eq', 'x'), subject(['x']), false],
  ['eq, missing', at('subject.a', 'eq', 'x'), {}, false],
  ['eq false', at('subject.a', 'eq', false), subject(false), true],
  ['eq false, missing', at('subject.a', 'eq', false), {}, false],
  ['eq, of the action', at('action', 'eq', 'car:read'), { action: 'car:read' }, true],
  ['eq, a name that is no identifier', at('subject.cost centre', 'eq', 1), { subject: { 'cost centre': 1 } }, true],
  ['eq, a name that is a keyword', at('subject.default', 'eq', 1), { subject: { default: 1 } }, true],
  ['eq, a step through a list', at('subject.a.0', 'eq', 'x'), subject(['x']), false],
  ['eq, of a path', between('eq'), both('x', 'x'), true],
  ['eq, of a path, both null', between('eq'), both(null, null), false],
  ['eq, of a path, both missing', between('eq'), { subject: {}, resource: {} }, false],
  ['eq, of a path, equal lists', between('eq'), both(['x'], ['x']), false],
  ['ne', at('subject.a', 'ne', 'x'), subject('y'), true],
  ['ne, equal', at('subject.a', 'ne', 'x'), subject('x'), false],
  ['ne, missing', at('subject.a', 'ne', 'x'), {}, false],
  ['ne, null', at('subject.a', 'ne', 'x'), subject(null), false],
  ['ne, of another type', at('subject.a', 'ne', 'x'), subject(5), false],
  ['ne, of a path', between('ne'), both(1, 2), true],
  ['ne, of a path, other types', between('ne'), both(1, '1'), false],
  ['ne, of a path, missing', between('ne'), subject(1), false],
  ['in', { path: 'subject.a', operator: 'in', values: ['x', 2, true] }, subject(2), true],
  ['in, not', { path: 'subject.a', operator: 'in', values: ['x', 2, true] }, subject('2'), false],
  ['in, missing', { path: 'subject.a', operator: 'in', values: ['x'] }, {}, false],
  ['in, of a path', between('in'), both('x', ['w', 'x']), true],
  ['in, of a path, null in a list of null', between('in'), both(null, [null]), false],
  ['in, of a path to an object', between('in'), both('x', { k: 'x' }), false],
  ['in, of a path to a text', between('in'), both('x', 'xyz'), false],
  ['contains', at('subject.a', 'contains', 'x'), subject(['w', 'x']), true],
  ['contains, not', at('subject.a', 'contains', 'x'), subject(['w']), false],
  ['contains, a negative number', at('subject.a', 'contains', -1), subject([2, -1]), true],
  ['contains, a text is not a list', at('subject.a', 'contains', 'x'), subject('xyz'), false],
  ['contains, an object is not a list', at('subject.a', 'contains', 'x'), subject({ k: 'x' }), false],
  ['contains, of a path', between('contains'), both(['w', 2], 2), true],
  ['contains, of a path, null', between('contains'), both([null], null), false],
  ['startsWith', at('subject.a', 'startsWith', 'ab'), subject('abc'), true],
  ['startsWith, not', at('subject.a', 'startsWith', 'b'), subject('abc'), false],
  ['startsWith, of a number', at('subject.a', 'startsWith', '1'), subject(12), false],
  ['startsWith, of a path', between('startsWith'), both('abc', 'a'), true],
  ['startsWith, of a path to an empty text', between('startsWith'), both('abc', ''), false],
  ['startsWith, of a path to a number', between('startsWith'), both('12', 1), false],
  ['lt', at('subject.a', 'lt', 5), subject(4.5), true],
  ['lt, equal', at('subject.a', 'lt', 5), subject(5), false],
  ['lt, null', at('subject.a', 'lt', 5), subject(null), false],
  ['lt, false', at('subject.a', 'lt', 5), subject(false), false],
  ['lt, missing', at('subject.a', 'lt', 5), {}, false],
  ['lte, equal', at('subject.a', 'lte', 5), subject(5), true],
  ['gt', at('subject.a', 'gt', 5), subject(6), true],
  ['gt, a text', at('subject.a', 'gt', 5), subject('6'), false],
  ['gt, a list', at('subject.a', 'gt', 5), subject([6]), false],
  ['gte, equal', at('subject.a', 'gte', -5), subject(-5), true],
  ['lt of texts', at('subject.a', 'lt', 'b'), subject('a'), true],
  ['lt of texts, by code point', at('subject.a', 'lt', '\u{1f600}'), subject('\uffee'), true],
  ['gt, of a path', between('gt'), both(3, 2), true],
  ['gt, of a path, other types', between('gt'), both('3', 2), false],
  ['gt, of a path, booleans', between('gt'), both(true, false), false],
  ['exists', { path: 'subject.a', operator: 'exists' }, subject(false), true],
  ['exists, null', { path: 'subject.a', operator: 'exists' }, subject(null), false],
  ['exists, missing', { path: 'subject.a', operator: 'exists' }, { subject: 'text' }, false],
]);

const consented = (...consents: unknown[]) => ({ consents });

const consents = rows('consent', [
  [
    'sufficient',
    { name: 'terms' },
    consented({ name: 'x', sufficient: true }, { name: 'terms', sufficient: true }),
    true,
  ],
  ['not sufficient', { name: 'terms' }, consented({ name: 'terms', status: 'expired', sufficient: false }), false],
  ['sufficient for another', { name: 'terms' }, consented({ name: 'x', sufficient: true }, { name: 'terms' }), false],
  ['sufficient is not true itself', { name: 'terms' }, consented({ name: 'terms', sufficient: 'true' }), false],
  ['none', { name: 'terms' }, {}, false],
]);

const ofAll = { name: 'terms', whose: 'dataSubjects' } as const;
const terms = { name: 'terms', sufficient: true };
const persons = (...each: unknown[]) => ({
  dataSubjects: each.map((one) => ({ type: 'user', id: 'a', consents: one })),
});

const dataSubjects = rows('consent', [
  ['all agreed', ofAll, persons([terms], [{ name: 'x', sufficient: true }, terms]), true],
  ['one of them did not', ofAll, persons([terms], [{ name: 'x', sufficient: true }]), false],
  ['one of them not sufficiently', ofAll, persons([{ ...terms, sufficient: 'true' }], [terms]), false],
  ['nobody is there', ofAll, persons(), false],
  ['nothing is there', ofAll, {}, false],
  ['no list', ofAll, { dataSubjects: { a: { consents: [terms] } } }, false],
  ['the subject agreed, and they did not', ofAll, { ...consented(terms), ...persons([]) }, false],
  ['they agreed, and the subject is asked', { ...ofAll, whose: 'subject' }, persons([terms]), false],
]);

const invited = (change: object = {}) => ({
  resource: { ...car7, colour: 'red' },
  invitation: { id: 'i', relationshipType: 'drives', to: { ...car7, colour: 'red' }, status: 'pending', ...change },
});

const invitations = rows('invitation', [
  ['for the resource', {}, invited(), true],
  ['for another resource', {}, invited({ to: { type: 'car', id: '8' } }), false],
  ['no longer pending', {}, invited({ status: 'revoked' }), false],
  ['none', {}, { resource: car7 }, false],
  ['neither resource nor target', {}, { invitation: { status: 'pending' } }, false],
  ['of the type', { relationshipType: 'drives' }, invited(), true],
  ['of another type', { relationshipType: 'owns' }, invited(), false],
]);

const office = { fromTime: '09:00', toTime: '17:30', timezone: 'Europe/Amsterdam' };
const night = { fromTime: '22:00', toTime: '06:00', timezone: 'Europe/Amsterdam' };
const friday = { ...night, weekdays: ['friday'] as Condition['weekdays'] & {} };
const time = (instant: unknown) => ({ time: instant });

const times = rows('time', [
  ['after, at the instant', { after: '2026-11-21T14:00:00+01:00' }, time('2026-11-21T13:00:00.000Z'), true],
  ['after, a millisecond before', { after: '2026-11-21T13:00:00Z' }, time('2026-11-21T12:59:59.999Z'), false],
  ['before, a millisecond before', { before: '2026-11-21T13:00:00.001Z' }, time('2026-11-21T13:00:00.000Z'), true],
  ['before, at the instant', { before: '2026-11-21T13:00:00Z' }, time('2026-11-21T13:00:00.000Z'), false],
  [
    'between',
    { after: '2026-01-01T00:00:00Z', before: '2027-01-01T00:00:00Z' },
    time('2026-11-21T13:00:00.000Z'),
    true,
  ],
  [
    'between, later',
    { after: '2026-01-01T00:00:00Z', before: '2026-02-01T00:00:00Z' },
    time('2026-11-21T13:00:00.000Z'),
    false,
  ],
  ['no time', { after: '2026-01-01T00:00:00Z' }, {}, false],
  ['a time that is none', { before: '2029-01-01T00:00:00Z' }, time('soon'), false],
  ['office hours, in winter', office, time('2026-11-20T08:00:00.000Z'), true],
  ['office hours, in summer', office, time('2026-07-20T07:00:00.000Z'), true],
  ['office hours, just before', office, time('2026-11-20T07:59:59.999Z'), false],
  ['office hours, last moment', office, time('2026-11-20T16:29:59.999Z'), true],
  ['office hours, over', office, time('2026-11-20T16:30:00.000Z'), false],
  ['past midnight, in the evening', night, time('2026-11-20T21:00:00.000Z'), true],
  ['past midnight, in the morning', night, time('2026-11-21T04:59:59.999Z'), true],
  ['past midnight, at noon', night, time('2026-11-21T11:00:00.000Z'), false],
  ['until midnight', { ...night, toTime: '00:00' }, time('2026-11-20T22:59:59.999Z'), true],
  ['until midnight, at midnight', { ...night, toTime: '00:00' }, time('2026-11-20T23:00:00.000Z'), false],
  [
    'weekday in the zone',
    { weekdays: ['saturday'], timezone: 'Europe/Amsterdam' },
    time('2026-11-20T23:00:00.000Z'),
    true,
  ],
  ['weekday elsewhere', { weekdays: ['friday'], timezone: 'America/New_York' }, time('2026-11-20T23:00:00.000Z'), true],
  ['another weekday', { weekdays: ['monday', 'friday'], timezone: 'UTC' }, time('2026-11-21T13:00:00.000Z'), false],
  ['friday night, in the evening', friday, time('2026-11-20T21:30:00.000Z'), true],
  ['friday night, on saturday morning', friday, time('2026-11-21T01:00:00.000Z'), true],
  ['friday night, on friday morning', friday, time('2026-11-20T01:00:00.000Z'), false],
  [
    'friday night, after the date',
    { ...friday, before: '2026-11-20T23:00:00Z' },
    time('2026-11-21T01:00:00.000Z'),
    false,
  ],
]);

const ip = (address: unknown) => ({ context: { ip: address } });
const v4 = { ranges: ['192.0.2.0/24', '10.0.0.0/8'] };
const v6 = { ranges: ['2001:db8::/32'] };

const ipRanges = rows('ipRange', [
  ['inside', v4, ip('10.255.0.1'), true],
  ['outside', v4, ip('192.0.3.0'), false],
  ['last address', { ranges: ['192.0.2.0/24'] }, ip('192.0.2.255'), true],
  ['all', { ranges: ['0.0.0.0/0'] }, ip('203.0.113.9'), true],
  ['v6 inside', v6, ip('2001:DB8:0::1'), true],
  ['v6 outside', v6, ip('2001:db9::1'), false],
  ['v6 in v4', v4, ip('::1'), false],
  ['v4 in all of v6', { ranges: ['::/0'] }, ip('10.0.0.1'), false],
  ['v4 mapped into v6', v4, ip('::ffff:10.0.0.1'), true],
  ['v4 mapped into v6, hexadecimal', v4, ip('0:0:0:0:0:FFFF:a00:1'), true],
  ['v4 mapped into v6, outside', v4, ip('::ffff:11.0.0.1'), false],
  ['v4 mapped into v6, in all of v6', { ranges: ['::/0'] }, ip('::ffff:10.0.0.1'), true],
  ['a mapped range', { ranges: ['::ffff:10.0.0.0/104'] }, ip('::ffff:10.0.0.1'), true],
  [
    'at another path',
    { ...v4, path: 'context.client.address' },
    { context: { client: { address: '10.0.0.1' } } },
    true,
  ],
  ['a range instead of an address', v4, ip('10.0.0.0/30'), false],
  ['leading zeros', v4, ip('010.0.0.1'), false],
  ['not an address', v4, ip('10.0.0'), false],
  ['a zone index', { ranges: ['fe80::/10'] }, ip('fe80::1%eth0'), false],
  ['a number', v4, ip(167772161), false],
  ['missing', v4, {}, false],
]);

export const conditionCases = [
  ...relationships,
  ...attributes,
  ...consents,
  ...dataSubjects,
  ...invitations,
  ...times,
  ...ipRanges,
];
