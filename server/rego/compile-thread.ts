/** Owns one worker thread of the compiler, seen from outside: start when needed, one request at a time, replace after a hang. */
import { Worker } from 'node:worker_threads';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import type { FromWorker, ToWorker } from './compile-worker.ts';
import type { Outcome } from './compiler-module.ts';
import { CompilerError } from './schema.ts';

type Pending = {
  id: number;
  timeoutMs: number;
  settle(outcome: Outcome | CompilerError): void;
  timer?: NodeJS.Timeout;
};

export class CompilerWorker {
  #worker: Worker | undefined;
  #pending: Pending | undefined;
  #lastId = 0;
  readonly #observe: Observe;

  constructor(observe: Observe = () => {}) {
    this.#observe = observe;
  }

  get busy(): boolean {
    return this.#pending !== undefined;
  }

  /** Starts the thread, so that it loads the compiler in the background. */
  prepare(): void {
    this.#send({ prepare: true });
  }

  /** Answers one request, or `exhausted` when it takes longer than `timeoutMs`. Rejects with CompilerError when the thread dies for a reason that is not the request's. */
  run(message: object, timeoutMs: number = limits.compileTimeoutMs): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      const settle = (result: Outcome | CompilerError) => {
        clearTimeout(this.#pending?.timer);
        this.#pending = undefined;
        this.#worker?.unref();
        if (result instanceof CompilerError) reject(result);
        else resolve(result);
      };
      this.#pending = { id, timeoutMs, settle };
      this.#send({ id, message });
      this.#worker?.ref();
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
    this.#pending?.settle(new CompilerError('compiler_closed', 'the compiler was closed'));
  }

  #send(request: ToWorker): void {
    this.#worker ??= this.#start();
    this.#worker.postMessage(request);
  }

  #start(): Worker {
    const worker = new Worker(new URL('./compile-worker.ts', import.meta.url), {
      name: 'rego-compiler',
      env: {},
      execArgv: [],
      resourceLimits: { stackSizeMb: 4 },
    });
    worker.unref();
    worker.on('message', (reply: FromWorker) => this.#receive(reply));
    worker.on('error', (error) => this.#lost(worker, error.message));
    worker.on('exit', (code) => this.#lost(worker, `exit ${code}`));
    return worker;
  }

  #receive(reply: FromWorker): void {
    const pending = this.#pending;
    if (pending?.id !== reply.id) return;
    if ('outcome' in reply) pending.settle(reply.outcome);
    else pending.timer = setTimeout(() => this.#expire(pending), pending.timeoutMs);
  }

  /** Fuel ends a compile long before; this is for what fuel does not count. */
  #expire(pending: Pending): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
    this.#observe({ kind: 'compiler_replaced', reason: 'timeout' });
    pending.settle({ kind: 'exhausted', reason: `it takes more than ${pending.timeoutMs} ms` });
  }

  #lost(worker: Worker, reason: string): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    this.#observe({ kind: 'compiler_replaced', reason });
    this.#pending?.settle(new CompilerError('compiler_failed', `the compiler's thread ended: ${reason}`));
  }
}
