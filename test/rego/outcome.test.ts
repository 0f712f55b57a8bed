/** Whether a policy can say an outcome, found in its plan: never said of one that can. */
import { afterAll, expect, test } from 'vitest';
import { createCompiler, hostBuiltinNames, noOutcome } from '../../server/rego/index.ts';
import type { Compiled } from '../../server/rego/schema.ts';

const compiler = createCompiler();
afterAll(() => compiler.close());

const policy = (body: string) => `package p\n\n${body}\n`;
test.each([
  ['no rule', 'missing', 'allow := "allow"'],
  ['a package of that name', 'missing', 'x := 1', 'package p.outcome\n\nx := 1\n'],
  ['true', 'never', 'outcome := true'],
  ['a rule without a value', 'never', 'outcome if input.x'],
  ['another word', 'never', 'outcome := "permit" if input.x'],
  ['other words in turn', 'never', 'default outcome := "no"\n\noutcome := "yes" if input.x else := 1 if input.y'],
  [
    'a number, null, an array',
    'never',
    'outcome := 1 if input.x\n\noutcome := null if input.y\n\noutcome := ["allow"] if input.z',
  ],
  ['a set', 'never', 'outcome contains "allow" if input.x'],
  ['a body that never holds', 'never', 'outcome := "allow" if false'],
  ['a word of another rule', undefined, 'outcome := word\n\nword := "permit"'],
  ['a word among others', undefined, 'outcome := "permit" if input.x\n\noutcome := "deny" if input.y'],
  [
    'one that holds beside one that never does',
    undefined,
    'outcome := "permit" if false\n\noutcome := "deny" if input.y',
  ],
  ['a default', undefined, 'default outcome := "deny"'],
  ['an else', undefined, 'outcome := "no" if input.x else := "allow"'],
  ['an object', undefined, 'outcome := {"a": 1}'],
  ['an object of parts', undefined, 'outcome["x"] := 1'],
  ['an object of rules', undefined, 'outcome.x := 1\n\noutcome.y := 2'],
  ['what the request says', undefined, 'outcome := input.context.outcome'],
  ['an object that is built', undefined, 'outcome := {k: 1 | some k in input.ks}'],
  ['under with', undefined, 'outcome := v if {\n\tv := x with input.a as 1\n}\n\nx := input.a'],
  ['text that is built', undefined, 'outcome := concat("", ["al", input.x])'],
])('%s: %s', async (_, expected, body, source = policy(body)) => {
  const compiled = await compiler.compile('t', source, { builtins: hostBuiltinNames });
  expect(compiled.ok ? true : compiled.errors).toBe(true);
  expect(noOutcome(compiled as Compiled)).toBe(expected);
});

test('outcome as a function only is refused by the compiler', async () => {
  const compiled = await compiler.compile('t', policy('outcome(x) := "allow"'), { builtins: hostBuiltinNames });
  expect(compiled).toMatchObject({
    ok: false,
    errors: [{ message: 'outcome must be a rule, not a function', row: 3 }],
  });
});

test('nobody can tell without a plan', () => {
  expect(noOutcome({})).toBeUndefined();
});
