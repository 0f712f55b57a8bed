/** Compiling policies in tests of the evaluator: real ones, by the real compiler. */
import { hostBuiltinNames } from '../../server/rego/builtins/index.ts';
import { createCompiler } from '../../server/rego/compile.ts';
import { loadProgram, type Program } from '../../server/rego/evaluate.ts';
import type { Compiled } from '../../server/rego/schema.ts';

let compiler: ReturnType<typeof createCompiler> | undefined;

/** Files share a process: the next one that compiles starts another. */
export async function closeCompiler(): Promise<void> {
  const closing = compiler;
  compiler = undefined;
  await closing?.close();
}

/** A policy whose body is `rules`, in package `t`, compiled. Throws with the compiler's errors. */
export async function compileCode(rules: string): Promise<Compiled> {
  compiler ??= createCompiler();
  const result = await compiler.compile('t', `package t\n${rules}`, { builtins: hostBuiltinNames });
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result;
}

/** The Wasm of it. */
export async function compileWasm(rules: string): Promise<Uint8Array> {
  return (await compileCode(rules)).wasm;
}

/** The same, loaded. The rule `obligations` is what these tests look at: it may have any value. */
export async function compileProgram(rules: string): Promise<Program> {
  return loadProgram(await compileWasm(rules));
}

/** 2023-11-14T22:13:20.123456789Z. */
export const NOW = 1_700_000_000_123_456_789n;
