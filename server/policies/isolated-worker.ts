/** The worker thread of isolated-evaluator.ts: evaluates what may take long, below the main thread in priority. */
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { threadCpuMs } from '../core/clock.ts';
import { limits } from '../core/limits.ts';
import {
  type BaseDocument,
  type Code,
  Evaluator,
  Instance,
  loadProgram,
  type PackedCode,
  PolicyError,
  type Program,
  TracedPolicy,
  unpackCode,
} from '../rego/index.ts';
import { baseDocument, type Decoded, decoded } from './documents.ts';
import type { PolicyGraph } from './graph/index.ts';
import { interpretGraph } from './graph/interpret.ts'; // not all of its room: the worker starts sooner
import { whyNotDrawn } from './graph/why-not.ts';
import type { Evaluated, FromWorker, IsolatedReply, IsolatedRequest } from './isolated-evaluator.ts';

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
const traced = new LRUCache<string, { policy: TracedPolicy; size: number }>({
  maxSize: limits.isolatedProgramBytesMax,
  sizeCalculation: ({ size }) => size,
});

parentPort?.on('message', (request: IsolatedRequest) => {
  parentPort?.postMessage({ id: request.id, started: true } satisfies FromWorker);
  parentPort?.postMessage(answer(request) satisfies FromWorker);
});

/** Decoded, a document may take so many times the memory of its text. */
const DECODED = 8;

/** Documents as they were decoded last: the tests of a policy come one after another. */
const decodedDocuments = new LRUCache<string, Decoded>({
  maxSize: limits.isolatedProgramBytesMax / DECODED / limits.instanceDocumentBytes,
  sizeCalculation: ({ weight }) => weight,
});

function dataOf(documents: IsolatedRequest['documents'] = []): BaseDocument {
  return baseDocument(
    documents.map(({ path, digest, text }) => {
      const known = decodedDocuments.get(digest) ?? decoded(text);
      decodedDocuments.set(digest, known);
      return { path, value: known.value };
    }),
  );
}

function answer(request: IsolatedRequest): IsolatedReply {
  const { id, input, now, graph } = request;
  let begun = threadCpuMs();
  const cpuMs = () => threadCpuMs() - begun;
  try {
    const found = evaluatorOf(request);
    if (found === undefined) return { id, ok: false, kind: 'absent', message: 'its code is not here', cpuMs: 0 };
    begun = threadCpuMs(); // loading is not the evaluation's
    const evaluated = found.evaluate(input, { now });
    const spent = cpuMs();
    // Only now: what the budget allowed has an input of bounded size.
    return { id, ok: true, cpuMs: spent, ...evaluated, ...(graph ? followed(graph, request) : {}) };
  } catch (error) {
    const kind = error instanceof PolicyError ? error.kind : 'internal';
    return { id, ok: false, kind, message: (error as Error).message, cpuMs: cpuMs() };
  }
}

function followed(graph: PolicyGraph, { input, consentingType }: IsolatedRequest): Pick<Evaluated, 'path' | 'whyNot'> {
  const { path, outcome } = interpretGraph(graph, input);
  return { path, ...(outcome === 'allow' ? {} : { whyNot: whyNotDrawn(graph, input, consenting(consentingType)) }) };
}

type Evaluating = { evaluate(input: unknown, options: { now: bigint }): Evaluated };

const consenting = (type: string | undefined) => (type === undefined ? {} : { consentingType: type });

function evaluatorOf({ program, documents, consentingType }: IsolatedRequest): Evaluating | undefined {
  if ('traced' in program) return tracedOf(program, { data: dataOf(documents), ...consenting(consentingType) });
  if ('module' in program) return new Instance(program);
  if ('wasm' in program) return new Instance(compiled(program), dataOf(documents));
  const { key, code } = program;
  const known = stored.get(key);
  if (known !== undefined || code === undefined) return known?.evaluator;
  const unpacked = isPacked(code) ? unpackCode(code) : code;
  const evaluator = new Evaluator(unpacked, dataOf(documents));
  const { wasm, plan = '' } = unpacked;
  const size = (documents ?? []).reduce((sum, { text }) => sum + DECODED * text.length, wasm.byteLength + plan.length);
  stored.set(key, { evaluator, size });
  return evaluator;
}

function tracedOf(
  { key, traced: source, wanted }: Extract<IsolatedRequest['program'], { traced: unknown }>,
  about: { data: BaseDocument; consentingType?: string },
): Evaluating {
  let known = traced.get(key);
  if (known === undefined) {
    known = { policy: new TracedPolicy(source), size: 16 * (1 + source.plan.length) }; // with what is made of it
    traced.set(key, known);
  }
  const { policy } = known;
  return { evaluate: (input, { now }) => policy.evaluate(input, now, wanted, about) };
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
