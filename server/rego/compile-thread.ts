/**
 * One worker thread of the compiler, seen from outside: start when needed, one request at a time, replace after a
 * hang, end when nothing was asked for long.
 */
import { Worker } from 'node:worker_threads';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import type { FromWorker, ToWorker } from './compile-worker.ts';
import type { Outcome } from './compiler-module.ts';
import { CompilerError } from './schema.ts';
import { sharedModule } from './shared-module.ts';

/** `cpuMs` is CPU time of the thread, `waitMs` is by the clock. */
export type Bounds = { cpuMs: number; waitMs: number };
type Pending = {
  id: number;
  bounds: Bounds;
  settle(outcome: Outcome | CompilerError): void;
  /** When its CPU time is looked at next, and when it is given up. */
  timers: { check?: NodeJS.Timeout; giveUp?: NodeJS.Timeout };
};

const WORKER = new URL('./compile-worker.ts', import.meta.url);
const BOUNDS: Bounds = { cpuMs: limits.compileCpuMsMax, waitMs: limits.compileWaitMsMax };
/** A thread that has used nearly all is not asked again and again. */
const CHECK_MS_MIN = 10;

export class CompilerWorker {
  #worker: Worker | undefined;
  #pending: Pending | undefined;
  #lastId = 0;
  #idle: NodeJS.Timeout | undefined;
  readonly #observe: Observe;
  readonly #idleMs: number;
  readonly #file: URL;

  /**
   * @param idleMs the thread ends when it was not asked for this long
   * @param file the thread's module
   */
  constructor(observe: Observe = () => {}, idleMs: number = limits.compilerIdleMs, file: URL = WORKER) {
    this.#observe = observe;
    this.#idleMs = idleMs;
    this.#file = file;
  }

  get busy(): boolean {
    return this.#pending !== undefined;
  }

  /** Starts the thread, so that it loads the compiler in the background. */
  prepare(): void {
    this.#send({ prepare: true });
    if (!this.busy) this.#rest();
  }

  /**
   * Answers one request, or `exhausted` when it takes more CPU time than it may. Rejects with CompilerError when the thread
   * dies, or does not get the CPU in time, which is not the request's fault.
   */
  run(message: object, bounds: Bounds = BOUNDS): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      const settle = (result: Outcome | CompilerError) => {
        clearTimeout(this.#pending?.timers.check);
        clearTimeout(this.#pending?.timers.giveUp);
        this.#pending = undefined;
        this.#worker?.unref();
        this.#rest();
        if (result instanceof CompilerError) reject(result);
        else resolve(result);
      };
      this.#pending = { id, bounds, settle, timers: {} };
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

  /** Counts from here on; a thread that is loaded holds some 290 MiB, the module that it then leaves among them. */
  #rest(): void {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    if (worker === undefined) return;
    const end = () => {
      sharedModule.leave(worker, 0);
      return this.#end().then(() => this.#observe({ kind: 'compiler_ended', idleMs: this.#idleMs }));
    };
    this.#idle = setTimeout(end, this.#idleMs);
    this.#idle.unref();
  }

  #send(request: ToWorker): void {
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    this.#worker.postMessage(request);
  }

  #start(): Worker {
    const worker = new Worker(this.#file, {
      name: 'rego-compiler',
      env: {},
      execArgv: [],
      resourceLimits: { stackSizeMb: 4 },
    });
    worker.unref();
    worker.on('message', (reply: FromWorker) => {
      if ('wants' in reply) void sharedModule.give(worker);
      else if ('module' in reply) sharedModule.keep(reply.module);
      else this.#receive(reply);
    });
    worker.on('error', (error) => this.#lost(worker, error.message));
    worker.on('exit', (code) => {
      sharedModule.leave(worker, this.#idleMs);
      this.#lost(worker, `exit ${code}`);
    });
    return worker;
  }

  #receive(reply: Extract<FromWorker, { id: number }>): void {
    const pending = this.#pending;
    if (pending?.id !== reply.id) return;
    if ('outcome' in reply) pending.settle(reply.outcome);
    else void this.#watch(pending);
  }

  /** Fuel ends a compile long before; this is for what fuel does not count. */
  async #watch(pending: Pending): Promise<void> {
    const { timers, bounds } = pending;
    timers.giveUp = setTimeout(() => this.#giveUp(pending), bounds.waitMs);
    const before = await this.#cpuMs();
    const check = async () => {
      const left = bounds.cpuMs - ((await this.#cpuMs()) - before);
      if (this.#pending !== pending) return;
      if (left <= 0) this.#exhausted(pending);
      else timers.check = setTimeout(check, Math.max(left, CHECK_MS_MIN));
    };
    if (this.#pending === pending) timers.check = setTimeout(check, bounds.cpuMs);
  }

  /** What the thread has used; a thread that has ended is nobody's any more. */
  async #cpuMs(): Promise<number> {
    const used = await this.#worker?.cpuUsage().catch(() => undefined);
    return used === undefined ? 0 : (used.user + used.system) / 1000;
  }

  #exhausted(pending: Pending): void {
    void this.#end();
    this.#observe({ kind: 'compiler_replaced', reason: 'timeout' });
    pending.settle({ kind: 'exhausted', reason: `it takes more than ${pending.bounds.cpuMs} ms of CPU time` });
  }

  async #giveUp(pending: Pending): Promise<void> {
    // When it was this thread that was held up, the reply has come already and is read first.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#pending !== pending) return;
    void this.#end();
    this.#observe({ kind: 'compiler_replaced', reason: 'no CPU time' });
    const { cpuMs, waitMs } = pending.bounds;
    const detail = `the compiler's thread did not get ${cpuMs} ms of CPU time within ${waitMs} ms`;
    pending.settle(new CompilerError('compiler_starved', detail));
  }

  #lost(worker: Worker, reason: string): void {
    if (worker !== this.#worker) return;
    clearTimeout(this.#idle);
    this.#worker = undefined;
    this.#observe({ kind: 'compiler_replaced', reason });
    this.#pending?.settle(new CompilerError('compiler_failed', `the compiler's thread ended: ${reason}`));
  }
}
