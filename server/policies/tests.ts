/** Checking a policy before it is activated: its own tests, and the whole check without a database. */
import type { ProblemPlace } from '../core/problems.ts';
import { type Code, type Compiled, type Compiler, neverAllows } from '../rego/index.ts';
import { type Answer, parseResult } from './answer.ts';
import { compileSource, resolveDependencies } from './artifacts.ts';
import { checkStated } from './data-subjects.ts';
import type { DocumentText } from './documents.ts';
import type { Engine } from './engine.ts';
import { noParts, type Part, type PartSet } from './parts.ts';
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
 * @returns whether one of them is answered with allow, or with an object
 * @param now ms, what time.now_ns gives to a test without input.time
 * @throws Problem policy_tests_failed saying which test got what; evaluator_busy, not_ready: not the policy's fault
 */
export async function runTests(
  engine: Pick<Engine, 'evaluateIsolated'>,
  program: { tenant: string; key: string; wasm: Uint8Array; documents?: readonly DocumentText[] },
  tests: readonly PolicyTest[],
  now: number,
): Promise<boolean> {
  const errors: ProblemPlace[] = [];
  let allowed = false;
  for (const [index, test] of tests.entries()) {
    const { input } = test;
    const run = await engine.evaluateIsolated(program.tenant, {
      ...{ key: program.key, wasm: program.wasm },
      ...(program.documents ? { documents: program.documents } : {}),
      ...{ input, now: instantOf(input, now) },
    });
    const answer = run.ok ? parseResult(run.result).answer : undefined;
    allowed ||= answer !== undefined && answer.outcome !== 'deny';
    const unmet = run.ok ? unmetExpectation(answer as Answer, test.expect) : `${run.failure}: ${run.detail}`;
    if (unmet !== undefined) errors.push({ pointer: `/tests/${index}`, detail: `${test.name}: ${unmet}` });
  }
  if (errors.length > 0) {
    throw policyProblem('policy_tests_failed', { detail: errors.map((error) => error.detail).join('; '), errors });
  }
  return allowed;
}

type Tested = {
  tenant: string;
  key: string;
  code: Pick<Code, 'wasm' | 'plan'>;
  documents?: readonly DocumentText[] | undefined;
};

/** @throws Problem policy_data_too_large when the documents leave no memory to evaluate in */
async function checkFits(
  engine: Pick<Engine, 'evaluateIsolated'>,
  { tenant, ...program }: Parameters<typeof runTests>[1],
  now: number,
): Promise<void> {
  const run = await engine.evaluateIsolated(tenant, { ...program, input: {}, now });
  if (run.ok || run.failure !== 'policy_memory_exhausted') return;
  throw policyProblem('policy_data_too_large');
}

/**
 * Whether one of a policy's tests is answered allow; null where there are no tests, or where the policy never allows.
 * @throws Problem as runTests does
 */
export async function allowTested(
  engine: Pick<Engine, 'evaluateIsolated'>,
  { tenant, key, code, documents }: Tested,
  tests: readonly PolicyTest[],
  now: number,
): Promise<boolean | null> {
  const program = { tenant, key, wasm: code.wasm, ...(documents ? { documents } : {}) };
  if (documents && documents.length > 0) await checkFits(engine, program, now);
  if (tests.length === 0) return null;
  const allowed = await runTests(engine, program, tests, now);
  return allowed || (neverAllows(code) ? null : false);
}

/** The documents among what a policy uses. */
export async function textsOf(uses: readonly Part[], set: PartSet): Promise<DocumentText[]> {
  const texts: DocumentText[] = [];
  for (const part of uses) {
    if (part.kind === 'data') texts.push({ path: part.name, digest: part.digest, text: await set.content(part) });
  }
  return texts;
}

/**
 * All that putPolicy checks, offline: name, graph, compiling, tests.
 * @returns what was compiled, and whether a test is answered allow (allowTested)
 * @throws Problem as putPolicy does
 */
export async function checkPolicy(
  services: { compiler: Compiler; engine: Pick<Engine, 'evaluateIsolated'> },
  name: string,
  body: PolicyBody,
  tests: readonly PolicyTest[],
  now: number,
  set: PartSet = noParts,
): Promise<Compiled & { allowTested: boolean | null; uses: readonly Part[] }> {
  checkPolicyName(name);
  const source = effectiveRego(body);
  const dependencies = await resolveDependencies(services.compiler, 'offline', source, set);
  const { uses } = dependencies;
  const compiled = await compileSource(services.compiler, 'offline', source, {
    ...{ of: body.graph ? 'graph' : 'rego', dependencies },
  });
  await checkStated(body.dataSubjects, compiled.reads, { source, uses, set });
  // The worker keeps programs by key; here each is used once.
  const key = `offline/${name}/${now}`;
  const program = { tenant: 'offline', key, code: compiled, documents: await textsOf(uses, set) };
  return { ...compiled, uses, allowTested: await allowTested(services.engine, program, tests, now) };
}
