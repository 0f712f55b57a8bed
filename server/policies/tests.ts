/** Owns checking a policy before it is activated: its own tests, and the whole check without a database. */
import type { ProblemPlace } from '../core/problems.ts';
import type { Compiled, Compiler } from '../rego/index.ts';
import { judge } from './answer.ts';
import { compileSource } from './artifacts.ts';
import type { Engine } from './engine.ts';
import { policyProblem } from './problems.ts';
import {
  checkPolicyName,
  effectiveRego,
  instantOf,
  type PolicyBody,
  type PolicyTest,
  unmetExpectation,
} from './rules.ts';

/**
 * Runs the tests of a compiled policy apart from the main thread.
 * @param now ms, what time.now_ns gives to a test without input.time
 * @throws Problem policy_tests_failed saying which test got what; evaluator_busy, not_ready: not the policy's fault
 */
export async function runTests(
  engine: Pick<Engine, 'evaluateIsolated'>,
  program: { tenant: string; key: string; wasm: Uint8Array },
  tests: readonly PolicyTest[],
  now: number,
): Promise<void> {
  const errors: ProblemPlace[] = [];
  for (const [index, test] of tests.entries()) {
    const { input } = test;
    const run = await engine.evaluateIsolated(program.tenant, {
      ...{ key: program.key, wasm: program.wasm },
      ...{ input, now: instantOf(input, now) },
    });
    const unmet = run.ok ? unmetExpectation(judge(run.result).answer, test.expect) : `${run.failure}: ${run.detail}`;
    if (unmet !== undefined) errors.push({ pointer: `/tests/${index}`, detail: `${test.name}: ${unmet}` });
  }
  if (errors.length > 0) {
    throw policyProblem('policy_tests_failed', { detail: errors.map((error) => error.detail).join('; '), errors });
  }
}

/**
 * All that putPolicy checks, offline: name, graph, compiling, tests.
 * @returns what was compiled
 * @throws Problem as putPolicy does
 */
export async function checkPolicy(
  services: { compiler: Compiler; engine: Pick<Engine, 'evaluateIsolated'> },
  name: string,
  body: PolicyBody,
  tests: readonly PolicyTest[],
  now: number,
): Promise<Compiled> {
  checkPolicyName(name);
  const compiled = await compileSource(services.compiler, 'offline', effectiveRego(body), {
    of: body.graph ? 'graph' : 'rego',
  });
  // The worker keeps programs by key; here each is used once.
  const program = { tenant: 'offline', key: `offline/${name}/${now}`, wasm: compiled.wasm };
  await runTests(services.engine, program, tests, now);
  return compiled;
}
