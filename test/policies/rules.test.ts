/** Names of policies, which source counts, instants of inputs, and expectations of tests. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { checkPolicyName, effectiveRego, instantOf, unmetExpectation } from '../../server/policies/rules.ts';
import { oneTest } from '../helpers/drawn.ts';
import { refusalOf } from '../helpers/problem.ts';

describe('a name', () => {
  const most = limits.policyNameCharsMax;

  test.each(['a', 'car:read', '...', 'Größe 1', '🚗'.repeat(most)])('may be %s', (name) => {
    expect(refusalOf(() => checkPolicyName(name))).toBeUndefined();
  });

  test.each(['', '.', '..', 'a/b', 'a?b', 'a#b', 'a\\b', 'a\nb', 'a\u200bb', `${'🚗'.repeat(most)}a`])(
    'may not be %j',
    (name) => {
      const detail = 'Use 1 to 253 printable characters without / ? # and \\, not . or ..';
      expect(refusalOf(() => checkPolicyName(name))).toMatchObject({
        ...{ code: 'policy_name_invalid', places: [['/params/policyName', detail]] },
      });
    },
  );
});

describe('the source that counts', () => {
  const most = limits.regoSourceBytesMax;

  test('is the Rego as it is, or the drawn policy where there is one', () => {
    expect(effectiveRego({ rego: 'package p' })).toBe('package p');
    const graph = oneTest([{ type: 'consent', name: 'terms' }]);
    const drawn = effectiveRego({ graph });
    expect(drawn).toContain('consent.name == "terms"');
    expect(effectiveRego({ rego: 'package p', graph })).toBe(drawn);
  });

  test('is there', () => {
    expect(refusalOf(() => effectiveRego({}))?.code).toBe('policy_without_source');
  });

  test('is bounded in bytes of UTF-8, also where a drawn policy counts', () => {
    const whole = 'ü'.repeat(most / 2);
    expect(effectiveRego({ rego: whole })).toBe(whole);
    const detail = `The source has ${most + 1} bytes; ${most} are allowed.`;
    const refusal = { code: 'policy_does_not_compile', detail, places: [['/rego', detail]] };
    const graph = oneTest([{ type: 'consent', name: 'terms' }]);
    expect(refusalOf(() => effectiveRego({ rego: `${whole}a` }))).toEqual(refusal);
    expect(refusalOf(() => effectiveRego({ rego: `${whole}a`, graph }))).toEqual(refusal);
  });

  test('can be stored', () => {
    expect(refusalOf(() => effectiveRego({ rego: 'package p\u0000' }))).toMatchObject({
      ...{ code: 'invalid_request', detail: 'The policy cannot be stored.' },
      places: [['/rego', expect.any(String)]],
    });
  });

  test('is a drawn policy in order, or is refused at its node', () => {
    const graph = oneTest([{ type: 'consent', name: 'terms' }]);
    const edges = graph.edges.filter(({ on }) => on === undefined);
    expect(refusalOf(() => effectiveRego({ graph: { ...graph, edges } }))).toMatchObject({
      code: 'policy_graph_invalid',
      places: expect.arrayContaining([['/graph/nodes/1', expect.stringContaining('leads nowhere')]]),
    });
  });
});

test('the instant of an input is its time, or now where it has none that is one', () => {
  const now = 7;
  expect(instantOf({ time: '2026-01-01T00:00:00.250Z' }, now)).toBe(Date.UTC(2026, 0, 1, 0, 0, 0, 250));
  for (const time of [undefined, 'soon', 1_000, null]) expect(instantOf({ time }, now)).toBe(now);
});

describe('an expectation', () => {
  const answer = { outcome: 'allow', reason: 'r', obligations: ['b', 'a'] };

  test.each([{}, { outcome: 'allow' }, { reason: 'r', obligations: ['a', 'b'] }])('%j is met', (expected) => {
    expect(unmetExpectation(answer, expected)).toBeUndefined();
  });

  test.each<[object, string]>([
    [{ outcome: 'deny' }, 'outcome is "allow", expected "deny"'],
    [{ outcome: { a: 1 } }, 'outcome is "allow", expected {"a":1}'],
    [{ reason: undefined }, 'reason is "r", expected undefined'],
    [{ obligations: ['a'] }, 'obligations is ["a","b"], expected ["a"]'],
    [{ obligations: ['a', 'b', 'b'] }, 'obligations is ["a","b"], expected ["a","b","b"]'],
  ])('%j is not', (expected, sentence) => {
    expect(unmetExpectation(answer, expected as never)).toBe(sentence);
  });

  test('of obligations is met in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (obligations) => {
        const turned = { ...answer, obligations: obligations.toReversed() };
        expect(unmetExpectation(turned, { obligations })).toBeUndefined();
      }),
    );
  });
});
