/** The worker thread of isolated-evaluator.ts: evaluates what may take long, below the main thread in priority. */
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { threadCpuMs } from '../core/clock.ts';
import { limits } from '../core/limits.ts';
import {
  type Code,
  Evaluator,
  Instance,
  loadProgram,
  type PackedCode,
  PolicyError,
  type Program,
  unpackCode,
} from '../rego/index.ts';
import { interpretGraph } from './graph/interpret.ts'; // not all of its room: the worker starts sooner
import type { FromWorker, IsolatedReply, IsolatedRequest } from './isolated-evaluator.ts';

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
const stored = new LRUCache<string, { evaluator: Evaluator; size: number }>({
  maxSize: limits.isolatedProgramBytesMax,
  sizeCalculation: ({ size }) => size,
});

parentPort?.on('message', (request: IsolatedRequest) => {
  parentPort?.postMessage({ id: request.id, started: true } satisfies FromWorker);
  parentPort?.postMessage(answer(request) satisfies FromWorker);
});

function answer({ id, program, input, now, graph }: IsolatedRequest): IsolatedReply {
  let begun = threadCpuMs();
  const cpuMs = () => threadCpuMs() - begun;
  try {
    const found = programOf(program);
    if (found === undefined) return { id, ok: false, kind: 'absent', message: 'its code is not here', cpuMs: 0 };
    begun = threadCpuMs(); // loading is not the evaluation's
    const { result, fuelUsed } = found.evaluate(input, { now });
    const spent = cpuMs();
    // Only now: what the budget allowed has an input of bounded size.
    return {
      id,
      ok: true,
      result,
      fuelUsed,
      cpuMs: spent,
      ...(graph ? { path: interpretGraph(graph, input).path } : {}),
    };
  } catch (error) {
    const kind = error instanceof PolicyError ? error.kind : 'internal';
    return { id, ok: false, kind, message: (error as Error).message, cpuMs: cpuMs() };
  }
}

function programOf(program: IsolatedRequest['program']): Pick<Evaluator, 'evaluate'> | undefined {
  if ('module' in program) return new Instance(program);
  if ('wasm' in program) return new Instance(compiled(program));
  const { key, code } = program;
  const known = stored.get(key);
  if (known !== undefined || code === undefined) return known?.evaluator;
  const unpacked = isPacked(code) ? unpackCode(code) : code;
  const evaluator = new Evaluator(unpacked);
  const { wasm, plan = '' } = unpacked;
  stored.set(key, { evaluator, size: wasm.byteLength + plan.length });
  return evaluator;
}

function isPacked(code: Code | PackedCode): code is PackedCode {
  return code.plan !== undefined && typeof code.plan !== 'string';
}

function compiled({ key, wasm }: { key: string; wasm: Uint8Array }): Program {
  const known = programs.get(key);
  if (known) return known;
  const program = loadProgram(new Uint8Array(wasm)); // of our own: it may be shared memory
  programs.set(key, program);
  return program;
}
