/**
 * The Rego room: compiling tenants' policies to Wasm (OPA's compiler, itself Wasm, in a worker) and evaluating them within
 * a budget. It knows neither tenants' names nor where policies are kept.
 */

export { type PackedCode, packCode, unpackCode } from './artifact.ts';
export { hostBuiltinNames } from './builtins/index.ts';
export { createCompiler } from './compile.ts';
export { Instance, loadProgram, PolicyError, type PolicyErrorKind, type Program } from './evaluate.ts';
export { type Code, Evaluator } from './evaluator.ts';
export { noOutcome } from './outcome.ts';
export { RelationshipsRead, readsNote, relationshipsRead } from './relationships-read.ts';
export { regoRoom } from './room.ts';
export type { Compiled, Compiler, Reads, RegoError } from './schema.ts';
