/**
 * Evaluation off the main thread: for policies that exhaust their budget again and again, for slow ones while others
 * want the main thread, for the tests of a policy, and for trying one out. One evaluation at a time for a tenant, tenants in turn, a short queue each.
 */
import { Worker } from 'node:worker_threads';
import { FairQueue } from '../core/fair-queue.ts';
import { limits } from '../core/limits.ts';
import type { Code, PackedCode, PolicyErrorKind, Program, Told, TracedSource, Wanted, WhyNot } from '../rego/index.ts';
import type { DocumentText } from './documents.ts';
import type { PolicyGraph } from './graph/index.ts';

export type Evaluation = {
  /**
   * Compiled already (a module is passed by reference, not copied); bytes that the worker compiles and keeps by key; a
   * stored policy, run on its plan, which the worker keeps by key once it was given its code; or a policy that tells how its
   * evaluation went.
   */
  program:
    | Program
    | { key: string; wasm: Uint8Array }
    | { key: string; code?: Code | PackedCode }
    | { key: string; traced: TracedSource; wanted: Wanted };
  /** The type of the actors that have consents, when it is explained why not. */
  consentingType?: string;
  input: unknown;
  /** Nanoseconds since the Unix epoch. */
  now: bigint;
  /** What the program finds below data; with a stored policy that the worker has already, absent. */
  documents?: readonly DocumentText[];
  /** A drawn policy's graph, when its path for the input is wanted too. */
  graph?: PolicyGraph;
};
/** `path`, and of a deny `whyNot`: of a drawn policy whose graph was given; `told`: of a traced one. */
export type Evaluated = { result: unknown; fuelUsed: number; path?: string[]; whyNot?: WhyNot; told?: Told };
export type IsolatedRequest = Evaluation & { id: number };
/**
 * `lost`: the worker did not start, died or was replaced, which need not be the policy's fault; `started`: whether the
 * evaluation had. `absent`: it has not the stored policy's code. `cpuMs`: CPU time of the evaluation.
 */
export type IsolatedReply =
  | ({ id: number; ok: true; cpuMs: number } & Evaluated)
  | { id: number; ok: false; kind: PolicyErrorKind | 'absent'; message: string; cpuMs: number }
  | { id: number; ok: false; kind: 'lost'; message: string; cpuMs: number; started: boolean };
/** `started` comes when the tenant's code is about to run, after our own loading. */
export type FromWorker = { id: number; started: true } | IsolatedReply;

type Waiting = { request: IsolatedRequest; resolve: (reply: IsolatedReply) => void };

export class QueueFull extends Error {}

const WORKER = new URL('./isolated-worker.ts', import.meta.url);

export class IsolatedEvaluator {
  readonly #file: URL;
  #worker: Worker | undefined;
  #running: (Waiting & { timer?: NodeJS.Timeout }) | undefined;
  #nextId = 1;
  readonly #queue = new FairQueue<string, Waiting>();
  #closed = false;

  /** @param file the worker's module */
  constructor(file: URL = WORKER) {
    this.#file = file;
  }

  /**
   * Evaluates in the worker.
   * @param patient whether it may wait in the longer queue: slow policies, tests of a policy, trying one out
   * @throws QueueFull past the tenant's queue
   */
  evaluate(tenant: string, evaluation: Evaluation, patient = false): Promise<IsolatedReply> {
    const request = { id: this.#nextId++, ...evaluation };
    if (this.#closed) return Promise.resolve(lost(request, 'shutting down'));
    const longest = patient ? limits.isolatedPatientPerTenantMax : limits.suspendedQueuePerTenantMax;
    if (this.#queue.length(tenant) >= longest) return Promise.reject(new QueueFull());
    return new Promise((resolve) => {
      this.#queue.push(tenant, { request, resolve });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#lose('shutting down');
    for (let next = this.#queue.shift(); next; next = this.#queue.shift())
      next.item.resolve(lost(next.item.request, 'shutting down'));
    await this.#worker?.terminate();
  }

  #next(): void {
    if (this.#running || this.#closed) return;
    const waiting = this.#queue.shift()?.item;
    if (waiting === undefined) return;
    this.#running = { ...waiting };
    try {
      this.#start().postMessage(waiting.request);
    } catch (error) {
      this.#replace((error as Error).message);
    }
  }

  #start(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(this.#file, { resourceLimits: { maxOldGenerationSizeMb: 128, stackSizeMb: 4 } });
    worker.unref();
    // Messages of a replaced worker are ignored.
    const ended = (reason: string) => {
      if (this.#worker === worker) this.#replace(reason);
    };
    worker.on('message', (message: FromWorker) => this.#receive(message));
    worker.on('error', (error) => ended(error.message));
    worker.on('exit', (code) => ended(`the evaluator's thread ended: exit ${code}`));
    this.#worker = worker;
    return worker;
  }

  #receive(message: FromWorker): void {
    const running = this.#running;
    if (running === undefined || running.request.id !== message.id) return;
    if ('started' in message) {
      running.timer = setTimeout(() => this.#expire(running), limits.isolatedTimeoutMs);
      return;
    }
    clearTimeout(running.timer);
    this.#running = undefined;
    running.resolve(message);
    this.#next();
  }

  /** Fuel ends every evaluation; this timeout is a safety net. */
  #expire(running: Waiting): void {
    // When it was this thread that was held up, the reply has come already and is read first.
    setImmediate(() => {
      if (this.#running === running) this.#replace('the evaluation took too long');
    });
  }

  #replace(reason: string): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
    this.#lose(reason);
    this.#next();
  }

  #lose(reason: string): void {
    const running = this.#running;
    if (running === undefined) return;
    clearTimeout(running.timer);
    this.#running = undefined;
    running.resolve(lost(running.request, reason, running.timer !== undefined));
  }
}

function lost({ id }: IsolatedRequest, message: string, started = false): IsolatedReply {
  return { id, ok: false, kind: 'lost', message, cpuMs: 0, started };
}
