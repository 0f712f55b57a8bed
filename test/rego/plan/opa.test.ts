/**
 * Random policies and inputs: plan, Wasm and OPA's own evaluator agree, to the order of items. Without Go, of the policies whose answers
 * are kept; with TEST_LONG=1 or another seed OPA is asked, which needs Go.
 */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createCompiler } from '../../../server/rego/compile.ts';
import { closeAtEnd } from '../../helpers/closing.ts';
import { drawn, isLong } from '../../helpers/long.ts';
import { seed } from '../../helpers/seed.ts';
import { hasGo, KEPT, keptOpa, type Opa, type OpaResult, startOpa } from './opa.ts';
import { type Given, Pair } from './oracle.ts';
import { type Sample, samples } from './sample.ts';

const POLICIES = drawn(KEPT.policies, 10);
const isKept = seed === KEPT.seed && !isLong;

describe.skipIf(!isKept && !hasGo())("OPA's own evaluator", () => {
  const compiler = createCompiler();
  let opa: Opa | undefined;
  closeAtEnd(async () => {
    opa?.close();
    await compiler.close();
  });

  test('random policies and inputs', async () => {
    opa = isKept ? keptOpa() : startOpa();
    process.stdout.write(`random policies against OPA: seed ${seed}\n`);
    const counts = { same: 0, given_up: 0, other_first: 0 };
    for await (const sample of samples(compiler, seed, POLICIES)) await compareAll(opa, sample, counts);
    process.stdout.write(`${JSON.stringify(counts)}\n`);
    expect(counts.same).toBeGreaterThan(POLICIES * 100);
    expect(counts.other_first * 100).toBeLessThan(counts.same);
  });

  async function compareAll(
    oracle: Opa,
    { source, compiled, cases }: Sample,
    counts: Record<ReturnType<typeof verdict>, number>,
  ) {
    const pair = new Pair(compiled);
    for (const { rule, inputs } of cases) {
      const wanted = await oracle.evaluate(source, inputs);
      for (const [i, input] of inputs.entries()) {
        for (const given of [pair.byPlan(input), pair.byWasm(input)])
          counts[verdict(given, wanted[i] as OpaResult, `${rule}\ninput ${JSON.stringify(input)}`)]++;
      }
    }
  }
});

/**
 * `other_first`: one gives a conflict of rules and the other is undefined. OPA orders the expressions of a body otherwise
 * than its planner, so that another may be undefined before the conflict is found.
 */
function verdict(given: Given, wanted: OpaResult, what: string): 'same' | 'given_up' | 'other_first' {
  if ('inexact' in given || wanted.gaveUp) return 'given_up';
  if ('error' in given && given.error === 'memory' && hasInfinity(wanted.value)) return 'given_up';
  const result = 'result' in given ? (given.result as { obligations?: unknown }).obligations : undefined;
  const isError = 'error' in given;
  if (isError === (wanted.error !== undefined) && isDeepStrictEqual(asJson(result), wanted.value)) return 'same';
  if (isError !== (wanted.error !== undefined) && result === undefined && wanted.value === undefined)
    return 'other_first';
  throw new Error(`${JSON.stringify(given)}, OPA ${JSON.stringify(wanted)}\n${what}`);
}

function asJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** Whether there is a number beyond the doubles: JSON.parse made Infinity of it. */
function hasInfinity(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(hasInfinity);
  return value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY;
}
