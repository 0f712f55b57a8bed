/** Evaluations: results, inputs of every kind, errors and what they do to an instance, and opa-wasm as the oracle. */
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { Instance, loadProgram, PolicyError } from '../../server/rego/evaluate.ts';
import { closeCompiler, compileProgram, compileWasm, NOW } from './policies.ts';

// A CommonJS package whose types claim named ES exports that Node does not find.
const { loadPolicySync } = createRequire(import.meta.url)(
  '@open-policy-agent/opa-wasm',
) as typeof import('@open-policy-agent/opa-wasm');

afterAll(closeCompiler);

const at = { now: NOW };

function errorOf(run: () => unknown): PolicyError {
  try {
    run();
  } catch (error) {
    if (error instanceof PolicyError) return error;
    throw error;
  }
  throw new Error('did not throw');
}

describe('input', async () => {
  const echo = await compileProgram('obligations := input');

  test.each([
    false,
    0,
    '',
    null,
    true,
    1.5,
    'x',
    [],
    {},
    [[1, { a: [null] }]],
    { é: '☺\n"\\\u0000' },
    '𝒳',
    'a'.repeat(60_000),
  ])('arrives as it is: %j', (input) => {
    expect(new Instance(echo).evaluate({ input }, { ...at, fuel: 10_000_000 }).result).toEqual({
      obligations: { input },
    });
    expect(new Instance(echo).evaluate(input, { ...at, fuel: 10_000_000 }).result).toEqual({ obligations: input });
  });

  test('undefined is no input', () => {
    expect(new Instance(echo).evaluate(undefined, at).result).toEqual({});
  });

  test('lone surrogates are replaced, escapes that look like them are not', () => {
    const instance = new Instance(echo);
    expect(instance.evaluate(['\ud800x', '\\ud800', '\\\\\udfff', '𝒳'], at).result).toEqual({
      obligations: ['\ufffdx', '\\ud800', '\\\\\ufffd', '𝒳'],
    });
  });

  test('is refused past its bounds, before the instance is touched', () => {
    const instance = new Instance(echo);
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
    expect(instance.evaluate(nested(limits.inputDepthMax), at).result).toEqual({
      obligations: nested(limits.inputDepthMax),
    });
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const wrong = [
      nested(limits.inputDepthMax + 1),
      cycle,
      'x'.repeat(limits.evaluateInputBytesMax),
      'é'.repeat(limits.evaluateInputBytesMax / 2),
      1n,
      () => 1,
    ];
    for (const input of wrong) expect(errorOf(() => instance.evaluate(input, at)).kind).toBe('input');
    expect(instance.broken).toBe(false);
    expect(instance.evaluate(1, at).result).toEqual({ obligations: 1 });
  });

  test('of the largest size fits', async () => {
    const size = await compileProgram('obligations := count(input)');
    const fuel = 100_000_000;
    const largest = limits.evaluateInputBytesMax - 2;
    expect(new Instance(size).evaluate('x'.repeat(largest), { now: NOW, fuel }).result).toEqual({
      obligations: largest,
    });
    expect(new Instance(size).evaluate('é'.repeat(largest / 2), { now: NOW, fuel }).result).toEqual({
      obligations: largest / 2,
    });
  });
});

describe('result', () => {
  test('of a policy without answers is empty', async () => {
    const program = await compileProgram('obligations := 1 if input.a');
    expect(new Instance(program).evaluate({}, at).result).toEqual({});
  });

  test('holds no number beyond the doubles, which JSON would write as null', async () => {
    const program = await compileProgram('obligations := input.n * input.n');
    expect(new Instance(program).evaluate({ n: 1e150 }, at).result).toEqual({ obligations: 1e300 });
    expect(errorOf(() => new Instance(program).evaluate({ n: 1e155 }, at)).kind).toBe('memory');
  });

  test('is bounded in bytes and depth', async () => {
    const program = await compileProgram('obligations := input.s\nreason := json.unmarshal(input.deep)');
    const room = limits.evaluateResultBytesMax - JSON.stringify([{ result: { obligations: '' } }]).length;
    const fuel = 10_000_000;
    expect(new Instance(program).evaluate({ s: 'x'.repeat(room) }, { now: NOW, fuel }).result).toEqual({
      obligations: 'x'.repeat(room),
    });
    const tooLong = new Instance(program);
    expect(errorOf(() => tooLong.evaluate({ s: 'x'.repeat(room + 1) }, { now: NOW, fuel })).kind).toBe('memory');
    expect(tooLong.broken).toBe(true);
    const deep = '['.repeat(limits.evaluateResultDepthMax) + ']'.repeat(limits.evaluateResultDepthMax);
    expect(errorOf(() => new Instance(program).evaluate({ deep }, at)).kind).toBe('memory');
  });

  test('the clock is the instant given', async () => {
    const program = await compileProgram('obligations := sprintf("%d", [time.now_ns()])');
    expect(new Instance(program).evaluate({}, at).result).toEqual({ obligations: '1700000000123456789' });
    expect(new Instance(program).evaluate({}, { now: 1n }).result).toEqual({ obligations: '1' });
  });
});

describe('errors', () => {
  test('conflict, budget: the instance is broken and says so', async () => {
    const program = await compileProgram('obligations := 1 if input.a\nobligations := 2 if input.b');
    const instance = new Instance(program);
    expect(instance.evaluate({ a: true }, at).result).toEqual({ obligations: 1 });
    const conflict = errorOf(() => instance.evaluate({ a: true, b: true }, at));
    expect(conflict).toMatchObject({ name: 'PolicyError', kind: 'conflict' });
    expect(instance.broken).toBe(true);
    expect(errorOf(() => instance.evaluate({ a: true }, at))).toMatchObject({ kind: 'internal' });
    expect(errorOf(() => new Instance(program).evaluate({ a: true }, { now: NOW, fuel: 10 })).kind).toBe('budget');
    expect(errorOf(() => new Instance(program).evaluate({ a: true }, { now: NOW, fuel: 0 })).kind).toBe('budget');
  });

  test('fuel is counted the same each time, host builtins included', async () => {
    const program = await compileProgram('obligations := sprintf("%s %v", [input.s, time.format(time.now_ns())])');
    const instance = new Instance(program);
    const used = instance.evaluate({ s: 'x' }, at).fuelUsed;
    expect(instance.evaluate({ s: 'x' }, at).fuelUsed).toBe(used);
    expect(new Instance(program).evaluate({ s: 'x' }, { now: NOW, fuel: used }).fuelUsed).toBe(used);
    expect(errorOf(() => new Instance(program).evaluate({ s: 'x' }, { now: NOW, fuel: used - 1 })).kind).toBe('budget');
  });

  test('what is not an instrumented policy does not load', async () => {
    expect(errorOf(() => loadProgram(Uint8Array.of(1, 2, 3))).kind).toBe('internal');
    expect(errorOf(() => loadProgram(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0))).message).toMatch(/fuel/);
  });
});

test('a policy with more data of its own than OPA reckons with', async () => {
  const names = Array.from({ length: 300 }, (_, i) => `"${'n'.repeat(150)}${i}"`);
  const program = await compileProgram(`obligations := input.name in {${names.join(', ')}}`);
  expect(program.memory.initial).toBeGreaterThan(2);
  const fuel = 10_000_000;
  expect(new Instance(program).evaluate({ name: `${'n'.repeat(150)}299` }, { now: NOW, fuel }).result).toEqual({
    obligations: true,
  });
});

test('memory does not grow over evaluations', async () => {
  const program = await compileProgram(
    'obligations := {x | some x in input.list; startswith(x, sprintf("%s", ["a"]))}',
  );
  const instance = new Instance(program);
  const input = { list: Array.from({ length: 50 }, (_, i) => `a${i}`) };
  const first = instance.evaluate(input, at);
  for (let i = 0; i < 5000; i++) instance.evaluate(input, at);
  expect(instance.evaluate(input, at)).toEqual(first);
  expect(instance.memoryBytes).toBeLessThanOrEqual(1024 * 1024);
});

// But for sets, which it writes by their hash, and json.marshal, which our host does: see order.test.ts.
describe('opa-wasm gives the same', async () => {
  const policies = [
    'outcome := "allow" if input.a == input.b\nreason := "x" if not input.a',
    'default outcome := "deny"\noutcome := "allow" if input.list[_] == input.a',
    'obligations := [x | some x in input.list; is_string(x)]',
    'obligations := {k: v | some k, v in input.object; not is_null(v)}',
    'obligations := sort({x | some x in input.list})',
    'obligations := count(input.list) + count(input.object)',
    'obligations := object.union(input.object, {"b": input.b})',
    'obligations := walked if walked := [p | walk(input, [p, v]); is_number(v)]',
    'obligations := concat(",", [s | s := input.list[_]; is_string(s)])',
    'obligations := sort(input.list)\nreason := upper(input.a)',
    'obligations := json.remove(input, ["a", "list/0"])',
    'obligations := {"max": max(input.list), "k": sort(object.keys(input.object)), "r": regex.match("^[a-c]+$", input.a)}',
  ];
  const leaf = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 6 }), fc.integer(), fc.boolean(), fc.constant(null));
  const inputs = fc.record(
    {
      a: fc.oneof(leaf, fc.constantFrom('abc', 'x')),
      b: leaf,
      list: fc.array(fc.oneof(leaf, fc.array(leaf, { maxLength: 3 })), { maxLength: 6 }),
      object: fc.dictionary(fc.string({ maxLength: 4 }), leaf, { maxKeys: 5, noNullPrototype: true }),
    },
    { requiredKeys: [], noNullPrototype: true },
  );
  const wasms = await Promise.all(policies.map(compileWasm));

  test.each(policies.map((source, i) => [source, wasms[i]!] as const))('%s', (_source, wasm) => {
    const program = loadProgram(wasm);
    const instance = new Instance(program);
    const oracle = loadPolicySync(wasm, { initial: 5, maximum: limits.evaluateMemoryPages });
    const fuel = (oracle as unknown as { wasmInstance: { exports: { fuel: { value: number } } } }).wasmInstance.exports
      .fuel;
    fc.assert(
      fc.property(inputs, (input) => {
        fuel.value = 1_000_000;
        const [expected] = oracle.evaluate(input) as [{ result: unknown } | undefined];
        expect(instance.evaluate(input, at).result).toEqual(expected?.result);
      }),
      { numRuns: 200 },
    );
  });
});
