/** Random policies and inputs: plan and Wasm agree, to the order of items. */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { hostBuiltinNames } from '../../../server/rego/builtins/index.ts';
import { createCompiler } from '../../../server/rego/compile.ts';
import type { Compiled } from '../../../server/rego/schema.ts';
import { inputs, rules, shared } from './generate.ts';
import { Pair } from './oracle.ts';

const compiler = createCompiler();
afterAll(() => compiler.close());

const RULES = 16;
const MODULES = 10;

/** The rules that compile, each reached by `input.case`; those with errors are dropped by the lines of the errors. */
async function compile(bodies: readonly string[]): Promise<{ compiled: Compiled; bodies: string[] } | undefined> {
  let left = [...bodies];
  while (left.length > 0) {
    const lines = left.map((body) => body.replaceAll('\n\t', '; '));
    const source = `package t\n${lines.join('\n')}\n${shared}`;
    const result = await compiler.compile('t', source, { builtins: hostBuiltinNames });
    if (result.ok) return { compiled: result, bodies: left };
    const wrong = new Set(result.errors.map(({ row }) => row - 2));
    const kept = left.filter((_, index) => !wrong.has(index));
    if (kept.length === left.length) return undefined;
    left = kept;
  }
  return undefined;
}

test('random policies and inputs', { timeout: 600_000 }, async () => {
  const seed = Math.trunc(Math.random() * 2 ** 31);
  process.stdout.write(`random policies: seed ${seed}\n`);
  const counts = { same: 0, inexact: 0, policies: 0 };
  const bodies = fc.sample(rules, { seed, numRuns: MODULES * RULES });
  for (let first = 0; first < bodies.length; first += RULES) {
    const sources = bodies
      .slice(first, first + RULES)
      .map(({ value, body }, index) => `obligations := {"is": ${value}} if { input.case == ${index}; ${body} }`);
    const made = await compile(sources);
    if (made === undefined) continue;
    const pair = new Pair(made.compiled);
    for (const source of made.bodies) {
      counts.policies++;
      const chosen = Number(/input\.case == (\d+)/.exec(source)?.[1]);
      for (const input of fc.sample(inputs, { seed: seed + chosen, numRuns: 30 })) {
        try {
          counts[pair.compare({ ...input, case: chosen })]++;
        } catch (error) {
          throw new Error(`${source}\n${(error as Error).message}`, { cause: error });
        }
      }
    }
  }
  process.stdout.write(`${JSON.stringify(counts)}\n`);
  expect(counts.policies).toBeGreaterThan(MODULES);
  expect(counts.same).toBeGreaterThan(counts.inexact * 3);
});
