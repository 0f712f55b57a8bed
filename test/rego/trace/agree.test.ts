/** Random policies and inputs: a traced evaluation gives what an untraced one gives, for the same fuel, and tells of it without an error. */
import { isDeepStrictEqual } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { hostBuiltinNames } from '../../../server/rego/builtins/index.ts';
import { createCompiler } from '../../../server/rego/compile.ts';
import { PolicyError } from '../../../server/rego/evaluate.ts';
import { evaluatePlan } from '../../../server/rego/plan/evaluate.ts';
import { PlanBailout } from '../../../server/rego/plan/machine.ts';
import { loadPlan } from '../../../server/rego/plan/program.ts';
import { reachedSpans, spanNumbers, spansOf } from '../../../server/rego/trace/coverage.ts';
import { evaluateTraced, loadTraced } from '../../../server/rego/trace/program.ts';
import { whyNot } from '../../../server/rego/trace/why-not.ts';
import { drawn } from '../../helpers/long.ts';
import { seed } from '../../helpers/seed.ts';
import { samples } from '../plan/sample.ts';
import { NOW } from '../policies.ts';

const compiler = createCompiler();
afterAll(() => compiler.close());

const POLICIES = drawn(3, 6);

function given(evaluate: () => { result: unknown; fuelUsed: number }) {
  try {
    const { result, fuelUsed } = evaluate();
    return { result, fuelUsed };
  } catch (error) {
    if (error instanceof PlanBailout) return { inexact: error.message };
    if (error instanceof PolicyError) return { error: error.kind };
    throw error;
  }
}

test('random policies and inputs', async () => {
  process.stdout.write(`traced policies: seed ${seed}\n`);
  let compared = 0;
  for await (const { source, compiled, cases } of samples(compiler, seed, POLICIES)) {
    const traced = await compiler.compile('t', source, { builtins: hostBuiltinNames, trace: true });
    if (!traced.ok || traced.plan === undefined || traced.outline === undefined)
      throw new Error('it compiled without trace');
    const program = loadTraced(traced.plan);
    const plan = loadPlan(compiled.plan as string);
    const numbers = spanNumbers(program.index, traced.outline);
    for (const input of cases.flatMap(({ inputs }) => inputs)) {
      const untraced = given(() => {
        const { resultSet, fuelUsed } = evaluatePlan(plan, input, { now: NOW });
        return { result: resultSet[0]?.result, fuelUsed };
      });
      const told = given(() => {
        const evaluation = evaluateTraced(program, input, { now: NOW });
        const sources = [{ file: 'policy.rego', source, outline: traced.outline ?? [] }];
        whyNot(program, evaluation.recorder, { sources, input, now: NOW });
        const reached = reachedSpans(evaluation.recorder, numbers);
        expect(Math.max(...reached)).toBeLessThan(spansOf(traced.outline ?? []).length);
        return evaluation;
      });
      if (!isDeepStrictEqual(told, untraced))
        throw new Error(
          `${source}\n${JSON.stringify(input)}\ntraced ${JSON.stringify(told)}\nelse ${JSON.stringify(untraced)}`,
        );
      compared++;
    }
  }
  process.stdout.write(`${compared} evaluations\n`);
  expect(compared).toBeGreaterThan(POLICIES * 10);
});
