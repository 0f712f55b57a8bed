/**
 * The thread in which the compiler runs. It answers one request at a time, and makes the compiler ready for the
 * next one after it has answered.
 */
import { parentPort } from 'node:worker_threads';
import { limits } from '../core/limits.ts';
import { type CompilerInstance, loadCompilerModule, type Outcome, startCompiler } from './compiler-module.ts';
import { instrument } from './instrument.ts';
import { narrowingOf } from './plan/narrowing.ts';
import type { Reads } from './schema.ts';

/** `prepare` asks for nothing but to be ready. */
export type ToWorker = { id: number; message: object } | { prepare: true };
/** `started` comes when the tenant's source is about to be handled, after our own loading. */
export type FromWorker = { id: number; started: true } | { id: number; outcome: Outcome };

const port = parentPort!;
const module = loadCompilerModule();
let compiler: CompilerInstance | undefined;

function ready(): CompilerInstance {
  if (!compiler?.reset()) compiler = startCompiler(module);
  return compiler;
}

function answer({ id, message }: { id: number; message: object }): void {
  const instance = ready();
  port.postMessage({ id, started: true } satisfies FromWorker);
  const outcome = instance.request(message);
  if (outcome.kind === 'answer' && outcome.wasm) {
    outcome.wasm = instrument(outcome.wasm, { memoryPages: limits.evaluateMemoryPages, fuel: limits.evaluateFuel });
    // Here, because a policy can be written so that this takes long.
    const { plan, reads } = outcome.answer as { plan?: string; reads: Reads };
    outcome.narrowing = plan === undefined ? undefined : narrowingOf(plan, reads);
  }
  const moved = outcome.kind === 'answer' && outcome.wasm ? [outcome.wasm.buffer as ArrayBuffer] : [];
  port.postMessage({ id, outcome } satisfies FromWorker, moved);
}

port.on('message', (request: ToWorker) => {
  if ('id' in request) answer(request);
  setImmediate(ready);
});
