/** What follows from stored relationships by inheritance, without a database. */
import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { resolve as resolveOrRefuse } from '../../server/relationships/graph/resolve.ts';
import type { Edge } from '../../server/relationships/graph/schema.ts';

const resolve = (...asked: Parameters<typeof resolveOrRefuse>) => {
  const found = resolveOrRefuse(...asked);
  return typeof found === 'string' ? undefined : { ...found, inherited: found.paths() };
};
const node = (name: string) => ({ type: name.split('/')[0] as string, id: name.split('/')[1] as string });
const edge = (from: string, name: string, to: string, attributes?: Record<string, unknown>): Edge => ({
  from: node(from),
  name,
  to: node(to),
  attributes,
});
const inheritances = [
  { makes: 'user:drives:car', through: 'user:member_of:group', next: 'group:owns:car' },
  { makes: 'group:owns:car', through: 'group:part_of:group', next: 'group:owns:car' },
];
const edges = [
  edge('user/a', 'member_of', 'group/g'),
  edge('group/g', 'part_of', 'group/h'),
  edge('group/h', 'part_of', 'group/g'),
  edge('group/h', 'owns', 'car/1', { color: 'red' }),
];

test('ways within ways are followed, and the shortest is told', () => {
  const found = resolve('from', node('user/a'), edges, { inheritances });
  expect(found?.entries).toEqual([
    { name: 'member_of', node: node('group/g') },
    { name: 'drives', node: node('car/1') },
  ]);
  expect(found?.inherited.map(({ through }) => through.map((step) => step.relationshipType))).toEqual([
    ['member_of', 'part_of', 'owns'],
  ]);
  expect(found?.attributes.get('car\x001')).toEqual({ color: 'red' });
});

test('one that ends where it begins may be followed by itself', () => {
  const twice = [{ makes: 'user:trusts:user', through: 'user:knows:user', next: 'user:knows:user' }];
  const found = resolve('from', node('user/a'), [edge('user/a', 'knows', 'user/a')], { inheritances: twice });
  expect(found?.entries.map(({ name }) => name)).toEqual(['knows', 'trusts']);
  const none = resolve('from', node('user/a'), [edge('user/a', 'knows', 'user/b')], { inheritances: twice });
  expect(none?.entries.map(({ name }) => name)).toEqual(['knows']);
});

test('from the other end it is the same', () => {
  const found = resolve('to', node('car/1'), edges, { inheritances });
  expect(found?.entries.map(({ name, node: far }) => `${far.type}/${far.id} ${name}`).sort()).toEqual([
    'group/g owns',
    'group/h owns',
    'user/a drives',
  ]);
});

test('a relationship that is stored and inherited is there once, and without a way', () => {
  const both = [...edges, edge('user/a', 'drives', 'car/1')];
  const found = resolve('from', node('user/a'), both, { inheritances });
  expect(found?.entries.filter(({ name }) => name === 'drives')).toHaveLength(1);
  expect(found?.inherited).toEqual([]);
});

test('factsEntriesMax relationships are given, and one more is no part of them', () => {
  const many = Array.from({ length: limits.factsEntriesMax + 1 }, (_, i) => edge('user/a', 'drives', `car/${i}`));
  const none = { inheritances: [] };
  expect(resolve('from', node('user/a'), many.slice(1), none)?.entries).toHaveLength(limits.factsEntriesMax);
  expect(resolveOrRefuse('from', node('user/a'), many, none)).toBe(`more than ${limits.factsEntriesMax} relationships`);
});

test('more than factsDerivedMax that follow are too many, and are not all worked out', () => {
  const half = Math.ceil(Math.sqrt(limits.factsDerivedMax + 1));
  const wide = Array.from({ length: half }, (_, i) => [
    edge(`user/${i}`, 'member_of', 'group/g'),
    edge('group/g', 'owns', `car/${i}`),
  ]).flat();
  expect(half * half).toBeGreaterThan(limits.factsDerivedMax);
  expect(resolve('from', node('user/0'), wide, { inheritances })).toBeUndefined();
  expect(resolve('from', node('user/0'), wide.slice(0, half), { inheritances })?.entries).not.toHaveLength(0);
});

test('however many ways one pair makes another, no more than factsDerivedMax are worked out', () => {
  const many = [
    edge('user/a', 'member_of', 'group/g'),
    ...Array.from({ length: limits.factsEdgesMax - 1 }, (_, i) => edge('group/g', 'owns', `car/${i}`)),
  ];
  const ways = Array.from({ length: 200 }, (_, i) => ({
    makes: `user:may${i}:car`,
    through: 'user:member_of:group',
    next: 'group:owns:car',
  }));
  const before = process.memoryUsage().heapUsed;
  expect(resolve('from', node('user/a'), many, { inheritances: ways })).toBeUndefined();
  // Each that is worked out is an object of some hundred bytes: 800,000 of them were 400 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(150 * 2 ** 20);
});

test('explained paths have explainedStepsMax steps together, and count the others', () => {
  const ways = [{ makes: 'user:member_of:group', through: 'user:member_of:group', next: 'group:part_of:group' }];
  const chain = (count: number) => [
    edge('user/a', 'member_of', 'group/0'),
    ...Array.from({ length: count }, (_, i) => edge(`group/${i}`, 'part_of', `group/${i + 1}`)),
  ];
  const pathsOf = (count: number) =>
    resolve('from', node('user/a'), chain(count), { inheritances: ways })?.inherited.map((one) => [
      one.through.length,
      one.leftOut,
    ]);
  const all = (count: number) => (count * (count + 3)) / 2; // paths of 2, 3, … steps
  const most = 198;
  expect([all(most) <= limits.explainedStepsMax, all(most + 1) > limits.explainedStepsMax]).toEqual([true, true]);
  expect(pathsOf(most)).toEqual(Array.from({ length: most }, (_, i) => [i + 2, undefined]));
  const each = Math.floor(limits.explainedStepsMax / (most + 1));
  const cut = Array.from({ length: most + 1 }, (_, i) => i + 2).map((length) =>
    length > each ? [each, length - each] : [length, undefined],
  );
  expect(pathsOf(most + 1)).toEqual(cut);
});
