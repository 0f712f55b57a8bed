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
type Asked = { id: number; message: object } | { prepare: true };
/** `module` answers `wants`. It is absent where this thread is to load it. */
export type ToWorker = Asked | { module: WebAssembly.Module | undefined };
/** `started` comes when the tenant's source is about to be handled, after our own loading. */
export type FromWorker =
  | { wants: 'module' }
  | { module: WebAssembly.Module }
  | { id: number; started: true }
  | { id: number; outcome: Outcome };

const port = parentPort!;
let module: WebAssembly.Module;
let compiler: CompilerInstance | undefined;

function load(): WebAssembly.Module {
  const loaded = loadCompilerModule();
  port.postMessage({ module: loaded } satisfies FromWorker);
  return loaded;
}

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

function take(asked: Asked): void {
  if ('id' in asked) answer(asked);
  setImmediate(ready);
}

/** What was asked before the module is there. */
let early: Asked[] | undefined = [];
port.on('message', (message: ToWorker) => {
  if ('module' in message) {
    module = message.module ?? load();
    for (const asked of early ?? []) take(asked);
    early = undefined;
  } else if (early === undefined) take(message);
  else early.push(message);
});
port.postMessage({ wants: 'module' } satisfies FromWorker);
