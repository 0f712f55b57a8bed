/**
 * Running compiled policies on this server: programs fetched when first used and evicted when others are used
 * more, on their plan or their Wasm, a budget for every evaluation, and the way off the main thread for those that exhaust it.
 */
import { type Clock, threadCpuMs } from '../core/clock.ts';
import { FairScheduler } from '../core/fair-scheduler.ts';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import { problem } from '../core/problems.ts';
import { type Code, PolicyError, type TracedSource, type Wanted } from '../rego/index.ts';
import type { DocumentRef, DocumentText } from './documents.ts';
import type { PolicyGraph } from './graph/index.ts';
import { type Evaluation, IsolatedEvaluator, type IsolatedReply, QueueFull } from './isolated-evaluator.ts';
import { type Loaded, LoadedPrograms, type PolicyRef, type Program, programKey } from './loaded-programs.ts';
import { busy, failureOf, GONE, isCostly, isLost, nanoseconds, type Run, tarpit } from './runs.ts';
import { Stalls } from './stalls.ts';
import { type FetchCode, StoredEvaluator } from './stored-evaluator.ts';
import { type Suspect, Suspensions } from './suspensions.ts';

type EngineOptions = {
  fetch: (tenant: string, digest: string) => Promise<Code | undefined>;
  /** For the worker; absent: `fetch`. */
  fetchPacked?: FetchCode;
  /** A revision of a data document; absent where no policy has any. */
  fetchDocument?: (tenant: string, document: DocumentRef) => Promise<string | undefined>;
  clock: Clock;
  observe: Observe;
  /** Turns of the main thread; of its own unless given. */
  scheduler?: FairScheduler;
  /** Where what may take long is evaluated; a worker of its own unless given. */
  isolated?: IsolatedEvaluator;
  /** CPU time of the thread, ms. */
  cpuMs?: () => number;
};

/** An evaluation of Wasm that is not (yet) a policy's. `now`: the instant of the request, ms. */
type IsolatedEvaluation = {
  key: string;
  input: unknown;
  now: number;
  graph?: PolicyGraph;
  documents?: readonly DocumentText[];
  consentingType?: string;
} & ({ wasm: Uint8Array } | { traced: TracedSource; wanted: Wanted });

export class Engine {
  readonly #options: EngineOptions;
  readonly #loaded: LoadedPrograms;
  readonly #loading = new Map<string, Promise<Loaded | undefined>>();
  readonly #isolated: IsolatedEvaluator;
  readonly #stored: StoredEvaluator;
  readonly #stalls = new Stalls();
  readonly #suspensions: Suspensions;
  readonly #scheduler: FairScheduler;
  readonly #cpuMs: () => number;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#cpuMs = options.cpuMs ?? threadCpuMs;
    this.#loaded = new LoadedPrograms({ ...options, cpuMs: this.#cpuMs });
    this.#isolated = options.isolated ?? new IsolatedEvaluator();
    this.#suspensions = new Suspensions(options.observe);
    this.#stored = new StoredEvaluator(this.#isolated, {
      fetch: options.fetchPacked ?? options.fetch,
      fetchDocuments: (tenant, documents) => this.#loaded.fetchTexts(tenant, documents),
    });
    this.#scheduler = options.scheduler ?? new FairScheduler(options.clock);
  }

  /**
   * Evaluates a policy. Synchronous when its program is at hand and it behaves: the usual case.
   * @param now the instant of the request, ms
   */
  run(tenant: string, policy: PolicyRef, input: unknown, now: number): Run | Promise<Run> {
    const loaded = this.#loaded.get(tenant, policy);
    if (loaded === undefined) return this.#runLater(tenant, policy, input, now);
    const started = this.#options.clock.monotonic();
    if (this.#suspensions.isSuspended(tenant, loaded.key, started))
      return this.#runIsolated(tenant, policy, loaded, input, now);
    const { slowness } = loaded;
    if (slowness.isolatedUntil > started && this.#scheduler.isShared)
      return this.#runStored(tenant, policy, input, now);
    if (!slowness.lastWasLong) return this.#runHere(tenant, policy.name, loaded, input, now, started);
    if (slowness.isSlow && this.#isConfined(tenant)) return this.#runStored(tenant, policy, input, now);
    return this.#scheduler.run(tenant, () => {
      // Those before it in the queue may have exhausted what the policy or the tenant had.
      const begun = this.#options.clock.monotonic();
      if (this.#suspensions.isSuspended(tenant, loaded.key, begun))
        return this.#runIsolated(tenant, policy, loaded, input, now);
      return this.#runHere(tenant, policy.name, loaded, input, now, begun);
    });
  }

  #runHere(tenant: string, policy: string, loaded: Loaded, input: unknown, now: number, started: number): Run {
    const { key, slowness } = loaded;
    const cpuBefore = slowness.begin();
    let costly = false;
    try {
      const { result, fuelUsed } = loaded.evaluator.evaluate(input, { now: nanoseconds(now) });
      costly = fuelUsed > limits.evaluateFuelCostly;
      return { ok: true, result, fuelUsed };
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error;
      // Internal ones too: burning most of the fuel and then overflowing the stack is no cheaper.
      costly = error.kind === 'budget' || error.kind === 'memory' || error.kind === 'internal';
      if (error.kind === 'conflict') this.#suspensions.conflict({ tenant, policy, key }, started);
      return { ok: false, failure: failureOf[error.kind], detail: error.message };
    } finally {
      const ended = this.#options.clock.monotonic();
      const spentMs = slowness.end(ended - started, cpuBefore, ended);
      if (spentMs > limits.evaluateSlowMs && slowness.isSlow) this.#stalls.add(tenant, spentMs, ended);
      if (spentMs > limits.evaluateLongMs || costly) this.#suspensions.strike({ tenant, policy, key }, ended);
    }
  }

  /**
   * Evaluates off the main thread: tests before activation, trying out, explaining.
   * @throws Problem evaluator_busy; not_ready when the worker was lost twice, which need not be the policy's fault
   */
  async evaluateIsolated(
    tenant: string,
    { input, now, graph, documents, consentingType, ...program }: IsolatedEvaluation,
  ): Promise<Run> {
    const evaluation: Evaluation = {
      program,
      input,
      now: nanoseconds(now),
      ...(graph ? { graph } : {}),
      ...(consentingType === undefined ? {} : { consentingType }),
      ...(documents && documents.length > 0 ? { documents } : {}),
    };
    return this.#read(await this.#patiently(() => this.#isolated.evaluate(tenant, evaluation, true)));
  }

  /** The worker's reply, asked for once again when it was lost. `suspect`: who is blamed when it is lost in both evaluations. */
  async #patiently<R extends IsolatedReply | undefined>(ask: () => Promise<R>, suspect?: Suspect): Promise<R> {
    const reply = await ask().catch(busy);
    if (!isLost(reply)) return reply;
    const again = await ask().catch(busy);
    if (!isLost(again)) return again;
    if (suspect && reply.started && again.started) this.#suspensions.strike(suspect, this.#options.clock.monotonic());
    const detail = 'The evaluator did not respond. Retry the request.';
    throw problem('not_ready', { detail, cause: new Error(again.message) });
  }

  /** Makes a program ready: the first decision after a PUT does not wait for Postgres. */
  preload(tenant: string, artifact: string, code: Code): void {
    if (!this.#isConfined(tenant)) this.#keep(tenant, { artifact }, code);
  }

  #keep(tenant: string, policy: Program, code: Code, texts?: readonly DocumentText[]): void {
    const started = this.#options.clock.monotonic();
    this.#loaded.keep(tenant, policy, code, texts);
    const ended = this.#options.clock.monotonic();
    this.#stalls.add(tenant, ended - started, ended);
  }

  /** Whether a tenant has held up the main thread for as long as it may while others want it. */
  #isConfined(tenant: string): boolean {
    return this.#scheduler.isShared && this.#stalls.isOver(tenant, this.#options.clock.monotonic());
  }

  /** How many programs are in memory. */
  get size(): number {
    return this.#loaded.size;
  }

  close(): Promise<void> {
    return this.#isolated.close();
  }

  async #runLater(tenant: string, policy: PolicyRef, input: unknown, now: number): Promise<Run> {
    if (this.#isConfined(tenant)) return this.#runStored(tenant, policy, input, now);
    const key = `${tenant}/${programKey(policy)}`;
    let loading = this.#loading.get(key);
    if (loading === undefined) {
      loading = this.#load(tenant, policy).finally(() => this.#loading.delete(key));
      this.#loading.set(key, loading);
    }
    try {
      if ((await loading) === undefined) return GONE;
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error; // the database is away
      return { ok: false, failure: 'policy_failed', detail: error.message };
    }
    return this.run(tenant, policy, input, now);
  }

  async #load(tenant: string, policy: PolicyRef): Promise<Loaded | undefined> {
    const fetched = await this.#loaded.fetch(tenant, policy);
    if (fetched === undefined) return undefined;
    // Milliseconds each: many at once are loaded one by one.
    await this.#scheduler.run(tenant, () => this.#keep(tenant, policy, fetched.code, fetched.texts));
    return this.#loaded.get(tenant, policy);
  }

  #runIsolated(tenant: string, policy: PolicyRef, loaded: Loaded, input: unknown, now: number): Promise<Run> {
    const { key } = loaded;
    if (loaded.hasDocuments) {
      const asked = { input, now: nanoseconds(now) };
      return this.#runSuspended(key, () => this.#stored.evaluate(tenant, policy, asked, false)); // it keeps them
    }
    const evaluation = { program: loaded.evaluator.program, input, now: nanoseconds(now) };
    return this.#runSuspended(key, () => this.#isolated.evaluate(tenant, evaluation));
  }

  async #runSuspended(key: string, ask: () => Promise<IsolatedReply | undefined>): Promise<Run> {
    try {
      const reply = await ask();
      if (reply === undefined) return GONE;
      const run = this.#read(reply);
      const ended = this.#options.clock.monotonic();
      if (isCostly(run) || reply.cpuMs > limits.evaluateLongMs) this.#suspensions.again(key, 'costly', ended);
      else if (!run.ok) this.#suspensions.again(key, 'conflict', ended);
      // What fails cheaply (a conflict takes a millisecond, and megabytes of garbage) must not come at the worker's pace.
      if (!run.ok) await tarpit();
      return run;
    } catch (error) {
      if (!(error instanceof QueueFull)) throw error;
      await tarpit();
      return { ok: false, failure: 'policy_suspended', detail: 'too many evaluations of this tenant wait' };
    }
  }

  /**
   * Evaluates in the worker what is slow, and allowed: it waits patiently, and is answered as on the main thread.
   * @throws Problem evaluator_busy; not_ready when the worker was lost twice
   */
  async #runStored(tenant: string, policy: PolicyRef, input: unknown, now: number): Promise<Run> {
    const { name } = policy;
    const key = `${tenant}/${programKey(policy)}`;
    const asked = { input, now: nanoseconds(now) };
    const suspect = { tenant, policy: name, key };
    if (this.#suspensions.isSuspended(tenant, key, this.#options.clock.monotonic()))
      return this.#runSuspended(key, () => this.#stored.evaluate(tenant, policy, asked, false));
    const reply = await this.#patiently(() => this.#stored.evaluate(tenant, policy, asked), suspect);
    if (reply === undefined) return GONE;
    const ended = this.#options.clock.monotonic();
    const loaded = this.#loaded.peek(tenant, policy);
    if (reply.cpuMs > limits.evaluateSlowMs) loaded?.slowness.isolate(ended);
    const run = this.#read(reply);
    if (!run.ok && run.failure === 'policy_conflict') this.#suspensions.conflict(suspect, ended);
    else if (reply.cpuMs > limits.evaluateLongMs || isCostly(run)) this.#suspensions.strike(suspect, ended);
    return run;
  }

  #read(reply: IsolatedReply): Run {
    if (reply.ok) {
      const { id: _, cpuMs: __, ...run } = reply;
      return run;
    }
    return { ok: false, failure: failureOf[reply.kind], detail: reply.message };
  }
}
