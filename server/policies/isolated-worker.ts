/** The worker thread of isolated.ts: evaluates what may take long, below the main thread in priority. */
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { Instance, loadProgram, PolicyError, type Program } from '../rego/index.ts';
import type { IsolatedReply, IsolatedRequest } from './isolated.ts';

const NICE = 10; // Linux: of this thread alone, so that decisions on the main thread come first
try {
  setPriority(0, NICE);
} catch {
  // Not allowed everywhere; the budget holds without it.
}

const programs = new Map<string, Program>();
const PROGRAMS_MAX = 16;

parentPort?.on('message', (request: IsolatedRequest) => parentPort?.postMessage(evaluate(request)));

function evaluate({ id, program, input, now }: IsolatedRequest): IsolatedReply {
  try {
    const instance = new Instance('module' in program ? program : compiled(program));
    const { result, fuelUsed } = instance.evaluate(input, { now });
    return { id, ok: true, result, fuelUsed };
  } catch (error) {
    const kind = error instanceof PolicyError ? error.kind : 'internal';
    return { id, ok: false, kind, message: (error as Error).message };
  }
}

function compiled({ key, wasm }: { key: string; wasm: Uint8Array }): Program {
  const known = programs.get(key);
  if (known) return known;
  const program = loadProgram(wasm);
  if (programs.size >= PROGRAMS_MAX) programs.delete(programs.keys().next().value as string);
  programs.set(key, program);
  return program;
}
