/** The worker thread of isolated.ts: evaluates what may take long, below the main thread in priority. */
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { limits } from '../core/limits.ts';
import { Instance, loadProgram, PolicyError, type Program } from '../rego/index.ts';
import { interpretGraph } from './graph/interpret.ts'; // not all of its room: the worker starts sooner
import type { FromWorker, IsolatedReply, IsolatedRequest } from './isolated.ts';

const NICE = 10; // Linux: of this thread alone, so that decisions on the main thread come first
try {
  setPriority(0, NICE);
} catch {
  // Not allowed everywhere; the budget holds without it.
}

const programs = new LRUCache<string, Program>({
  maxSize: limits.explainingWasmBytesMax,
  sizeCalculation: ({ size }) => size,
});

parentPort?.on('message', (request: IsolatedRequest) => {
  parentPort?.postMessage({ id: request.id, started: true } satisfies FromWorker);
  parentPort?.postMessage(evaluate(request) satisfies FromWorker);
});

function evaluate({ id, program, input, now, graph }: IsolatedRequest): IsolatedReply {
  try {
    const instance = new Instance('module' in program ? program : compiled(program));
    const { result, fuelUsed } = instance.evaluate(input, { now });
    // Only now: what the budget allowed has an input of bounded size.
    return { id, ok: true, result, fuelUsed, ...(graph ? { path: interpretGraph(graph, input).path } : {}) };
  } catch (error) {
    const kind = error instanceof PolicyError ? error.kind : 'internal';
    return { id, ok: false, kind, message: (error as Error).message };
  }
}

function compiled({ key, wasm }: { key: string; wasm: Uint8Array }): Program {
  const known = programs.get(key);
  if (known) return known;
  const program = loadProgram(new Uint8Array(wasm)); // of our own: it may be shared memory
  programs.set(key, program);
  return program;
}
