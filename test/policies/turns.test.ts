/** Turns on the main thread: one a turn of the event loop, tenants in turn. */
import { expect, test } from 'vitest';
import { Turns } from '../../server/policies/turns.ts';

test('one in each turn: what arrives meanwhile is served in between', async () => {
  const turns = new Turns();
  const seen: string[] = [];
  const running = [1, 2, 3].map((n) => turns.run('a', () => void seen.push(`work ${n}`)));
  let left = 3;
  const arrive = () => {
    seen.push('arrival');
    if (--left > 0) setImmediate(arrive);
  };
  setImmediate(arrive);
  await Promise.all(running);
  expect(seen.filter((one) => one !== 'arrival')).toEqual(['work 1', 'work 2', 'work 3']);
  const between = seen.slice(seen.indexOf('work 1'), seen.indexOf('work 3'));
  expect(between.filter((one) => one === 'arrival').length).toBeGreaterThanOrEqual(2);
});

test('a tenant with little work waits for one of a tenant with much', async () => {
  const turns = new Turns();
  const order: string[] = [];
  const many = Array.from({ length: 10 }, () => turns.run('many', () => void order.push('many')));
  await Promise.all([...many, turns.run('few', () => void order.push('few'))]);
  expect(order.indexOf('few')).toBe(1);
});

test('gives back what the work gives, later or never', async () => {
  const turns = new Turns();
  expect(await turns.run('a', () => 1)).toBe(1);
  expect(await turns.run('a', async () => 2)).toBe(2);
  const failing = turns.run('a', () => {
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await turns.run('a', () => 3)).toBe(3);
});
