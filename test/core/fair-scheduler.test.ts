/** Turns of the main thread: who has had least goes first, what arrives is read in between, and one alone waits for nobody. */
import { setImmediate as immediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { FairScheduler } from '../../server/core/fair-scheduler.ts';
import { limits } from '../../server/core/limits.ts';
import { untilPasses } from '../helpers/wait.ts';
import { TestClock } from './auth/test-clock.ts';

function queue() {
  const clock = new TestClock();
  const turns = new FairScheduler(clock);
  const order: string[] = [];
  /** A piece of work that takes so many ms. */
  const work = (name: string, ms = 0) => {
    return () => {
      order.push(name);
      clock.advance(ms);
    };
  };
  const enter = (tenant: string, ms = 0) => turns.enter(tenant, work(tenant, ms));
  /** As many turns of the event loop. */
  const pass = async (count = 200) => {
    for (let n = 0; n < count; n++) await immediate();
  };
  /** Both were seen: neither is alone. */
  const share = async () => {
    enter('many');
    enter('few');
    await pass();
    order.length = 0;
  };
  return { clock, turns, order, enter, work, pass, share };
}

describe('a tenant that is alone', () => {
  test('waits for nobody: its work is done before enter returns', () => {
    const { turns, order, enter } = queue();
    for (let n = 0; n < 3; n++) enter('a');
    expect(order).toEqual(['a', 'a', 'a']);
    expect(turns.isShared).toBe(false);
  });

  test(`is alone again when the others were not seen for turnMemoryMs`, async () => {
    const { clock, turns, order, enter, pass, share } = queue();
    await share();
    clock.advance(limits.turnMemoryMs);
    enter('many');
    await pass();
    expect(turns.isShared).toBe(true);
    clock.advance(limits.turnMemoryMs / 2);
    enter('many');
    await pass();
    expect(turns.isShared).toBe(false);
    order.length = 0;
    enter('many');
    expect(order).toEqual(['many']);
  });
});

describe('between tenants', () => {
  test('a little is waited for by nobody behind much: the first of few goes after one of many', async () => {
    const { order, enter, pass, share } = queue();
    await share();
    for (let n = 0; n < 50; n++) enter('many', 0.05);
    for (let n = 0; n < 4; n++) enter('few', 0.05);
    await pass();
    expect(order).toHaveLength(54);
    expect(order.lastIndexOf('few')).toBeLessThan(10);
  });

  test('time counts, and not pieces: who takes ten times as long has a tenth of the pieces', async () => {
    const { order, enter, pass, share } = queue();
    await share();
    for (let n = 0; n < 40; n++) enter('many', 0.2);
    for (let n = 0; n < 40; n++) enter('few', 0.02);
    await pass();
    const meanwhile = order.slice(0, order.lastIndexOf('few')).filter((one) => one === 'many').length;
    expect(meanwhile).toBeGreaterThanOrEqual(2);
    expect(meanwhile).toBeLessThanOrEqual(7);
  });

  test('nobody saves up what it did not use', async () => {
    const { order, enter, pass, share } = queue();
    await share();
    for (let n = 0; n < 100; n++) enter('many', 0.2);
    await pass();
    order.length = 0;
    for (let n = 0; n < 20; n++) enter('few', 0.2);
    for (let n = 0; n < 20; n++) enter('many', 0.2);
    await pass();
    expect(order.indexOf('many')).toBeLessThan(4);
  });

  test('what took time outside of turns counts too', async () => {
    const { turns, order, enter, pass, share } = queue();
    await share();
    turns.charge('many', 5);
    for (let n = 0; n < 10; n++) enter('many', 0.2);
    for (let n = 0; n < 10; n++) enter('few', 0.2);
    await pass();
    expect(order.slice(0, 10)).toEqual(Array(10).fill('few'));
  });

  test('what a piece leaves to promises and ticks is its own', async () => {
    const { clock, turns, order, enter, pass, share } = queue();
    await share();
    turns.enter('many', () => {
      order.push('many');
      void Promise.resolve().then(() => process.nextTick(() => clock.advance(3)));
    });
    for (let n = 0; n < 5; n++) enter('many', 0.1);
    for (let n = 0; n < 5; n++) enter('few', 0.1);
    await pass();
    expect(order.slice(0, 6)).toEqual(['many', ...Array(5).fill('few')]);
  });
});

test('a tenant that waits for longer than turnMemoryMs keeps its share', async () => {
  const { turns, order, enter, pass, share } = queue();
  await share();
  turns.charge('few', limits.turnMemoryMs * 3);
  enter('few', 0.05);
  enter('many', limits.turnMemoryMs + 1);
  for (let n = 0; n < 3; n++) enter('many', 0.1);
  await immediate(); // at its end those that were not seen lately are forgotten
  expect(order).toEqual(['many']);
  enter('few', 0.05);
  await pass();
  expect(order).toEqual(['many', 'many', 'many', 'many', 'few', 'few']);
});

describe('in each turn of the event loop', () => {
  test(`no more begins once turnMs have passed: what arrives is read in between`, async () => {
    const { turns, order, work, share } = queue();
    await share();
    const arrive = () => order.push('arrival');
    for (let n = 0; n < 4; n++) void turns.run('many', work('work', limits.turnMs / 2));
    for (let n = 0; n < 2; n++) {
      await immediate();
      arrive();
    }
    expect(order).toEqual(['work', 'work', 'arrival', 'work', 'work', 'arrival']);
  });

  test(`at most turnPiecesMax pieces are done, however short`, async () => {
    const { order, enter, share } = queue();
    await share();
    for (let n = 0; n < limits.turnPiecesMax + 1; n++) enter('many');
    await immediate();
    expect(order).toHaveLength(limits.turnPiecesMax);
    await immediate();
    expect(order).toHaveLength(limits.turnPiecesMax + 1);
  });
});

describe('long work', () => {
  test(`waits until who had less was not seen for turnAwaitedMs, and is done then`, async () => {
    const { clock, order, enter, pass, share } = queue();
    await share();
    clock.advance(limits.turnAwaitedMs);
    enter('many', 5);
    await pass();
    expect(order).toEqual(['many']);
    enter('few', 0.05);
    enter('many', 5);
    await pass();
    expect(order).toEqual(['many', 'few']); // few may be about to ask again
    enter('few', 0.05);
    await pass();
    expect(order).toEqual(['many', 'few', 'few']);
    clock.advance(limits.turnAwaitedMs);
    await untilPasses('the turn of many', () => expect(order).toEqual(['many', 'few', 'few', 'many']));
  });

  test(`waits for turnAwaitedMs at most, also when those who had less ask all the time, and each piece anew`, async () => {
    const { clock, order, enter, pass, share } = queue();
    await share();
    clock.advance(limits.turnAwaitedMs);
    enter('many', 5);
    await pass();
    for (let piece = 0; piece < 3; piece++) {
      order.length = 0;
      const step = limits.turnAwaitedMs / 4;
      enter('few');
      await pass(); // few was served just now
      enter('many', 5);
      await pass();
      for (let n = 1; n < 4; n++) {
        clock.advance(step);
        enter('few');
        await pass();
      }
      expect(order).toEqual(Array(4).fill('few'));
      clock.advance(step);
      enter('few');
      await pass();
      expect(order).toEqual([...Array(5).fill('few'), 'many']);
    }
  });

  test('short work waits for nobody who asks nothing', async () => {
    const { order, enter, pass, share } = queue();
    await share();
    for (let n = 0; n < 10; n++) enter('many', 0.1);
    await pass();
    expect(order).toHaveLength(10);
  });
});

test('run gives back what the work gives, later or never', async () => {
  const { turns } = queue();
  expect(await turns.run('a', () => 1)).toBe(1);
  expect(await turns.run('a', async () => 2)).toBe(2);
  const failing = turns.run('a', () => {
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await turns.run('a', () => 3)).toBe(3);
});

test('work of many steps waits for a turn once it took turnMs, and not before', async () => {
  const { clock, turns } = queue();
  const pace = turns.pace('a');
  clock.advance(limits.turnMs / 2);
  expect(pace()).toBeUndefined();
  clock.advance(limits.turnMs / 2);
  await pace();
  expect(pace()).toBeUndefined();
});
