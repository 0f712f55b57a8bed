/** Hostile evaluations on plans: each ends within the budget of fuel and memory, or is given up and the Wasm ends it. */
import { afterAll, describe, expect, test } from 'vitest';
import { limits } from '../../../server/core/limits.ts';
import { PolicyError } from '../../../server/rego/evaluate.ts';
import { Evaluator } from '../../../server/rego/evaluator.ts';
import { evaluatePlan } from '../../../server/rego/plan/evaluate.ts';
import { keyOf } from '../../../server/rego/plan/keys.ts';
import { Machine, PlanBailout } from '../../../server/rego/plan/machine.ts';
import { loadPlan } from '../../../server/rego/plan/program.ts';
import { type Attack, attacks, costly, long } from '../attacks.ts';
import { closeCompiler, compileCode, NOW } from '../policies.ts';

afterAll(closeCompiler);

const wide = Array.from({ length: 3000 }, (_, i) => `item ${i}`);
const object = Object.fromEntries(wide.map((name, i) => [name, i]));
const ends: Attack[3] = ['budget', 'memory'];

/** What is cheap in Wasm may be dear here, and the other way round. */
const own: Attack[] = [
  ['sets of a large composite', 'count({[input, i] | some i in numbers.range(1, 5000)})', wide, ends],
  [
    'equality of large arrays',
    'count([1 | some i in numbers.range(1, 5000); input == array.concat(input, [i])])',
    wide,
    ends,
  ],
  [
    'equality of long texts',
    'count([1 | some i in numbers.range(1, 20000); input.a == input.b])',
    { a: `${long}x`, b: `${long}y` },
    ends,
  ],
  [
    'equality of lists of long equal texts',
    'count([1 | some i in numbers.range(1, 6000); input.a == input.b])',
    { a: [long], b: [`${long}x`.slice(0, -1)] },
    ends,
  ],
  [
    'sorting of long texts that begin alike',
    'count([x | some i in numbers.range(1, 200); x := sort(input)])',
    Array.from({ length: 40 }, (_, i) => `${long.slice(0, 20_000)}${i}`),
    ends,
  ],
  ['membership in a large array', 'count([1 | some i in numbers.range(1, 5000); i in input])', wide, ends],
  ['sorting many times', 'count([x | some i in numbers.range(1, 1000); x := sort(input)])', wide, ends],
  [
    'order of a large object',
    'count([k | some i in numbers.range(1, 1000); some k, v in object.union(input, {"k": i})])',
    object,
    ends,
  ],
  [
    'comparison of large objects',
    'count([1 | some i in numbers.range(1, 1000); input < object.union(input, {"k": i})])',
    object,
    ends,
  ],
  ['copies by with', 'count([x | some i in numbers.range(1, 3000); x := input.k with input.k as i])', object, ends],
  ['marshalling many times', 'count([x | some i in numbers.range(1, 1000); x := json.marshal(input)])', wide, ends],
  [
    'unmarshalling many times',
    'count([x | some i in numbers.range(1, 1000); x := json.unmarshal(input)])',
    JSON.stringify(wide),
    ends,
  ],
  ['splitting many times', 'count([x | some i in numbers.range(1, 1000); x := split(input, "")])', long, ends],
  [
    'searching many times',
    'count([1 | some i in numbers.range(1, 10000); contains(input.t, input.p)])',
    { t: long, p: `${'a'.repeat(30_000)}b` },
    ends,
  ],
  ['nested comprehensions', 'count([z | some x in input; z := [y | some y in input; y != x]])', wide, ends],
  ['rows of rows', 'count([[a, b, c] | some a in input; some b in input; some c in input])', wide, ends],
  [
    'object of everything',
    'count({sprintf("%d %s", [i, x]): input | some i in numbers.range(1, 500); some x in input})',
    wide,
    ends,
  ],
  ['walk of a walk', 'count([p | walk(input, [p, v]); walk(input, [q, w]); p == q])', wide, ends],
  [
    'reachable',
    'count([x | some i in numbers.range(1, 1000); x := graph.reachable(input, object.keys(input))])',
    Object.fromEntries(wide.map((n, i) => [n, [wide[i + 1] ?? 'end']])),
    ends,
  ],
  ['big sums', 'sum([x | some i in numbers.range(1, 100000); x := i * 9007199254740991])', {}, [...ends, 'defined']],
  [
    'host builtin with a large argument',
    'count([1 | some i in numbers.range(1, 1000); object.subset({"x": input}, {"x": i})])',
    wide,
    [...ends, 'undefined'],
  ],
  [
    'replace that grows',
    'count([x | some i in numbers.range(1, 200); x := replace(input, "a", "bbbbbbbbbbbbbbbbbbbb")])',
    long,
    ends,
  ],
  ['reversing many times', 'count([x | some i in numbers.range(1, 1000); x := strings.reverse(input)])', long, ends],
  [
    'membership whose first value is the one',
    'count([1 | some i in numbers.range(1, 5000); 1 in input])',
    Object.fromEntries(wide.map((name) => [name, 1])),
    ends,
  ],
  [
    'a long part, all but its second letter like the text',
    'contains(input.t, input.p)',
    { t: 'a'.repeat(100_000), p: `ab${'a'.repeat(20_000)}` },
    ends,
  ],
  [
    'arithmetic of digits',
    'count([1 | some x in input; some y in input; x + y > 3])',
    Array.from({ length: 400 }, (_, i) => i / 8),
    ends,
  ],
  [
    'unmarshalling many values',
    'count([x | some i in numbers.range(1, 10); x := json.unmarshal(input)])',
    JSON.stringify(Array.from({ length: 20_000 }, () => 1)),
    ends,
  ],
  [
    'a long text that is no number at its end',
    'count([1 | some i in numbers.range(1, 10000); not to_number(input)])',
    `${'1'.repeat(20_000)}x`,
    ends,
  ],
  [
    'keys listed for what is no object',
    'count([1 | some i in numbers.range(1, 100000); not object.remove(input.s, input.o); not object.filter(input.s, input.o)])',
    { s: 'no object', o: object },
    [...ends, 'defined'],
  ],
  ['trimming many times', 'count([x | some i in numbers.range(1, 1000); x := trim(input, "b")])', long, ends],
];

/** Ends in Wasm by its memory only because the text is there several times. */
const easier = new Set(['sprintf star']);

function outcomeOf(run: () => unknown): string {
  try {
    return 'obligations' in (run() as object) ? 'defined' : 'undefined';
  } catch (error) {
    if (error instanceof PlanBailout) return 'inexact';
    if (error instanceof PolicyError) return error.kind;
    throw error;
  }
}

describe('ends by itself', () => {
  test.for([...attacks, ...own])('%s', async ([name, expression, input, kinds], { annotate }) => {
    const code = await compileCode(
      `obligations := x if {\n\tnot input.good\n\tx := ${expression}\n}\nobligations := "fine" if input.good`,
    );
    const program = loadPlan(code.plan as string);
    const started = process.cpuUsage();
    const outcome = outcomeOf(() => evaluatePlan(program, input, { now: NOW }).resultSet[0]?.result);
    const { user, system } = process.cpuUsage(started);
    const ms = ((user + system) / 1000).toFixed(0);
    await annotate(`${outcome} after ${ms} ms of CPU`);
    const right = [...kinds, ...(easier.has(name) ? ['defined'] : [])];
    if (outcome !== 'inexact') expect(right).toContain(outcome);
    const evaluator = new Evaluator(code);
    expect(right).toContain(outcomeOf(() => evaluator.evaluate(input, { now: NOW }).result));
    expect(evaluator.evaluate({ good: true }, { now: NOW }).result).toEqual({ obligations: 'fine' });
  });
});

describe('host builtins are charged for their work', () => {
  test.for(costly)('%s', async ([, expression, input, fuelLeast]) => {
    const program = loadPlan((await compileCode(`obligations := ${expression}`)).plan as string);
    let used: number;
    try {
      used = evaluatePlan(program, input, { now: NOW }).fuelUsed;
    } catch (error) {
      if (error instanceof PlanBailout) return;
      if (!(error instanceof PolicyError) || (error.kind !== 'budget' && error.kind !== 'memory')) throw error;
      used = limits.evaluateFuel;
    }
    expect(used).toBeGreaterThanOrEqual(fuelLeast * 0.9);
  });
});

test('the members of an object are listed once, and that is charged', async () => {
  const [once, often] = await Promise.all(
    [1, 100].map(async (times) => {
      const code = await compileCode(`obligations := [1 | some i in numbers.range(1, ${times}); {"a": _} = input.o]`);
      return evaluatePlan(loadPlan(code.plan as string), { o: object }, { now: NOW }).fuelUsed;
    }),
  );
  expect(once).toBeGreaterThan(wide.length * 2);
  expect(often).toBeLessThan((once as number) * 2);
});

test('no caller can choose numbers of one hash: what V8 hashes without a seed is no key', () => {
  const machine = new Machine(limits.evaluateFuel, NOW, []);
  const keys = [256, -1, 70_000, 0.5, 2 ** 60, 9007199254740993n, 1e300].map((value) => keyOf(machine, value));
  expect(keys.filter((key) => typeof key !== 'string')).toEqual([]);
  expect(new Set(keys).size).toBe(keys.length);
  expect(keyOf(machine, 2 ** 60)).toBe(keyOf(machine, BigInt(String(2 ** 60))));
  expect(keyOf(machine, '256')).not.toBe(keyOf(machine, 256));
  expect(new Set([0, -0].map((value) => keyOf(machine, value))).size).toBe(1);
});

test('trims cut whole letters, from either end or all', async () => {
  const code = await compileCode(
    'obligations := [f | some f in [trim(input.t, input.c), trim_left(input.t, input.c), trim_right(input.t, input.c)]]',
  );
  const trims = (t: string, c: string) =>
    evaluatePlan(loadPlan(code.plan as string), { t, c }, { now: NOW }).resultSet[0]?.result;
  expect(trims('😀é😀x😁😀', '😀')).toEqual({ obligations: ['é😀x😁', 'é😀x😁😀', '😀é😀x😁'] });
  expect(trims('aaa', 'a')).toEqual({ obligations: ['', '', ''] });
  expect(trims('', 'a')).toEqual({ obligations: ['', '', ''] });
  expect(trims('b', '')).toEqual({ obligations: ['b', 'b', 'b'] });
});

test('string doubling', async () => {
  const steps = Array.from({ length: 30 }, (_, i) => `s${i + 1} := concat("", [s${i}, s${i}])`);
  const code = await compileCode(`s0 := input.s\n${steps.join('\n')}\nobligations := count(s30)`);
  const program = loadPlan(code.plan as string);
  expect(outcomeOf(() => evaluatePlan(program, { s: 'aaaaaaaaaaaaaaaa' }, { now: NOW }))).toBe('memory');
});
