/** Background tasks: again and again, never twice at once, told of when they fail, and ended in order. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Observation } from '../../server/core/observe.ts';
import { runTasks, type Task } from '../../server/room/tasks.ts';

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const observed: Observation[] = [];
const start = (...tasks: Task[]) => runTasks(tasks, (one) => observed.push(one));
const task = (fields: Partial<Task> & Pick<Task, 'run'>): Task => ({ name: 'a task', everyMs: 1000, ...fields });

test('a task runs at once, and again so long after its end as it says', async () => {
  const run = vi.fn<Task['run']>().mockResolvedValueOnce(50).mockResolvedValue(undefined);
  const stop = start(task({ run }));
  expect(run).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(50);
  expect(run).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(999);
  expect(run).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(run).toHaveBeenCalledTimes(3);
  await stop();
});

test('one with firstMs waits before its first run, with others by a tenth apart', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(1);
  const run = vi.fn<Task['run']>().mockResolvedValue(undefined);
  const stop = start(task({ firstMs: 100, run }));
  await vi.advanceTimersByTimeAsync(109);
  expect(run).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(run).toHaveBeenCalledTimes(1);
  await stop();
});

test('it does not begin while it is under way', async () => {
  const held = Promise.withResolvers<undefined>();
  const run = vi.fn<Task['run']>().mockReturnValue(held.promise);
  const stop = start(task({ run }));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(run).toHaveBeenCalledTimes(1);
  held.resolve(undefined);
  await stop();
});

test('a failure is told, and it is tried again after retryMs, a minute at most', async () => {
  const failing = vi.fn<Task['run']>().mockRejectedValue(new Error('away'));
  const daily = vi.fn<Task['run']>().mockRejectedValue(new Error('away'));
  const stop = start(
    task({ name: 'failing', retryMs: 200, run: failing }),
    task({ name: 'daily', everyMs: 86_400_000, run: daily }),
  );
  await vi.advanceTimersByTimeAsync(0);
  expect(observed).toMatchObject([
    { kind: 'background_failed', task: 'failing' },
    { kind: 'background_failed', task: 'daily' },
  ]);
  await vi.advanceTimersByTimeAsync(200);
  expect(failing).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(59_800);
  expect(daily).toHaveBeenCalledTimes(2);
  await stop();
});

test('stopping ends the last one first, waits for it, and begins nothing more', async () => {
  const ended: string[] = [];
  const holding = (name: string) =>
    task({
      name,
      run: (signal) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            ended.push(name);
            resolve(undefined);
          }),
        ),
    });
  const waiting = vi.fn<Task['run']>().mockResolvedValue(undefined);
  await start(holding('first'), holding('second'), task({ run: waiting }))();
  expect(ended).toEqual(['second', 'first']);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(waiting).toHaveBeenCalledTimes(1);
});
