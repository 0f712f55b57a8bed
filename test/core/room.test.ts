/** Creating rooms: in the order of their list, each on those before it. */
import { expect, test } from 'vitest';
import { type BaseServices, createRooms, defineRoom, lateBound } from '../../server/room/room.ts';

const lower = defineRoom({ name: 'lower', tables: [], create: async () => ({ level: 1 }) });
const upper = defineRoom({ name: 'upper', tables: [], create: (_ground, use) => ({ level: use(lower).level + 1 }) });
const base = { baseUrl: 'http://accord.test' } as BaseServices;

test('a room uses those before it, also where they are created later than at once', async () => {
  const use = await createRooms(base, [lower, upper]);
  expect([use(lower).level, use(upper).level]).toEqual([1, 2]);
});

test('a room does not use those after it, nor one that is not in the list', async () => {
  await expect(createRooms(base, [upper, lower])).rejects.toThrow(/the room lower is not there; it must stand before/);
  const use = await createRooms(base, [lower]);
  expect(() => use(upper)).toThrow(/the room upper is not there/);
});

test('rooms that are created again stand on those that are not', async () => {
  const fallback = await createRooms(base, [lower, upper]);
  const use = await createRooms(base, [upper], fallback);
  expect(use(lower)).toBe(fallback(lower));
  expect(use(upper)).not.toBe(fallback(upper));
});

test('what a room needs of one above it is an error until it is provided', () => {
  const doubled = lateBound<(value: number) => number>('doubled');
  expect(() => doubled.call(1)).toThrow('no room provides doubled');
  doubled.provide((value) => 2 * value);
  expect(doubled.call(1)).toBe(2);
});
