/**
 * Owns running compiled policies on this server: programs fetched when first used and evicted when others are used
 * more, on their plan or their Wasm, a budget for every evaluation, and the way off the main thread for those that exhaust it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, threadCpuMs } from '../core/clock.ts';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import { problem } from '../core/problems.ts';
import { type Code, Evaluator, PolicyError, type PolicyErrorKind } from '../rego/index.ts';
import type { Failure } from './answer.ts';
import type { PolicyGraph } from './graph/index.ts';
import { type Evaluation, IsolatedEvaluator, type IsolatedReply, QueueFull } from './isolated.ts';
import { policyProblem } from './problems.ts';
import { Programs } from './programs.ts';
import { Strikes } from './strikes.ts';
import { Turns } from './turns.ts';

/** `path`: of a drawn policy, when it was asked for: the ids of its nodes from start to outcome. */
export type Run =
  | { ok: true; result: unknown; fuelUsed: number; path?: string[] }
  | { ok: false; failure: Failure; detail: string };

export type EngineOptions = {
  fetch: (tenant: string, digest: string) => Promise<Code | undefined>;
  clock: Clock;
  observe: Observe;
  /** Where what may take long is evaluated; a worker of its own unless given. */
  isolated?: IsolatedEvaluator;
  /** CPU time of the thread, ms. */
  cpuMs?: () => number;
};

/** An evaluation of Wasm that is not (yet) a policy's. `now`: the instant of the request, ms. */
export type Apart = { key: string; wasm: Uint8Array; input: unknown; now: number; graph?: PolicyGraph };

type Loaded = {
  /** Tenant and artifact, for strikes. */
  key: string;
  evaluator: Evaluator;
  /** Whether the last evaluation took so long that the next waits for its turn. */
  slow: boolean;
  /** How many evaluations are still measured by CPU time, because one took long by the clock. */
  watched: number;
};

/** Evaluations that are measured after one that took long by the clock. */
const WATCHED = 100;

const failureOf: Record<PolicyErrorKind | 'lost', Failure> = {
  budget: 'policy_budget_exhausted',
  memory: 'policy_memory_exhausted',
  conflict: 'policy_conflict',
  input: 'input_too_large',
  internal: 'policy_failed',
  lost: 'policy_failed',
};

export class Engine {
  readonly #options: EngineOptions;
  readonly #loaded = new Programs<Loaded>(limits.instancesMax);
  readonly #loading = new Map<string, Promise<Loaded | undefined>>();
  readonly #isolated: IsolatedEvaluator;
  readonly #policyStrikes = new Strikes(limits.suspendStrikes, limits.suspendWindowMs, limits.strikeKeysMax);
  readonly #tenantStrikes = new Strikes(limits.suspendTenantStrikes, limits.suspendWindowMs, limits.strikeKeysMax);
  readonly #conflicts = new Strikes(limits.suspendConflicts, limits.suspendWindowMs, limits.strikeKeysMax);
  readonly #turns = new Turns();
  readonly #cpuMs: () => number;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#cpuMs = options.cpuMs ?? threadCpuMs;
    this.#isolated = options.isolated ?? new IsolatedEvaluator();
  }

  /**
   * Evaluates a policy. Synchronous when its program is at hand and it behaves: the usual case.
   * @param now the instant of the request, ms
   */
  run(tenant: string, policy: { name: string; artifact: string }, input: unknown, now: number): Run | Promise<Run> {
    const loaded = this.#loaded.get(tenant, policy.artifact);
    if (loaded === undefined) return this.#runLater(tenant, policy, input, now);
    const started = this.#options.clock.monotonic();
    if (this.#isSuspended(tenant, loaded.key, started))
      return this.#runIsolated(tenant, loaded.key, loaded, input, now);
    if (!loaded.slow) return this.#runHere(tenant, policy.name, loaded, input, now, started);
    return this.#turns.run(tenant, () => {
      // Those before it in the queue may have exhausted what the policy or the tenant had.
      const begun = this.#options.clock.monotonic();
      if (this.#isSuspended(tenant, loaded.key, begun))
        return this.#runIsolated(tenant, loaded.key, loaded, input, now);
      return this.#runHere(tenant, policy.name, loaded, input, now, begun);
    });
  }

  #runHere(tenant: string, policy: string, loaded: Loaded, input: unknown, now: number, started: number): Run {
    const { key } = loaded;
    const cpuBefore = loaded.watched > 0 ? this.#cpuMs() : undefined;
    let costly = false;
    try {
      const { result, fuelUsed } = loaded.evaluator.evaluate(input, { now: nanoseconds(now) });
      costly = fuelUsed > limits.evaluateFuelCostly;
      return { ok: true, result, fuelUsed };
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error;
      // Internal ones too: burning most of the fuel and then overflowing the stack is no cheaper.
      costly = error.kind === 'budget' || error.kind === 'memory' || error.kind === 'internal';
      if (error.kind === 'conflict') this.#conflict(tenant, policy, key);
      return { ok: false, failure: failureOf[error.kind], detail: error.message };
    } finally {
      const ms = this.#options.clock.monotonic() - started;
      loaded.slow = ms > limits.evaluatePromptMs;
      if (this.#isLong(loaded, ms, cpuBefore) || costly) this.#strike(tenant, policy, key);
    }
  }

  /**
   * Whether the evaluation itself was long. By the clock alone it may have been the machine, which had other work or was
   * throttled: that only has the next evaluations measured by CPU time, which costs a microsecond each.
   */
  #isLong(loaded: Loaded, ms: number, cpuBefore: number | undefined): boolean {
    const isSuspect = ms > limits.evaluateLongMs;
    if (isSuspect) loaded.watched = WATCHED;
    else if (loaded.watched > 0) loaded.watched--;
    return isSuspect && cpuBefore !== undefined && this.#cpuMs() - cpuBefore > limits.evaluateLongMs;
  }

  /**
   * Evaluates off the main thread: tests before activation, trying out, explaining.
   * @throws Problem evaluator_busy; not_ready when the worker was lost twice, which need not be the policy's fault
   */
  async runApart(tenant: string, { key, wasm, input, now, graph }: Apart): Promise<Run> {
    const evaluation: Evaluation = {
      program: { key, wasm },
      input,
      now: nanoseconds(now),
      ...(graph ? { graph } : {}),
    };
    let reply = await this.#evaluatePatiently(tenant, evaluation);
    if (!reply.ok && reply.kind === 'lost') reply = await this.#evaluatePatiently(tenant, evaluation);
    if (!reply.ok && reply.kind === 'lost') {
      const detail = 'The evaluator did not answer; try again.';
      throw problem('not_ready', { detail, cause: new Error(reply.message) });
    }
    return this.#read(reply);
  }

  #evaluatePatiently(tenant: string, evaluation: Evaluation): Promise<IsolatedReply> {
    return this.#isolated.evaluate(tenant, evaluation, true).catch((error) => {
      if (!(error instanceof QueueFull)) throw error;
      throw policyProblem('evaluator_busy', { headers: { 'retry-after': '1' } });
    });
  }

  /** Makes a program ready: the first decision after a PUT does not wait for Postgres. */
  preload(tenant: string, artifact: string, code: Code): void {
    const key = `${tenant}/${artifact}`;
    this.#loaded.set(tenant, artifact, { key, evaluator: new Evaluator(code), slow: false, watched: 0 });
  }

  /** How many programs are in memory. */
  get size(): number {
    return this.#loaded.size;
  }

  close(): Promise<void> {
    return this.#isolated.close();
  }

  async #runLater(
    tenant: string,
    policy: { name: string; artifact: string },
    input: unknown,
    now: number,
  ): Promise<Run> {
    const key = `${tenant}/${policy.artifact}`;
    let loading = this.#loading.get(key);
    if (loading === undefined) {
      loading = this.#load(tenant, policy.artifact).finally(() => this.#loading.delete(key));
      this.#loading.set(key, loading);
    }
    try {
      if ((await loading) === undefined) return { ok: false, failure: 'policy_failed', detail: 'the artifact is gone' };
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error; // the database is away
      return { ok: false, failure: 'policy_failed', detail: error.message };
    }
    return this.run(tenant, policy, input, now);
  }

  async #load(tenant: string, artifact: string): Promise<Loaded | undefined> {
    const code = await this.#options.fetch(tenant, artifact);
    if (code === undefined) return undefined;
    // Milliseconds each: whoever asks for many at once has them one by one.
    await this.#turns.run(tenant, () => this.preload(tenant, artifact, code));
    return this.#loaded.get(tenant, artifact);
  }

  async #runIsolated(tenant: string, key: string, loaded: Loaded, input: unknown, now: number): Promise<Run> {
    try {
      const evaluation = { program: loaded.evaluator.program, input, now: nanoseconds(now) };
      const run = this.#read(await this.#isolated.evaluate(tenant, evaluation));
      const costly = run.ok ? run.fuelUsed > limits.evaluateFuelCostly : run.failure !== 'policy_conflict';
      if (costly) this.#policyStrikes.add(key, this.#options.clock.monotonic());
      else if (!run.ok) this.#conflicts.add(key, this.#options.clock.monotonic());
      // What fails cheaply (a conflict takes a millisecond, and megabytes of garbage) must not come at the worker's pace.
      if (!run.ok) await tarpit();
      return run;
    } catch (error) {
      if (!(error instanceof QueueFull)) throw error;
      await tarpit();
      return { ok: false, failure: 'policy_suspended', detail: 'too many evaluations of this tenant wait' };
    }
  }

  #read(reply: IsolatedReply): Run {
    if (reply.ok) {
      const { id: _, ...run } = reply;
      return run;
    }
    return { ok: false, failure: failureOf[reply.kind], detail: reply.message };
  }

  #isSuspended(tenant: string, key: string, now: number): boolean {
    return (
      this.#policyStrikes.isOut(key, now) || this.#tenantStrikes.isOut(tenant, now) || this.#conflicts.isOut(key, now)
    );
  }

  #strike(tenant: string, policy: string, key: string): void {
    this.#count(this.#policyStrikes, tenant, policy, key);
    this.#tenantStrikes.add(tenant, this.#options.clock.monotonic());
  }

  /** A conflict is cheap on a plan, but it costs a Wasm instance: making the next took 0.1 to 3 ms, with garbage of megabytes. */
  #conflict(tenant: string, policy: string, key: string): void {
    this.#count(this.#conflicts, tenant, policy, key);
  }

  #count(strikes: Strikes, tenant: string, policy: string, key: string): void {
    const now = this.#options.clock.monotonic();
    const before = strikes.isOut(key, now);
    strikes.add(key, now);
    if (!before && strikes.isOut(key, now)) this.#options.observe({ kind: 'policy_suspended', tenant, policy });
  }
}

/**
 * A quick denial would be answered by the next request: attackers in a closed loop would make it a flood. Not all come at
 * the same instant, which would make it one.
 */
function tarpit(): Promise<void> {
  return sleep(limits.suspendedAnswerDelayMs * (0.5 + Math.random()), undefined, { ref: false });
}

function nanoseconds(ms: number): bigint {
  return BigInt(ms) * 1_000_000n;
}
