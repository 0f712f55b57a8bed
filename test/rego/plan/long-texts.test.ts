/** Texts longer than V8 hashes: charged by their length, and what is found by them is what OPA's Wasm finds. */
import { afterAll, describe, expect, test } from 'vitest';
import { evaluatePlan } from '../../../server/rego/plan/evaluate.ts';
import { HASHED_CHARS_MAX, keyOf } from '../../../server/rego/plan/keys.ts';
import { Machine } from '../../../server/rego/plan/machine.ts';
import { closeCompiler, compileCode, NOW } from '../policies.ts';
import { Pair } from './oracle.ts';

afterAll(closeCompiler);

const text = (chars: number, end = '') => 'x'.repeat(chars - end.length) + end;

describe('are charged by their length', () => {
  test.each([
    ['equal', 'input.a == input.b', 1 / 256],
    ['members of lists', 'lists == others', 1 / 256],
    ['in a set', 'input.a in {input.b, "c"}', 1 / 64],
    ['names of an object', 'object.get({"c": 1}, input.a, 2) == 2', 1 / 64],
  ] as [string, string, number][])('%s', async (_, condition, perChar) => {
    const code = await compileCode(
      `lists := [input.a]\nothers := [input.b]\nobligations := true if { ${condition} }\nobligations := false if { input.none }`,
    );
    const { plan } = new Pair(code);
    const fuelOf = (chars: number) =>
      evaluatePlan(plan, { a: text(chars), b: text(chars) }, { now: NOW, fuel: 1e9 }).fuelUsed;
    expect(fuelOf(100_000) - fuelOf(1000)).toBeGreaterThan(99_000 * perChar);
  });
});

describe('are told apart, and found again', () => {
  const lengths = [HASHED_CHARS_MAX - 1, HASHED_CHARS_MAX, HASHED_CHARS_MAX + 1, 20_000];

  test.each(lengths)('%i characters', async (chars) => {
    const pair = new Pair(
      await compileCode(`obligations := {
        "set": count({input.a, input.b, input.c, concat("", [input.a, ""])}),
        "lists": count({[input.a], [input.b], [input.c], [concat("", [input.a, ""])]}),
        "held": input.c in {input.a, input.b},
        "absent": input.d in {input.a, input.b},
        "member": object.get(input.named, concat("", [input.a, ""]), "none"),
        "other": object.get(input.named, input.b, "none"),
        "made": object.get({input.a: 1, input.b: 2}, input.b, "none"),
      }`),
    );
    const [a, b, d] = [text(chars), text(chars, 'y'), text(chars, 'z')];
    expect(pair.compare({ a, b, c: text(chars), d, named: { [a]: 'found' } })).toBe('same');
  });

  test('a digest is no key of another value', () => {
    const machine = new Machine(1e9, 0n, []);
    const long = text(HASHED_CHARS_MAX + 1);
    const keys = [long, [long], { [long]: 1 }, [[long]], 'x'].map((value) => keyOf(machine, value));
    expect(new Set(keys).size).toBe(keys.length);
    for (const key of keys.slice(0, -1)) expect(String(key).isWellFormed()).toBe(false); // as no text of Rego is
  });
});
