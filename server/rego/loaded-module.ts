/**
 * The compiler's module, one for all threads of a process. The first thread loads it (0.4 s of CPU), and the others are given it with all
 * the code that V8 has made of it until then, which saves each of them more than a second of CPU and 40 MB.
 */
import type { Worker } from 'node:worker_threads';
import type { ToWorker } from './compile-worker.ts';

const threads = new Set<Worker>();
let module: WebAssembly.Module | undefined;
/** The thread that loads it, and what is told when it has, or has ended before. */
let loading: { by: Worker; done: PromiseWithResolvers<void> } | undefined;
let forgetting: NodeJS.Timeout | undefined;

/** Resolves when the thread knows where its module comes from, so that requests may be sent to it. */
export async function giveModule(worker: Worker): Promise<void> {
  clearTimeout(forgetting);
  threads.add(worker);
  while (module === undefined && loading !== undefined) await loading.done.promise;
  if (!threads.has(worker)) return;
  if (module === undefined) loading = { by: worker, done: Promise.withResolvers() };
  worker.postMessage({ module } satisfies ToWorker);
}

/** The thread that was to load it has. */
export function tookModule(loaded: WebAssembly.Module): void {
  module = loaded;
  endLoading();
}

/**
 * A thread has ended. After the last of them the module is kept for those that follow at once.
 * @param keepMs for which it is kept
 */
export function leaveModule(worker: Worker, keepMs: number): void {
  if (!threads.delete(worker)) return;
  if (loading?.by === worker) endLoading();
  if (threads.size > 0) return;
  clearTimeout(forgetting);
  forgetting = setTimeout(() => (module = undefined), keepMs).unref();
}

function endLoading(): void {
  loading?.done.resolve();
  loading = undefined;
}
