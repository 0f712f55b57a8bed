/** Compiled policies as they are loaded: a module and what its memory needs. Instances are made in evaluate.ts. */
import { limits } from '../core/limits.ts';
import { PolicyError } from './budget.ts';
import { WasmReader } from './wasm-reader.ts';

/** `size` is bytes of Wasm; `memory` is in pages of 64 KiB. */
export type Program = {
  readonly module: WebAssembly.Module;
  readonly size: number;
  readonly memory: { readonly initial: number; readonly maximum: number };
};

/**
 * Makes a module from what the compiler returned. Synchronous, about 2 ms for a usual policy.
 * @throws PolicyError (internal) when it is not an instrumented policy; (memory) when its own data exceeds its memory
 */
export function loadProgram(wasm: Uint8Array): Program {
  let module: WebAssembly.Module;
  try {
    module = new WebAssembly.Module(wasm as Uint8Array<ArrayBuffer>);
  } catch (cause) {
    throw new PolicyError('internal', 'the compiled policy is not a WebAssembly module', { cause });
  }
  if (!WebAssembly.Module.exports(module).some(({ name, kind }) => name === 'fuel' && kind === 'global'))
    throw new PolicyError('internal', 'the compiled policy has no fuel counter');
  const memory = importedMemory(wasm);
  if (memory.initial > memory.maximum) throw new PolicyError('memory', "the policy's own data exceeds its memory");
  return { module, size: wasm.byteLength, memory };
}

const SECTION = { import: 2, data: 11 } as const;
const PAGE = 65_536;

/**
 * Limits of the imported memory, which JavaScript's own reflection does not tell. OPA's compiler declares a minimum that
 * it counted before it added the policy's own data, so the data is looked at as well.
 */
function importedMemory(wasm: Uint8Array): Program['memory'] {
  const reader = new WasmReader(wasm);
  let memory: Program['memory'] | undefined;
  let dataEnd = 0;
  for (const { id, from } of reader.sections()) {
    reader.at = from;
    if (id === SECTION.import) memory = memoryImport(reader);
    if (id === SECTION.data) dataEnd = endOfData(reader);
  }
  if (memory === undefined) throw new PolicyError('internal', 'the compiled policy imports no memory');
  return { initial: Math.max(memory.initial, Math.ceil(dataEnd / PAGE) + 1), maximum: memory.maximum };
}

function memoryImport(reader: WasmReader): Program['memory'] | undefined {
  for (let left = reader.u32(); left > 0; left--) {
    reader.skipBytes();
    reader.skipBytes();
    const kind = reader.byte();
    if (kind === 2) {
      const { minimum, maximum = limits.evaluateMemoryPages } = reader.limits();
      return { initial: minimum, maximum: Math.min(maximum, limits.evaluateMemoryPages) };
    }
    if (kind !== 0) break;
    reader.skipNumber();
  }
  return undefined;
}

/** Where the highest active segment ends: each is flag 0, i32.const offset, end, bytes. */
function endOfData(reader: WasmReader): number {
  let end = 0;
  for (let left = reader.u32(); left > 0; left--) {
    if (reader.byte() !== 0 || reader.byte() !== 0x41)
      throw new PolicyError('internal', "the compiled policy's data is not as OPA lays it out");
    const offset = reader.u32();
    reader.byte();
    const length = reader.u32();
    reader.at += length;
    end = Math.max(end, offset + length);
  }
  return end;
}
