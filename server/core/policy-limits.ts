/** The limits of compiling, evaluating and explaining policies; limits.ts has them among the others. */
export const policyLimits = {
  // Policies: compiling (facts: 230 lines burn 12 M fuel, 1e8 is about 1-2 s at worst)
  compileFuel: 100_000_000,
  compileMemoryPages: 2048, // 128 MiB
  /** Small policies need less than 30 MiB; an instance that took more is not used again. */
  compileMemoryReadyPages: 640, // 40 MiB
  compileDepthMax: 1000, // parser recursion, about 125 levels of nesting
  compileCpuMsMax: 5000, // of its thread, for what fuel does not count
  compileWaitMsMax: 30_000, // by the clock: a thread that does not get the CPU meanwhile is given up, and the policy tried again
  compilerIdleMs: 300_000, // without a compile, then its thread ends; the next one takes as long as loading it
  compileQueuePerTenantMax: 256,
  policyWasmBytesMax: 16 * 1024 * 1024,
  policyPlanBytesMax: 4 * 1024 * 1024, // a policy with a larger one runs its Wasm
  planProgramCharsMax: 1024 * 1024, // of JavaScript made of a plan, 10 ms to load for each 100,000; longer: its Wasm
  planNestingMax: 64, // blocks in blocks of a program, loading takes as long as the square of it; deeper: its Wasm
  narrowedPlanCharsMax: 256 * 1024, // of a larger one nobody finds out which relationships can matter
  narrowedUsesMax: 16, // of a side of input.graph in one policy; with more of them all relationships are fetched

  // Policies: evaluating (100 relationships burn about 1e5)
  evaluateFuel: 1_000_000,
  evaluateFuelCostly: 500_000, // past this an evaluation counts like an exhausted one
  evaluateLongMs: 50, // of CPU: past this too, whatever its fuel, because all others wait meanwhile
  isolatedTimeoutMs: 2000,
  isolatedPatientPerTenantMax: 64, // slow evaluations, tests, drafts and explained decisions that wait for the worker
  explainedPerTenantMax: 4, // explained decisions and coverages of a tenant at once; each holds the documents of its policy
  isolatedProgramBytesMax: 32 * 1024 * 1024, // of stored policies that the worker keeps
  explainingWasmBytesMax: 32 * 1024 * 1024, // of programs that are not served, in each of the two places that keep them
  traceCallsMax: 10_000, // of functions in one evaluation that are remembered to explain it; what is beyond is left out
  whyNotRulesMax: 64, // rules told of in one explanation of a deny, those behind conditions included
  whyNotValueCharsMax: 256, // of JSON of one value; longer ones are cut
  whyNotItemsMax: 8, // of lists for which a rule held that should not have, in one explanation
  whyNotTriesMax: 12, // evaluations of one explanation that try what would allow
  evaluateMemoryPages: 256, // 16 MiB
  evaluateInputBytesMax: 1024 * 1024,
  evaluateResultBytesMax: 64 * 1024,
  evaluateResultDepthMax: 72, // an answer may echo the deepest input
} as const;
