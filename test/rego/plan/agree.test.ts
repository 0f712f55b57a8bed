/** Random policies and inputs: plan and Wasm agree, to the order of items. */
import { afterAll, expect, test } from 'vitest';
import { createCompiler } from '../../../server/rego/compile.ts';
import { drawn } from '../../helpers/long.ts';
import { seed } from '../../helpers/seed.ts';
import { Pair } from './oracle.ts';
import { samples } from './sample.ts';

const compiler = createCompiler();
afterAll(() => compiler.close());

const POLICIES = drawn(5, 10);

test('random policies and inputs', async () => {
  process.stdout.write(`random policies: seed ${seed}\n`);
  const counts = { same: 0, inexact: 0, rules: 0 };
  for await (const { compiled, cases } of samples(compiler, seed, POLICIES)) {
    const pair = new Pair(compiled);
    for (const { rule, inputs } of cases) {
      counts.rules++;
      for (const input of inputs) {
        try {
          counts[pair.compare(input)]++;
        } catch (error) {
          throw new Error(`${rule}\n${(error as Error).message}`, { cause: error });
        }
      }
    }
  }
  process.stdout.write(`${JSON.stringify(counts)}\n`);
  expect(counts.rules).toBeGreaterThan(POLICIES);
  expect(counts.same).toBeGreaterThan(counts.inexact * 3);
});
