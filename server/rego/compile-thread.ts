/**
 * Owns one worker thread of the compiler, seen from outside: start when needed, one request at a time, replace after a
 * hang, end when nothing was asked for long.
 */
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
  #idle: NodeJS.Timeout | undefined;
  readonly #observe: Observe;
  readonly #idleMs: number;

  /** @param idleMs the thread ends when it was not asked for this long */
  constructor(observe: Observe = () => {}, idleMs: number = limits.compilerIdleMs) {
    this.#observe = observe;
    this.#idleMs = idleMs;
  }

  get busy(): boolean {
    return this.#pending !== undefined;
  }

  /** Starts the thread, so that it loads the compiler in the background. */
  prepare(): void {
    this.#send({ prepare: true });
    if (!this.busy) this.#rest();
  }

  /** Answers one request, or `exhausted` when it takes longer than `timeoutMs`. Rejects with CompilerError when the thread dies for a reason that is not the request's. */
  run(message: object, timeoutMs: number = limits.compileTimeoutMs): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      const settle = (result: Outcome | CompilerError) => {
        clearTimeout(this.#pending?.timer);
        this.#pending = undefined;
        this.#worker?.unref();
        this.#rest();
        if (result instanceof CompilerError) reject(result);
        else resolve(result);
      };
      this.#pending = { id, timeoutMs, settle };
      this.#send({ id, message });
      this.#worker?.ref();
    });
  }

  async close(): Promise<void> {
    await this.#end();
    this.#pending?.settle(new CompilerError('compiler_closed', 'the compiler was closed'));
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  /** Counts from here on; a thread that is loaded holds some 290 MiB. */
  #rest(): void {
    clearTimeout(this.#idle);
    if (this.#worker === undefined) return;
    const end = () => this.#end().then(() => this.#observe({ kind: 'compiler_ended', idleMs: this.#idleMs }));
    this.#idle = setTimeout(end, this.#idleMs);
    this.#idle.unref();
  }

  #send(request: ToWorker): void {
    clearTimeout(this.#idle);
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
    void this.#end();
    this.#observe({ kind: 'compiler_replaced', reason: 'timeout' });
    pending.settle({ kind: 'exhausted', reason: `it takes more than ${pending.timeoutMs} ms` });
  }

  #lost(worker: Worker, reason: string): void {
    if (worker !== this.#worker) return;
    clearTimeout(this.#idle);
    this.#worker = undefined;
    this.#observe({ kind: 'compiler_replaced', reason });
    this.#pending?.settle(new CompilerError('compiler_failed', `the compiler's thread ended: ${reason}`));
  }
}
