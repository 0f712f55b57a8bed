/** What evaluations reach of a source, as `opa test --coverage` counts it. */
import { afterAll, expect, test } from 'vitest';
import { hostBuiltinNames } from '../../../server/rego/builtins/index.ts';
import { createCompiler } from '../../../server/rego/compile.ts';
import { coverageOf, type Told, TracedPolicy } from '../../../server/rego/index.ts';
import { NOW } from '../policies.ts';

const compiler = createCompiler();
afterAll(() => compiler.close());

const source = `package p

default outcome := "deny"

outcome := "allow" if {
	input.a == 1
	every x in input.list {
		x > 0
	}
}

outcome := "allow" if {
	not input.b
	is_c(input.c)
} else := "deny" if {
	input.d == 4
}

is_c(c) if c == 3

unused if {
	input.e
	input.f
}
`;

async function coverage(...inputs: object[]) {
  const made = await compiler.compile('t', source, { builtins: hostBuiltinNames, trace: true });
  if (!made.ok) throw new Error(JSON.stringify(made.errors));
  const outline = made.outline ?? [];
  const policy = new TracedPolicy({ plan: made.plan as string, source, outline });
  const reached = inputs.flatMap((input) => {
    const { told } = policy.evaluate(input, NOW, 'coverage');
    return (told as Extract<Told, { reached: number[] }>).reached;
  });
  return coverageOf(outline, new Set(reached));
}
const lines = (...ranges: [number, number][]) =>
  ranges.map(([from, to]) => ({ start: { row: from }, end: { row: to } }));

test('a rule is covered when it gave a value, a condition when it was tried', async () => {
  expect(await coverage({ b: true })).toEqual({
    covered: lines([3, 3], [6, 6], [13, 13], [16, 16]),
    notCovered: lines([5, 5], [7, 8], [12, 12], [14, 15], [19, 19], [21, 23]),
    ...{ coveredLines: 4, notCoveredLines: 10, coverage: 28.6 },
  });
});

test('several inputs cover what each of them does; what no rule of the answer asks is never covered', async () => {
  const told = await coverage({ a: 1, list: [1] }, { c: 3 }, { b: true, d: 4 }, {});
  expect(told).toMatchObject({ notCovered: lines([21, 23]), notCoveredLines: 3, coverage: 78.6 });
});

test('no evaluation covers nothing', async () => {
  expect(await coverage()).toMatchObject({ covered: [], coveredLines: 0, coverage: 0 });
});
