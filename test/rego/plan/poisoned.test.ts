/** Inputs that JavaScript reads otherwise than JSON: names of Object.prototype, halves of surrogate pairs, odd numbers, depth, size. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../../server/core/limits.ts';
import { closeCompiler, compileCode } from '../policies.ts';
import { Pair } from './oracle.ts';

afterAll(closeCompiler);

const names = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'length',
  '__defineGetter__',
  'get',
];

const policies = {
  echo: 'obligations := input',
  members: `obligations := {n: v | some n in {${names.map((name) => JSON.stringify(name)).join(', ')}}; v := input[n]}`,
  constants: names.map((name) => `obligations contains "${name}" if input["${name}"]`).join('\n'),
  deeper: `obligations := [v | some n in {"__proto__", "constructor"}; v := input[n][n]]`,
  get: `obligations := [object.get(input, n, "none") | some n in ["__proto__", "a", "constructor"]]`,
  iterated: 'obligations := [[k, v] | some k, v in input]',
  built: 'obligations := object.union({k: {"was": v} | some k, v in input}, {"__proto__": {"x": 1}})',
  changed: 'obligations := x if x := input.a with input.__proto__ as 1',
  changedWithin: 'obligations := x if x := input with input.constructor.prototype as 1',
  compared:
    'obligations := [input == {}, input.a == input.b, input.a < input.b, input.a != null, {input.a} == {input.b}]',
  keys: 'obligations := object.keys(input)',
  text: 'obligations := json.marshal(input)',
  walked: 'obligations := [p | walk(input, [p, v]); not is_object(v)]',
  indexed: 'obligations := [v | some i in [0, -1, 1.5, 10, "0", "length"]; v := input.a[i]]',
  numbers: 'obligations := [input.a + 0, input.a - input.b, input.a * 1, [input.a], {input.a: 1}]',
  counted: 'obligations := [count(input), count(input.a)]',
};

const inputs: unknown[] = [
  ...[undefined, null, false, true, 0, -0, 1, '', 'x', [], {}],
  ...names.map((name) => JSON.parse(`{${JSON.stringify(name)}: {"isAdmin": true}, "a": 1}`)),
  JSON.parse('{"__proto__": null, "a": {"__proto__": {"__proto__": 1}}}'),
  JSON.parse('{"__proto__": [1, 2], "constructor": {"constructor": 1, "prototype": {}}}'),
  { a: '\ud800', b: '\udfff' },
  { a: '\ud800x', b: '\ufffdx' },
  { '\ud800': 1, '\ufffd': 2, a: '\\ud800' },
  { a: '\ud83d\ude00', b: '\uffee' },
  { a: 'a\u0000b', b: '\b\f\n\r\t"\\/\u2028\u007f' },
  ...[-0, 1e308, -1e308, 5e-324, 1e21, 1e-7, 123456789012345680000, 0.1, 1.5, 100, -3].map((a) => ({ a, b: 1 })),
  ...[2 ** 53, 2 ** 53 - 1, -(2 ** 53), 2 ** 60, 2 ** 63, 2 ** 64, 2 ** 53 + 2].map((a) => ({ a, b: 2 ** 53 })),
  { a: Number.NaN, b: Number.POSITIVE_INFINITY },
  { a: undefined, b: 1 },
  { a: new Date(0), b: { toJSON: () => 'x' } },
  Object.assign(Object.create({ inherited: true }), { a: 1 }),
  Object.assign(Object.create(null), { a: 1, constructor: 2 }),
  // biome-ignore lint/suspicious/noSparseArray: a hole is what is tested
  { a: [1, , 3], b: [1, null, 3] },
  { a: [[[[1]]]], b: [[[[1]]]] },
  { a: { x: 1, y: { z: [] } }, b: { y: { z: [] }, x: 1 } },
  Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`k${(i * 7919) % 41}`, i])),
  { a: Array.from({ length: 500 }, (_, i) => i % 7) },
];

describe.each(Object.entries(policies))('%s', (_name, rules) => {
  let pair: Pair;
  beforeAll(async () => {
    pair = new Pair(await compileCode(rules));
  });

  test('as the Wasm, for each input', () => {
    const given = inputs.map((input) => pair.compare(input));
    expect(given.filter((one) => one === 'same').length).toBeGreaterThan(inputs.length / 2);
  });
});

test('nothing is found that the input does not have', async () => {
  const pair = new Pair(await compileCode(policies.members));
  for (const input of [{}, { a: 1 }, [], 'text', [1, 2]])
    expect(pair.byPlan(input)).toEqual({ result: { obligations: {} } });
  const constants = new Pair(await compileCode(policies.constants));
  for (const input of [{}, [], 'text']) expect(constants.byPlan(input)).toEqual({ result: { obligations: [] } });
});

test('what the result says of __proto__ stays there', async () => {
  const pair = new Pair(await compileCode(policies.echo));
  const { result } = pair.byPlan(JSON.parse('{"__proto__": {"isAdmin": true}}')) as { result: { obligations: object } };
  expect(Object.getPrototypeOf(result.obligations)).toBe(Object.prototype);
  expect(Object.keys(result.obligations)).toEqual(['__proto__']);
});

test('inputs past the bounds of depth and size are refused, and at them taken', async () => {
  const size = new Pair(await compileCode('obligations := count(input)'));
  const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
  expect(size.byPlan(nested(limits.inputDepthMax))).toEqual({ result: { obligations: 1 } });
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const largest = limits.evaluateInputBytesMax - 2;
  expect(size.byPlan('x'.repeat(largest))).toEqual({ result: { obligations: largest } });
  expect(size.byPlan('é'.repeat(largest / 2))).toEqual({ result: { obligations: largest / 2 } });
  for (const input of [
    nested(limits.inputDepthMax + 1),
    cycle,
    'x'.repeat(largest + 1),
    'é'.repeat(largest / 2 + 1),
    1n,
  ])
    expect(size.byPlan(input)).toEqual({ error: 'input' });
});

test('results past the bounds of size and depth are refused, and at them given', async () => {
  const echo = new Pair(await compileCode('obligations := input.s\nreason := json.unmarshal(input.deep)'));
  const room = limits.evaluateResultBytesMax - JSON.stringify([{ result: { obligations: '' } }]).length;
  expect(echo.byPlan({ s: 'x'.repeat(room) })).toEqual({ result: { obligations: 'x'.repeat(room) } });
  expect(echo.byPlan({ s: 'x'.repeat(room + 1) })).toEqual({ error: 'memory' });
  expect(echo.byPlan({ s: 'é'.repeat(room / 2 + 1) })).toEqual({ error: 'memory' });
  for (const levels of [
    limits.evaluateResultDepthMax - 1,
    limits.evaluateResultDepthMax,
    limits.evaluateResultDepthMax + 1,
  ])
    echo.compare({ deep: '['.repeat(levels) + ']'.repeat(levels) });
  const deep = '['.repeat(limits.evaluateResultDepthMax) + ']'.repeat(limits.evaluateResultDepthMax);
  expect(echo.byPlan({ deep })).toEqual({ error: 'memory' });
});
