/** Owns compiling policies in tests of the evaluator: real ones, by the real compiler. */
import { hostBuiltinNames } from '../../server/rego/builtins/index.ts';
import { createCompiler } from '../../server/rego/compile.ts';
import { loadProgram, type Program } from '../../server/rego/evaluate.ts';

const compiler = createCompiler();

export const closeCompiler = () => compiler.close();

/** Wasm of a policy whose body is `rules`, in package `t`. Throws with the compiler's errors. */
export async function compileWasm(rules: string): Promise<Uint8Array> {
  const result = await compiler.compile('t', `package t\n${rules}`, { builtins: hostBuiltinNames });
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result.wasm;
}

/** The same, loaded. The rule `obligations` is what these tests look at: it may have any value. */
export async function compileProgram(rules: string): Promise<Program> {
  return loadProgram(await compileWasm(rules));
}

/** 2023-11-14T22:13:20.123456789Z. */
export const NOW = 1_700_000_000_123_456_789n;
