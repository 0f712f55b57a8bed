/** Sets and objects in the order of their values, as `opa eval` goes through them: on the plan, and in OPA's Wasm. */
import { createHash } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { Instance, loadProgram } from '../../server/rego/evaluate.ts';
import { evaluatePlan } from '../../server/rego/plan/evaluate.ts';
import { loadPlan } from '../../server/rego/plan/program.ts';
import type { Compiled } from '../../server/rego/schema.ts';
import { closeCompiler, compileCode, NOW } from './policies.ts';

afterAll(closeCompiler);

const DIGEST = createHash('sha256').update('["read","write"]').digest('hex');
const NAMES = ['delta', 'alpha', 'charlie', 'bravo', 'echo', 'é', '😀', 'Z', '', '10', '9'];
const SORTED = ['', '10', '9', 'Z', 'alpha', 'bravo', 'charlie', 'delta', 'echo', 'é', '😀'];

/** An expression and what OPA 1.22 makes of it; `names` is a set and `by_name` an object with them for keys. */
const rows: [expression: string, value: unknown][] = [
  ['[x | some x in names]', SORTED],
  ['[x | names[x]]', SORTED],
  ['[k | some k, _ in by_name]', SORTED],
  ['[k | by_name[k]]', SORTED],
  ['[k | some k, _ in input.object]', SORTED],
  ['names', SORTED],
  ['concat(",", names)', SORTED.join(',')],
  ['json.marshal(names)', JSON.stringify(SORTED)],
  ['json.marshal({"s": {3, 1, 2}, "a": {"y": 1, "x": {[2], [1]}}})', '{"a":{"x":[[1],[2]],"y":1},"s":[1,2,3]}'],
  ['json.marshal({2: "b", "10": "c", 1: "a", {"q", "p"}: "d"})', '{"1":"a","10":"c","2":"b","[\\"p\\",\\"q\\"]":"d"}'],
  ['json.marshal({"1": "text", 1: "number"})', '{"1":"text"}'],
  ['json.marshal("<a & b>\\u2028\\b\\f")', '"\\u003ca \\u0026 b\\u003e\\u2028\\b\\f"'],
  ['sprintf("%v", [names])', `{${SORTED.map((name) => JSON.stringify(name)).join(', ')}}`],
  ['$"{ {"b": {2, 1}, "a": "x\\ty"} }"', '{"a": "x\\ty", "b": {1, 2}}'],
  [
    '[concat("/", p) | walk({"b": {"d": 1, "c": [2]}, "a": {"f", "e"}}, [p, v]); not is_number(v)]',
    ['', 'a', 'a/e', 'a/f', 'b', 'b/c'],
  ],
  ['[v | walk({"b": {"d": 1, "c": 2}, "a": [9, 8]}, [_, v]); is_number(v)]', [9, 8, 2, 1]],
  ['crypto.sha256(json.marshal({"write", "read"}))', DIGEST],
  ['crypto.sha256(json.marshal({"write", "read"})) == digest', true],
  [
    '[x | some x in {true, null, "a", 1, [1], {"a": 1}, {1}, 2.5, -1, [], {}}]',
    [null, true, -1, 1, 2.5, 'a', [], [1], {}, { a: 1 }, [1]],
  ],
  ['[x | some x in ({"c", "a"} | {"b"})]', ['a', 'b', 'c']],
  ['[x | some x in object.keys({"b": 1, "a": 2})]', ['a', 'b']],
  [
    '[[k, v] | some k, v in {"b": 1, "a": 2, 3: 3}]',
    [
      [3, 3],
      ['a', 2],
      ['b', 1],
    ],
  ],
  ['[x | some x in [3, 1, 2]]', [3, 1, 2]],
  [
    '[[i, x] | some i, x in ["b", "a"]]',
    [
      [0, 'b'],
      [1, 'a'],
    ],
  ],
  ['[x | some x in input.text]', []],
  ['[k | some k, v in by_name; every n in names { n != ""; v >= 0 }]', []],
  ['{k: [x | some x in v] | some k, v in {"q": {2, 1}, "p": {"b", "a"}}}', { p: ['a', 'b'], q: [1, 2] }],
  ['[x | some i in {2, 1}; some x in {"b", "a"}; i > 0]', ['a', 'b', 'a', 'b']],
  ['0 / 0', undefined],
  ['1 / 0', undefined],
  ['input.zero / input.zero', undefined],
  ['[x | some y in [4, 0, 2]; x := 4 / y]', [1, 2]],
  ['not_zero', true],
  ['json.unmarshal("{\\"a\\": 1} x")', undefined],
  ['json.is_valid("01")', false],
  ['json.is_valid("[1e5]")', true],
  ['format_int(-15.9, 16)', '-f'],
  ['trace("a note")', true],
  ['trace(input.zero)', undefined],
];

/** With numbers that a plan leaves to the Wasm. */
const byWasm: typeof rows = [
  ['0 / 0.0', undefined],
  ['0.0 / 0', undefined],
  ['format_int(18446744073709551617, 16)', '10000000000000001'],
  ['json.unmarshal("1e400000")', undefined],
  ['json.unmarshal("{\\"__proto__\\": {\\"a\\": [1.0]}}")', JSON.parse('{"__proto__": {"a": [1]}}')],
];

const SHARED = `
names := {${NAMES.map((name) => JSON.stringify(name)).join(', ')}}
by_name[k] := 1 if some k in names
digest := "${DIGEST}"
zero := 0 / 0
not_zero if not zero == 1
`;

const ROWS_EACH = 12; // of one policy: a large one compiles for seconds on a busy machine

const evaluators = {
  plan: ({ plan }: Compiled, input: unknown) =>
    evaluatePlan(loadPlan(plan as string), input, { now: NOW }).resultSet[0]?.result,
  Wasm: ({ wasm }: Compiled, input: unknown) =>
    new Instance(loadProgram(wasm)).evaluate(input, { now: NOW, fuel: 10_000_000 }).result,
};

async function expectRows(group: typeof rows, ways: readonly (keyof typeof evaluators)[]): Promise<void> {
  const rules = group.map(([expression], i) => `row["${i}"] := v if v := ${expression}`);
  const compiled = await compileCode(`${rules.join('\n')}\n${SHARED}\nobligations := row`);
  const input = { object: Object.fromEntries(NAMES.map((name) => [name, 1])), zero: 0, text: 'text' };
  for (const way of ways) {
    const { obligations } = evaluators[way](compiled, input) as { obligations: Record<string, unknown> };
    expect([way, ...group.map(([expression], i) => [expression, obligations[i]])]).toEqual([way, ...group]);
  }
}

const groups = Array.from({ length: Math.ceil(rows.length / ROWS_EACH) }, (_, i) =>
  rows.slice(i * ROWS_EACH, (i + 1) * ROWS_EACH),
);

test.each(groups.map((group) => [group[0]?.[0] as string, group] as const))('%s, and so on', async (_, group) => {
  await expectRows(group, ['plan', 'Wasm']);
});

test('numbers that JavaScript does not write so', async () => {
  await expectRows(byWasm, ['Wasm']);
});
