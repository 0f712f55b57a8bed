/** The queue that takes from tenants in turn: the order, the bounds, and who loses what is too much. */
import { describe, expect, test } from 'vitest';
import { FairQueue } from '../../server/core/fair-queue.ts';

type Item = { value: string; size: number };

describe('in turn', () => {
  test('each key has one, in the order of its own', () => {
    const queue = new FairQueue<string, number>();
    for (const [key, item] of [
      ['a', 1],
      ['a', 2],
      ['a', 3],
      ['b', 4],
      ['c', 5],
      ['b', 6],
    ] as const) {
      expect(queue.push(key, item)).toEqual([]);
    }
    expect([queue.count, queue.length('a'), queue.length('d')]).toEqual([6, 3, 0]);
    expect([...queue.keys()]).toEqual(['a', 'b', 'c']);
    expect(Array.from({ length: 7 }, () => queue.shift()?.item)).toEqual([1, 4, 5, 2, 6, 3, undefined]);
    expect(queue.count).toBe(0);
  });

  test('a key that is not ready keeps its turn', () => {
    const queue = new FairQueue<string, number>();
    for (const [key, item] of [
      ['a', 1],
      ['b', 2],
      ['b', 3],
    ] as const)
      queue.push(key, item);
    expect(queue.shift((key) => key !== 'a')).toEqual({ key: 'b', item: 2 });
    expect(queue.shift(() => false)).toBeUndefined();
    expect(queue.shift()).toEqual({ key: 'a', item: 1 });
    expect(queue.shiftOf('b')).toBe(3);
    expect(queue.count).toBe(0);
  });

  test('keeps the order of a long queue that is taken from in parts', () => {
    const queue = new FairQueue<string, number>();
    for (let n = 0; n < 5000; n++) queue.push('a', n);
    const taken: number[] = [];
    while (queue.count > 0) taken.push(...queue.take(700, 1));
    expect(taken).toEqual(Array.from({ length: 5000 }, (_, n) => n));
  });
});

describe('bounded', () => {
  const bounded = (bounds: { countMax?: number; sizeMax?: number }) =>
    new FairQueue<string, Item>({ countMax: 1000, sizeMax: 1000, sizeOf: ({ size }) => size, ...bounds });
  const values = (items: readonly Item[]) => items.map(({ value }) => value);

  test('whoever holds most items loses its oldest', () => {
    const queue = bounded({ countMax: 4 });
    for (const value of ['aa1', 'aa2', 'bb1', 'aa3'])
      expect(queue.push(value.slice(0, 2), { value, size: 1 })).toEqual([]);
    expect(queue.push('bb', { value: 'bb2', size: 1 })).toEqual(['aa']);
    expect(values(queue.take(10, 100))).toEqual(['aa2', 'bb1', 'aa3', 'bb2']);
    expect(queue.count).toBe(0);
  });

  test('whoever holds the largest loses its oldest, where the sizes are too much', () => {
    const queue = bounded({ sizeMax: 100 });
    for (let n = 0; n < 5; n++) queue.push('many', { value: `m${n}`, size: 1 });
    queue.push('large', { value: 'l1', size: 60 });
    expect(queue.push('large', { value: 'l2', size: 60 })).toEqual(['large']);
    expect(values(queue.take(10, 1000))).toEqual(['m0', 'l2', 'm1', 'm2', 'm3', 'm4']);
    // What was taken counts no more.
    expect(queue.push('large', { value: 'l3', size: 100 })).toEqual([]);
  });

  test('takes so many, or so much, and one at least', () => {
    const queue = bounded({});
    for (let n = 0; n < 3; n++) queue.push('a', { value: `${n}`, size: 10 });
    queue.push('b', { value: '9', size: 10 });
    expect(values(queue.take(3, 1000))).toEqual(['0', '9', '1']);
    queue.push('b', { value: '8', size: 10 });
    expect(values(queue.take(3, 5))).toEqual(['2']);
    expect(values(queue.take(3, 5))).toEqual(['8']);
    expect(values(queue.take(3, 5))).toEqual([]);
  });
});
