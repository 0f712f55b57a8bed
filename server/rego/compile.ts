/**
 * The queue in front of the compiler's workers: round robin between tenants, bounded for each, and a worker that
 * does not come back is replaced without harm to the rest.
 */
import { createHash } from 'node:crypto';
import { FairQueue } from '../core/fair-queue.ts';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import { type Bounds, CompilerWorker } from './compile-thread.ts';
import { artifactFacts, type Outcome } from './compiler-module.ts';
import {
  type Compiled,
  type CompileResult,
  type Compiler,
  CompilerError,
  type FormatResult,
  type KnownBuiltin,
  type Narrowing,
  type OutlinedRule,
  type Reads,
  type RegoError,
} from './schema.ts';

type Job = { message: object; resolve(outcome: Outcome): void; reject(error: CompilerError): void };

/** What the Go program answers (compiler/main.go, `response`). */
type Answer = {
  ok: boolean;
  errors?: RegoError[];
  package: string;
  syntax: 'v1' | 'v0';
  reads: Reads;
  builtins?: string[];
  plan?: string;
  outline?: OutlinedRule[];
  outlines?: Record<string, OutlinedRule[]>;
  source: string;
  known: KnownBuiltin[];
  modules?: { package?: string; refs: string[][] }[];
};

/** A compiler that starts its workers (default one) when first needed, and does not keep an idle process alive. */
export function createCompiler(options: { workers?: number; observe?: Observe; bounds?: Bounds } = {}): Compiler {
  const queue = new FairQueue<string, Job>();
  const workers = Array.from({ length: options.workers ?? 1 }, () => new CompilerWorker(options.observe));
  let closed = false;

  const dispatch = () => {
    for (const worker of workers) {
      if (worker.busy) continue;
      const job = queue.shift()?.item;
      if (job === undefined) return;
      void worker.run(job.message, options.bounds).then(job.resolve, job.reject).finally(dispatch);
    }
  };

  const request = (tenant: string, message: object): Promise<Outcome> =>
    new Promise((resolve, reject) => {
      if (closed) throw new CompilerError('compiler_closed', 'the compiler is closed');
      const waiting = queue.length(tenant);
      if (waiting >= limits.compileQueuePerTenantMax)
        throw new CompilerError('compile_queue_full', `${waiting} policies of ${tenant} wait to be compiled`);
      queue.push(tenant, { message, resolve, reject });
      dispatch();
    });

  return {
    version: version(),
    async compile(tenant, source, { builtins, explain = false, trace = false, libraries = [], data = [] }) {
      const tooLarge = refuseSize(source);
      if (tooLarge) return tooLarge;
      const beside = { modules: libraries, data, maxDepth: limits.compileDepthMax };
      const op = { op: 'compile', source, builtins, explain, plan: !explain, trace, ...beside };
      return toResult(await request(tenant, op));
    },
    async check(tenant, own, { builtins, libraries = [], data = [] }) {
      const op = { op: 'check', own, builtins, modules: libraries, data, maxDepth: limits.compileDepthMax };
      const outcome = await request(tenant, op);
      if (outcome.kind === 'exhausted') return { ok: false, errors: [tooComplex(outcome.reason)] };
      const answer = outcome.answer as Answer;
      return answer.ok ? { ok: true } : { ok: false, errors: answer.errors ?? [] };
    },
    async needs(tenant, own) {
      const outcome = await request(tenant, { op: 'needs', own, maxDepth: limits.compileDepthMax });
      // What exhausts the compiler here does so when it is compiled, which says why.
      const modules = outcome.kind === 'answer' ? ((outcome.answer as Answer).modules ?? []) : [];
      return own.map((_, i) => ({ package: modules[i]?.package ?? '', refs: modules[i]?.refs ?? [] }));
    },
    async format(tenant, source) {
      const tooLarge = refuseSize(source);
      if (tooLarge) return tooLarge;
      const outcome = await request(tenant, { op: 'format', source, maxDepth: limits.compileDepthMax });
      return toFormatted(outcome);
    },
    async builtins() {
      const outcome = await request('', { op: 'builtins' });
      if (outcome.kind !== 'answer') throw new CompilerError('compiler_failed', tooComplex(outcome.reason).message);
      return (outcome.answer as Answer).known;
    },
    prepare: () => {
      if (!closed) for (const worker of workers) worker.prepare();
    },
    async close() {
      closed = true;
      for (let next = queue.shift(); next; next = queue.shift())
        next.item.reject(new CompilerError('compiler_closed', 'the compiler was closed'));
      await Promise.all(workers.map((worker) => worker.close()));
    },
  };
}

function version(): string {
  const { opa, instrumented } = artifactFacts();
  // The last: what is stored beside the module. Add one when narrowing.ts finds more, or less, than before.
  const inputs = `${instrumented} ${limits.evaluateMemoryPages} ${limits.evaluateFuel} narrowing 3`;
  return `opa-${opa.replace(/^v/, '')}+${createHash('sha256').update(inputs).digest('hex').slice(0, 8)}`;
}

function toResult(outcome: Outcome): CompileResult {
  if (outcome.kind === 'exhausted') return { ok: false, errors: [tooComplex(outcome.reason)] };
  const answer = outcome.answer as Answer;
  if (!answer.ok || !outcome.wasm) return { ok: false, errors: answer.errors ?? [] };
  if (outcome.wasm.length > limits.policyWasmBytesMax)
    return { ok: false, errors: [tooComplex(`its code has more than ${limits.policyWasmBytesMax} bytes`)] };
  const compiled: Compiled = {
    ok: true,
    wasm: outcome.wasm,
    package: answer.package,
    syntax: answer.syntax,
    reads: readsOf(answer.reads, outcome.narrowing),
    builtins: (answer.builtins ?? []).sort(),
    fuel: outcome.fuel,
  };
  if (answer.plan !== undefined && Buffer.byteLength(answer.plan) <= limits.policyPlanBytesMax)
    compiled.plan = answer.plan;
  if (answer.outline !== undefined) compiled.outline = answer.outline;
  if (answer.outlines !== undefined) compiled.outlines = answer.outlines;
  return compiled;
}

function readsOf(reads: Reads, narrowing: Narrowing | undefined): Reads {
  if (reads.all) return { all: true };
  const found: Reads = narrowing === undefined ? reads : { ...reads, narrowing };
  // Stored beside the module, and asked of Postgres, which has no NUL: a policy that looks for one is given everything.
  return JSON.stringify(found).includes('\\u0000') ? { all: true } : found;
}

function toFormatted(outcome: Outcome): FormatResult {
  if (outcome.kind === 'exhausted') return { ok: false, errors: [tooComplex(outcome.reason)] };
  const answer = outcome.answer as Answer;
  return answer.ok ? { ok: true, source: answer.source } : { ok: false, errors: answer.errors ?? [] };
}

function tooComplex(reason: string): RegoError {
  return { code: 'too_complex', message: `policy is too complex to compile: ${reason}`, row: 1, col: 1 };
}

function refuseSize(source: string): { ok: false; errors: RegoError[] } | undefined {
  const size = Buffer.byteLength(source);
  if (size <= limits.regoSourceBytesMax) return undefined;
  const message = `policy has ${size} bytes, at most ${limits.regoSourceBytesMax} are allowed`;
  return { ok: false, errors: [{ code: 'too_large', message, row: 1, col: 1 }] };
}
