/** A policy as OPA's compiler makes it, before our fuel counter is put in: what a bare opa-wasm evaluates. */
import { loadCompilerModule, startCompiler } from '../server/rego/compiler-module.ts';
import { hostBuiltinNames } from '../server/rego/index.ts';

export function compilePlain(source: string): Uint8Array<ArrayBuffer> {
  const request = { op: 'compile', source, builtins: hostBuiltinNames, explain: false, maxDepth: 1000 };
  const outcome = startCompiler(loadCompilerModule()).request(request);
  if (outcome.kind !== 'answer' || !outcome.wasm) throw new Error('the policy does not compile');
  return Uint8Array.from(outcome.wasm);
}
