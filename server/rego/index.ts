/**
 * The Rego room: compiling tenants' policies to Wasm (OPA's compiler, itself Wasm, in a worker) and evaluating them within
 * a budget. It knows neither tenants' names nor where policies are kept.
 */

export { type PackedCode, packCode, unpackCode } from './artifact.ts';
export { hostBuiltinNames } from './builtins/index.ts';
export { createCompiler } from './compile.ts';
export { Instance, loadProgram, PolicyError, type PolicyErrorKind, type Program } from './evaluate.ts';
export { type BaseDocument, type Code, Evaluator } from './evaluator.ts';
export { neverAllows, noOutcome } from './outcome.ts';
export { RelationshipsRead, readsNote, relationshipsRead } from './relationships-read.ts';
export { regoRoom } from './room.ts';
export type { Compiled, Compiler, LibraryModule, ModuleNeeds, Reads, RegoError } from './schema.ts';
export { Coverage, coverageOf, coverageOfModules } from './trace/coverage.ts';
export { type Consenting, factsOf, inputWith, possibleFactsOf } from './trace/facts.ts';
export type { Lack } from './trace/lacks.ts';
export { type FailedCondition, type MissingFact, WhyNot, type WhyNotRule } from './trace/schema.ts';
export { shownValue } from './trace/shown.ts';
export { type Told, TracedPolicy, type TracedSource, type Wanted } from './trace/traced-policy.ts';
