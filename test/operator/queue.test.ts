import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Queue, type QueueOptions } from '../../operator/queue.ts';

/** Time that stands still until it is told to go on, and work that ends when it is told to. */
function bench(options: Partial<QueueOptions> = {}) {
  let now = 0;
  const timers: { at: number; call: () => void; cancelled: boolean }[] = [];
  const begun: string[] = [];
  const failures: { key: string; retryInMs: number }[] = [];
  const running = new Map<string, PromiseWithResolvers<void>>();
  const queue = new Queue({
    work: (key) => {
      expect(running.has(key), `${key} is in flight once`).toBe(false);
      begun.push(key);
      const work = Promise.withResolvers<void>();
      running.set(key, work);
      return work.promise.finally(() => running.delete(key));
    },
    failed: (key, _error, retryInMs) => void failures.push({ key, retryInMs }),
    groupOf: (key) => key.split('/')[0] as string,
    timers: {
      monotonic: () => now,
      after(ms, call) {
        const timer = { at: now + ms, call, cancelled: false };
        timers.push(timer);
        return () => {
          timer.cancelled = true;
        };
      },
    },
    random: () => 1,
    concurrency: 1,
    backoff: { minMs: 100, maxMs: 1000 },
    agedAfterMs: 1000,
    ...options,
  });
  const flush = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    queue,
    begun,
    failures,
    running,
    async end(key: string, error?: Error) {
      if (error) running.get(key)?.reject(error);
      else running.get(key)?.resolve();
      await flush();
    },
    async pass(ms: number) {
      now += ms;
      for (const timer of timers.splice(0)) {
        if (timer.cancelled) continue;
        if (timer.at <= now) timer.call();
        else timers.push(timer);
      }
      await flush();
    },
  };
}

/** Ends whatever is in flight until nothing is. */
async function drain({ running, end }: ReturnType<typeof bench>) {
  while (running.size > 0) for (const key of [...running.keys()]) await end(key);
}

describe('queue', () => {
  test('coalesces keys that wait, and works again on one that was added while in flight', async () => {
    const one = bench();
    for (let i = 0; i < 5; i++) one.queue.add('a/1');
    expect(one.begun).toEqual(['a/1']);
    one.queue.add('a/1');
    await one.end('a/1');
    expect(one.begun).toEqual(['a/1', 'a/1']);
    await one.end('a/1');
    expect(one.running.size).toBe(0);
  });

  test('a key is not in flight for ever when the callback for its failure throws, and is tried again', async () => {
    const listeners = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    const unhandled: unknown[] = [];
    process.on('unhandledRejection', (error) => unhandled.push(error));
    try {
      const thrown = new Error('of the callback');
      const one = bench({
        failed: () => {
          throw thrown;
        },
      });
      one.queue.add('a/1');
      one.queue.add('a/2');
      await one.end('a/1', new Error('of the work'));
      expect(unhandled).toEqual([thrown]);
      expect(one.begun).toEqual(['a/1', 'a/2']);
      await one.end('a/2');
      await one.queue.quiet();
      await one.pass(100);
      expect(one.begun).toEqual(['a/1', 'a/2', 'a/1']);
      await one.end('a/1');
      await one.queue.close();
    } finally {
      process.removeAllListeners('unhandledRejection');
      for (const listener of listeners) process.on('unhandledRejection', listener);
    }
  });

  test('begins no more than its concurrency', async () => {
    const one = bench({ concurrency: 3 });
    for (let i = 0; i < 10; i++) one.queue.add(`a/${i}`);
    expect(one.running.size).toBe(3);
    await one.end('a/0');
    expect(one.running.size).toBe(3);
    await drain(one);
    expect(new Set(one.begun).size).toBe(10);
  });

  test('tenants take turns', async () => {
    const one = bench();
    one.queue.pause();
    for (let i = 0; i < 100; i++) one.queue.add(`loud/${i}`);
    one.queue.add('quiet/1');
    one.queue.resume();
    await one.end('loud/0');
    expect(one.begun).toEqual(['loud/0', 'quiet/1']);
  });

  test('what somebody changed goes before what is looked at again, which does not starve', async () => {
    const one = bench();
    one.queue.pause();
    for (let i = 0; i < 100; i++) one.queue.add(`a/low${i}`, 'low');
    for (let i = 0; i < 100; i++) one.queue.add(`a/high${i}`);
    one.queue.resume();
    for (let i = 0; i < 7; i++) await one.end(one.begun.at(-1) as string);
    expect(one.begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((i) => `a/high${i}`));
    await one.pass(1000);
    for (let i = 0; i < 8; i++) await one.end(one.begun.at(-1) as string);
    expect(one.begun.slice(8).filter((key) => key.startsWith('a/low'))).toEqual(['a/low0', 'a/low1']);
  });

  test('saying that something is served comes between, and does not starve either', async () => {
    const one = bench();
    one.queue.pause();
    one.queue.add('a/low', 'low');
    one.queue.add('a/moves', 'low');
    one.queue.add('a/normal', 'normal');
    one.queue.add('a/moves', 'normal');
    for (let i = 0; i < 6; i++) one.queue.add(`a/high${i}`);
    one.queue.add('a/high0', 'normal');
    one.queue.resume();
    await drain(one);
    expect(one.begun).toEqual(
      ['high0', 'high1', 'high2', 'high3', 'high4', 'high5', 'normal', 'moves', 'low'].map((key) => `a/${key}`),
    );
    one.queue.pause();
    one.queue.add('b/normal', 'normal');
    for (let i = 0; i < 8; i++) one.queue.add(`b/high${i}`);
    await one.pass(1000);
    one.queue.resume();
    for (let i = 0; i < 5; i++) await one.end(one.begun.at(-1) as string);
    expect(one.begun.slice(9)).toContain('b/normal');
  });

  test('a low key that is added again as high moves up, and is worked on once', async () => {
    const one = bench();
    one.queue.pause();
    one.queue.add('a/1', 'low');
    one.queue.add('a/2', 'low');
    one.queue.add('a/2');
    one.queue.resume();
    await drain(one);
    expect(one.begun).toEqual(['a/2', 'a/1']);
  });

  test('retries later each time, at most as late as allowed, and begins anew after a success', async () => {
    const one = bench();
    one.queue.add('a/1');
    for (let i = 0; i < 6; i++) {
      await one.end('a/1', new Error('no'));
      await one.pass(1000);
    }
    expect(one.failures.map((failure) => failure.retryInMs)).toEqual([100, 200, 400, 800, 1000, 1000]);
    await one.end('a/1');
    one.queue.add('a/1');
    await one.end('a/1', new Error('no'));
    expect(one.failures.at(-1)?.retryInMs).toBe(100);
  });

  test('a change does not wait for the retry, which then does not come', async () => {
    const one = bench();
    one.queue.add('a/1');
    await one.end('a/1', new Error('no'));
    one.queue.add('a/1');
    await one.end('a/1');
    await one.pass(10_000);
    expect(one.begun).toEqual(['a/1', 'a/1']);
  });

  test('closes when what is in flight has ended, and begins nothing more', async () => {
    const one = bench();
    one.queue.add('a/1');
    one.queue.add('a/2');
    let closed = false;
    const closing = one.queue.close().then(() => {
      closed = true;
    });
    await one.pass(0);
    expect(closed).toBe(false);
    await one.end('a/1');
    await closing;
    one.queue.add('a/3');
    expect(one.begun).toEqual(['a/1']);
  });

  test('whatever happens, a key that was added is worked on after that, once at a time', async () => {
    const step = fc.oneof(
      fc.record({
        do: fc.constant('add' as const),
        key: fc.constantFrom('a/1', 'a/2', 'b/1', 'c/1'),
        priority: fc.constantFrom('high' as const, 'normal' as const, 'low' as const),
      }),
      fc.record({ do: fc.constant('end' as const), nth: fc.nat(3), fails: fc.boolean() }),
      fc.record({ do: fc.constant('pass' as const), ms: fc.nat(2000) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 60 }),
        fc.integer({ min: 1, max: 3 }),
        async (steps, concurrency) => {
          const one = bench({ concurrency });
          const owed = new Set<string>();
          let seen = 0;
          const note = () => {
            for (const key of one.begun.slice(seen)) owed.delete(key);
            seen = one.begun.length;
          };
          for (const it of steps) {
            if (it.do === 'add') {
              owed.add(it.key);
              one.queue.add(it.key, it.priority);
            } else if (it.do === 'pass') await one.pass(it.ms);
            else {
              const key = [...one.running.keys()][it.nth % Math.max(1, one.running.size)];
              if (key !== undefined) await one.end(key, it.fails ? new Error('no') : undefined);
              if (key !== undefined && it.fails) owed.add(key);
            }
            note();
          }
          for (let i = 0; i < 50 && (owed.size > 0 || one.running.size > 0); i++) {
            await one.pass(1000);
            await drain(one);
            note();
          }
          expect([...owed]).toEqual([]);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('a key for later', () => {
  test('comes when its time has come, once, and not at all when it was added before', async () => {
    const { queue, begun, end, pass } = bench();
    queue.addLater('a/1', 1000);
    queue.addLater('a/1', 1000);
    queue.addLater('a/2', 1000);
    queue.add('a/2');
    await end('a/2');
    expect(begun).toEqual(['a/2']);
    await pass(999);
    expect(begun).toEqual(['a/2']);
    await pass(1);
    await end('a/1');
    await pass(5000);
    expect(begun).toEqual(['a/2', 'a/1']);
  });

  test('asked for by work that then fails comes once, at the time of its retry', async () => {
    const { queue, begun, end, pass } = bench();
    queue.add('a/1');
    queue.addLater('a/1', 5000);
    await end('a/1', new Error('x'));
    await pass(100);
    await end('a/1');
    await pass(10_000);
    expect(begun).toEqual(['a/1', 'a/1']);
  });

  test('does not come after closing', async () => {
    const { queue, begun, pass } = bench();
    queue.addLater('a/1', 1000);
    await queue.close();
    await pass(1000);
    expect(begun).toEqual([]);
  });
});
