/**
 * The compiler's module, one for all threads of a process. The first thread loads it, and the others are given it with all the
 * code that V8 has made of it until then: each of them starts with 0.4 s of CPU and not 0.7.
 */
import type { ToWorker } from './compile-worker.ts';

/** Of a worker thread. */
type Thread = { postMessage(message: ToWorker): void };

export class SharedModule {
  readonly #threads = new Set<Thread>();
  #module: WebAssembly.Module | undefined;
  #loading: { by: Thread; over: PromiseWithResolvers<void> } | undefined;
  #forgetting: NodeJS.Timeout | undefined;

  /** Sends the module to a thread that wants it, or tells it to load it. */
  async give(thread: Thread): Promise<void> {
    clearTimeout(this.#forgetting);
    this.#threads.add(thread);
    while (this.#module === undefined && this.#loading !== undefined) await this.#loading.over.promise;
    if (!this.#threads.has(thread)) return;
    if (this.#module === undefined) this.#loading = { by: thread, over: Promise.withResolvers() };
    thread.postMessage({ module: this.#module });
  }

  /** A thread has loaded it. */
  keep(module: WebAssembly.Module): void {
    this.#module = module;
    this.#endLoading();
  }

  /** A thread has ended. @param keepMs for which the module is kept after the last one, for one that follows */
  leave(thread: Thread, keepMs: number): void {
    if (this.#loading?.by === thread) this.#endLoading();
    if (!this.#threads.delete(thread) || this.#threads.size > 0) return;
    const forget = () => {
      this.#module = undefined;
    };
    if (keepMs === 0) forget();
    else this.#forgetting = setTimeout(forget, keepMs).unref();
  }

  #endLoading(): void {
    this.#loading?.over.resolve();
    this.#loading = undefined;
  }
}

export const sharedModule = new SharedModule();
