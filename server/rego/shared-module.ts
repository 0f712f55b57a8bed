/**
 * The compiler's module, one for all threads of a process. The first thread loads it (0.4 s of CPU), and the others are given
 * it with all the code that V8 has made of it until then. That saves each of them a second of CPU and its 40 MB.
 */
import type { Worker } from 'node:worker_threads';
import type { ToWorker } from './compile-worker.ts';

const threads = new Set<Worker>();
let module: WebAssembly.Module | undefined;
let loading: { by: Worker; over: PromiseWithResolvers<void> } | undefined;
let forgetting: NodeJS.Timeout | undefined;

/** Sends the module to a thread that wants it, or tells it to load it. */
export async function giveModule(worker: Worker): Promise<void> {
  clearTimeout(forgetting);
  threads.add(worker);
  while (module === undefined && loading !== undefined) await loading.over.promise;
  if (!threads.has(worker)) return;
  if (module === undefined) loading = { by: worker, over: Promise.withResolvers() };
  worker.postMessage({ module } satisfies ToWorker);
}

/** A thread has loaded it. */
export function keepModule(loaded: WebAssembly.Module): void {
  module = loaded;
  endLoading();
}

/** A thread has ended. @param keepMs for which the module is kept after the last one, for one that follows */
export function leaveModule(worker: Worker, keepMs: number): void {
  if (loading?.by === worker) endLoading();
  if (!threads.delete(worker) || threads.size > 0) return;
  forgetting = setTimeout(() => {
    module = undefined;
  }, keepMs).unref();
}

function endLoading(): void {
  loading?.over.resolve();
  loading = undefined;
}
