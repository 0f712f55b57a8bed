/**
 * The compiler's artifact (Go's output, instrumented at build, see compiler/build.sh) and one instance of it. The
 * whole state of an instance is put back before each request, so nothing of one tenant is there for the next. After a
 * trap, or when its memory grew, it is thrown away. A new instance for each request cost twice the CPU: 73 instead of
 * 33 ms for a small policy.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { limits } from '../core/limits.ts';
import { STATE } from './expose-state.ts';
import type { Narrowing } from './schema.ts';

const artifact = new URL('./compiler.wasm.br', import.meta.url);
const facts = new URL('./compiler.json', import.meta.url);
const PAGE_BYTES = 65_536;

/** What the build recorded: sha256 of both stages, and the versions of OPA and Go. */
type ArtifactFacts = { opa: string; go: string; plain: string; instrumented: string };

/** Reads the record beside the artifact. */
export function artifactFacts(): ArtifactFacts {
  return JSON.parse(readFileSync(facts, 'utf8')) as ArtifactFacts;
}

/** Loads the compiler: 40 MB decompressed, about 0.3 s, so never on the main thread. Throws when the artifact is not the recorded one. */
export function loadCompilerModule(): WebAssembly.Module {
  const wasm = brotliDecompressSync(readFileSync(artifact));
  const hash = createHash('sha256').update(wasm).digest('hex');
  if (hash !== artifactFacts().instrumented) throw new Error('compiler.wasm.br does not match compiler.json');
  return new WebAssembly.Module(wasm);
}

/** An answer (JSON of compiler/main.go), or what ran out. `fuel` is what the request burned; `narrowing` comes from its worker. */
export type Outcome =
  | { kind: 'answer'; answer: unknown; wasm: Uint8Array | undefined; fuel: number; narrowing?: Narrowing | undefined }
  | { kind: 'exhausted'; reason: string };

/** One instance of the compiler. Each request finds it as it was after Go's runtime had been initialised. */
export type CompilerInstance = {
  request(message: object): Outcome;
  /** Puts the instance back (5 ms) before the next request needs it; false when it must be thrown away. */
  reset(): boolean;
};

type Exports = {
  memory: WebAssembly.Memory;
  fuel: WebAssembly.Global;
  _initialize(): void;
  alloc(bytes: number): number;
  handle(): bigint;
  module(): bigint;
};

/**
 * Instantiates, initialises Go's runtime (25 to 50 ms) and remembers its state, which is its memory and the globals that
 * the build exported (expose-state.ts).
 */
export function startCompiler(module: WebAssembly.Module): CompilerInstance {
  let memory: WebAssembly.Memory | undefined;
  const clock = { now: 0n };
  const system = sandbox(() => memory!, clock);
  const exports = new WebAssembly.Instance(module, { wasi_snapshot_preview1: system }).exports as unknown as Exports;
  memory = exports.memory;
  // Go takes what is there when it starts; memory that grew later could not be taken back.
  memory.grow(limits.compileMemoryReadyPages - memory.buffer.byteLength / PAGE_BYTES);
  exports._initialize();
  const restore = remember(exports, clock);
  let state: 'ready' | 'used' | 'spoilt' = 'ready';
  const reset = () => {
    if (state === 'used') state = restore() ? 'ready' : 'spoilt';
    return state === 'ready';
  };
  return {
    reset,
    request(message) {
      if (!reset()) throw new Error('this instance of the compiler cannot be used again');
      state = 'used';
      try {
        return ask(exports, message);
      } catch (error) {
        state = 'spoilt';
        return { kind: 'exhausted', reason: exhausted(error, exports.fuel.value) };
      }
    },
  };
}

/** Returns what puts memory, globals and clock back as they are now; it answers false when the memory has grown since. */
function remember(exports: Exports, clock: { now: bigint }): () => boolean {
  const { now } = clock;
  const size = exports.memory.buffer.byteLength;
  const all = new Uint8Array(exports.memory.buffer);
  let end = all.length;
  while (end > 0 && all[end - 1] === 0) end--;
  const written = all.slice(0, end);
  const names = Object.keys(exports).filter((name) => name.startsWith(STATE));
  const globals = names.map((name) => (exports as unknown as Record<string, WebAssembly.Global>)[name]!);
  const values = globals.map((global) => global.value);
  return () => {
    if (exports.memory.buffer.byteLength !== size) return false;
    const bytes = new Uint8Array(exports.memory.buffer);
    bytes.set(written);
    bytes.fill(0, written.length);
    for (const [i, global] of globals.entries()) global.value = values[i]!;
    clock.now = now;
    return true;
  };
}

function ask(exports: Exports, message: object): Outcome {
  const read = (packed: bigint) => {
    const span = BigInt.asUintN(64, packed);
    return new Uint8Array(exports.memory.buffer, Number(span >> 32n), Number(span & 0xffffffffn));
  };
  exports.fuel.value = limits.compileFuel;
  const bytes = new TextEncoder().encode(JSON.stringify(message));
  const from = exports.alloc(bytes.length) >>> 0;
  new Uint8Array(exports.memory.buffer, from, bytes.length).set(bytes);
  const answer: unknown = JSON.parse(new TextDecoder().decode(read(exports.handle())));
  const fuel = limits.compileFuel - exports.fuel.value;
  const span = exports.module();
  return { kind: 'answer', answer, wasm: span === 0n ? undefined : read(span), fuel };
}

/** Go aborts (unreachable or exit 2) when memory ends; the fuel tells that from a budget that is burned. */
function exhausted(error: unknown, fuel: number): string {
  if (fuel < 0) return `it takes more than ${limits.compileFuel} steps`;
  if (error instanceof RangeError) return 'it nests too deeply';
  return `it takes more than ${limits.compileMemoryPages / 16} MiB of memory`;
}

const SUCCESS = 0;
const BAD_DESCRIPTOR = 8;
const NOT_SUPPORTED = 52;

/**
 * The system that the compiler sees (WASI preview 1): no files, arguments or environment, output discarded, a clock
 * that advances a millisecond each time it is read, and constant randomness. Nothing of the host is in it, and the same
 * source burns the same fuel everywhere.
 */
function sandbox(memory: () => WebAssembly.Memory, clock: { now: bigint }): WebAssembly.ModuleImports {
  const view = () => new DataView(memory().buffer);
  const zero = (...pointers: number[]) => {
    for (const pointer of pointers) view().setUint32(pointer, 0, true);
    return SUCCESS;
  };
  const system: WebAssembly.ModuleImports = {
    args_sizes_get: zero,
    environ_sizes_get: zero,
    args_get: () => SUCCESS,
    environ_get: () => SUCCESS,
    sched_yield: () => SUCCESS,
    clock_time_get(_id: number, _precision: bigint, result: number) {
      clock.now += 1_000_000n;
      view().setBigUint64(result, clock.now, true);
      return SUCCESS;
    },
    random_get(pointer: number, length: number) {
      new Uint8Array(memory().buffer, pointer, length).fill(0x5a);
      return SUCCESS;
    },
    fd_write(_descriptor: number, vectors: number, count: number, written: number) {
      let total = 0;
      for (let i = 0; i < count; i++) total += view().getUint32(vectors + 8 * i + 4, true);
      view().setUint32(written, total, true);
      return SUCCESS;
    },
    fd_fdstat_get(_descriptor: number, result: number) {
      new Uint8Array(memory().buffer, result, 24).fill(0);
      return SUCCESS;
    },
    fd_prestat_get: () => BAD_DESCRIPTOR,
    poll_oneoff: (subscriptions: number, events: number, count: number, result: number) =>
      wakeAll(view(), subscriptions, events, count, result),
    proc_exit(code: number) {
      throw new Error(`compiler exited with ${code}`);
    },
  };
  return new Proxy(system, { get: (target, name: string) => target[name] ?? (() => NOT_SUPPORTED) });
}

/** Every sleep is over at once: the clock does not wait for anybody. */
function wakeAll(view: DataView, subscriptions: number, events: number, count: number, result: number): number {
  for (let i = 0; i < count; i++) {
    view.setBigUint64(events + 32 * i, view.getBigUint64(subscriptions + 48 * i, true), true); // user data
    view.setUint32(events + 32 * i + 8, view.getUint8(subscriptions + 48 * i + 8) << 16, true); // errno 0, type
  }
  view.setUint32(result, count, true);
  return SUCCESS;
}
