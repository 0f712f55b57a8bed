/**
 * Owns evaluation off the main thread: for policies that exhaust their budget again and again, for the tests of a
 * policy, and for trying one out. One evaluation at a time for a tenant, tenants in turn, a short queue each.
 */
import { Worker } from 'node:worker_threads';
import { limits } from '../core/limits.ts';
import type { PolicyErrorKind, Program } from '../rego/index.ts';

export type Evaluation = {
  /** Compiled already (a module is passed by reference, not copied), or bytes that the worker compiles and keeps by key. */
  program: Program | { key: string; wasm: Uint8Array };
  input: unknown;
  /** Nanoseconds since the Unix epoch. */
  now: bigint;
};
export type IsolatedRequest = Evaluation & { id: number };
export type IsolatedReply =
  | { id: number; ok: true; result: unknown; fuelUsed: number }
  | { id: number; ok: false; kind: PolicyErrorKind; message: string };

type Waiting = { request: IsolatedRequest; resolve: (reply: IsolatedReply) => void };

export class QueueFull extends Error {}

export class IsolatedEvaluator {
  #worker: Worker | undefined;
  #running: (Waiting & { timer: NodeJS.Timeout }) | undefined;
  #nextId = 1;
  /** Tenants that wait, in turn. */
  readonly #queues = new Map<string, Waiting[]>();
  #closed = false;

  /**
   * Evaluates in the worker.
   * @throws QueueFull past the tenant's short queue (`patient` callers, such as the tests of one policy, wait beyond it)
   */
  evaluate(tenant: string, evaluation: Evaluation, patient = false): Promise<IsolatedReply> {
    const queue = this.#queues.get(tenant) ?? [];
    if (!patient && queue.length >= limits.suspendedQueuePerTenantMax) return Promise.reject(new QueueFull());
    return new Promise((resolve) => {
      queue.push({ request: { id: this.#nextId++, ...evaluation }, resolve });
      this.#queues.set(tenant, queue);
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#fail('shutting down');
    for (const queue of this.#queues.values())
      for (const waiting of queue) waiting.resolve(failure(waiting, 'shutting down'));
    this.#queues.clear();
    await this.#worker?.terminate();
  }

  #next(): void {
    if (this.#running || this.#closed) return;
    const [tenant, queue] = this.#queues.entries().next().value ?? [];
    const waiting = queue?.shift();
    if (tenant === undefined || queue === undefined || waiting === undefined) return;
    this.#queues.delete(tenant);
    if (queue.length > 0) this.#queues.set(tenant, queue); // to the end: the other tenants come first
    // Fuel ends every evaluation; the timer is for what nobody thought of.
    const timer = setTimeout(() => this.#replace('the evaluation took too long'), limits.isolatedTimeoutMs);
    this.#running = { ...waiting, timer };
    this.#start().postMessage(waiting.request);
  }

  #start(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(new URL('./isolated-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: 128, stackSizeMb: 4 },
    });
    worker.unref();
    worker.on('message', (reply: IsolatedReply) => this.#done(reply));
    worker.on('error', (error) => {
      if (this.#worker === worker) this.#replace(error.message); // a replaced worker's last words concern nobody
    });
    this.#worker = worker;
    return worker;
  }

  #done(reply: IsolatedReply): void {
    const running = this.#running;
    if (running === undefined || running.request.id !== reply.id) return;
    clearTimeout(running.timer);
    this.#running = undefined;
    running.resolve(reply);
    this.#next();
  }

  #replace(message: string): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
    this.#fail(message);
    this.#next();
  }

  #fail(message: string): void {
    const running = this.#running;
    if (running === undefined) return;
    clearTimeout(running.timer);
    this.#running = undefined;
    running.resolve(failure(running, message));
  }
}

function failure({ request }: Waiting, message: string): IsolatedReply {
  return { id: request.id, ok: false, kind: 'internal', message };
}
