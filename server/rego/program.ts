/** Owns compiled policies as they are loaded: a module and what its memory needs. Instances are made in evaluate.ts. */
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
 * @throws PolicyError (internal) when it is not an instrumented policy
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
  return { module, size: wasm.byteLength, memory: importedMemory(wasm) };
}

/** Limits of the imported memory: JavaScript's own reflection of imports does not tell them. */
function importedMemory(wasm: Uint8Array): Program['memory'] {
  const reader = new WasmReader(wasm);
  const imports = reader.sections().find(({ id }) => id === 2);
  reader.at = imports?.from ?? wasm.length;
  for (let left = imports === undefined ? 0 : reader.u32(); left > 0; left--) {
    reader.skipBytes();
    reader.skipBytes();
    const kind = reader.byte();
    if (kind === 0) reader.skipNumber();
    else if (kind === 2) {
      const { minimum, maximum } = reader.limits();
      return { initial: minimum, maximum: Math.min(maximum ?? limits.evaluateMemoryPages, limits.evaluateMemoryPages) };
    } else break;
  }
  throw new PolicyError('internal', 'the compiled policy imports no memory');
}
