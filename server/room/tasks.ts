/** What a server does in the background again and again: one runner for all rooms' tasks, which never overlap themselves. */
import type { Observe } from '../core/observe.ts';

export type Task = {
  name: string;
  /** Between the end of one run and the begin of the next. */
  everyMs: number;
  /** Before the first run. @default 0 */
  firstMs?: number;
  /** After a failure. @default everyMs, at most a minute */
  retryMs?: number;
  /**
   * @param signal aborted when it is to stop
   * @returns after how many ms it is to run again, where that is not everyMs
   */
  run(signal: AbortSignal): Promise<number | undefined>;
};

/** Servers that were started together do not all come at once. */
const JITTER = 0.1;
const RETRY_MS_MAX = 60_000;

/**
 * Runs tasks until they are stopped.
 * @returns what stops them, the last one first: it resolves when none is under way
 */
export function runTasks(tasks: readonly Task[], observe: Observe): () => Promise<void> {
  const stops = tasks.map((task) => runTask(task, observe));
  return async () => {
    for (const stop of stops.reverse()) await stop();
  };
}

function runTask(task: Task, observe: Observe): () => Promise<void> {
  const { everyMs, firstMs = 0, retryMs = Math.min(everyMs, RETRY_MS_MAX) } = task;
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const once = async () => {
    let nextMs = retryMs;
    try {
      nextMs = (await task.run(stopping.signal)) ?? everyMs;
    } catch (error) {
      observe({ kind: 'background_failed', task: task.name, error });
    }
    if (!stopping.signal.aborted) schedule(nextMs);
  };
  const schedule = (ms: number) => {
    timer = setTimeout(
      () => {
        running = once();
      },
      ms * (1 + JITTER * Math.random()),
    ).unref();
  };
  if (firstMs > 0) schedule(firstMs);
  else running = once();
  return async () => {
    stopping.abort();
    clearTimeout(timer);
    await running;
  };
}
