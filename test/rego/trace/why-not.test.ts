/** Why a policy did not allow: the first condition of each rule that did not hold, with its values, its line, and what is missing. */
import { afterAll, describe, expect, test } from 'vitest';
import { limits } from '../../../server/core/limits.ts';
import { hostBuiltinNames } from '../../../server/rego/builtins/index.ts';
import { createCompiler } from '../../../server/rego/compile.ts';
import { type Told, TracedPolicy } from '../../../server/rego/index.ts';
import type { WhyNot } from '../../../server/rego/trace/schema.ts';
import { NOW } from '../policies.ts';

const compiler = createCompiler();
afterAll(() => compiler.close());

async function traced(...lines: string[]) {
  const source = `package p\n${lines.join('\n')}\n`;
  const made = await compiler.compile('t', source, { builtins: hostBuiltinNames, trace: true });
  if (!made.ok) throw new Error(JSON.stringify(made.errors));
  return new TracedPolicy({ plan: made.plan as string, source, outline: made.outline ?? [] });
}

const whyNotOf = (policy: TracedPolicy, input: object, consenting = {}): WhyNot =>
  (policy.evaluate(input, NOW, 'whyNot', consenting).told as Extract<Told, { whyNot: WhyNot }>).whyNot;

async function told(input: object, ...lines: string[]): Promise<WhyNot> {
  return whyNotOf(await traced(...lines), input);
}

const subject = { type: 'user', id: 'alice' };
const resource = { type: 'record', id: 'rec-pat', owner: 'bob' };
const owner = { relationshipType: 'is_owner_of', from: subject, to: { type: 'record', id: 'rec-pat' } };
const owned = (id: string) => ({ type: 'is_owner_of', relationshipType: 'is_owner_of', to: { type: 'record', id } });
const withGraph = (...links: object[]) => ({
  subject,
  resource,
  graph: { subject: links, resource: [] },
  consents: [],
});

describe('a rule that could have allowed', () => {
  test('is told with its first condition that did not hold: line, text and values', async () => {
    const { rules } = await told(
      { subject, resource, context: { level: 2 } },
      'default outcome := "deny"',
      'outcome := "allow" if {',
      '\tinput.context.level > 1',
      '\tinput.resource.owner == input.subject.id',
      '\tinput.never',
      '}',
      'outcome := "allow" if input.context.level > 3',
      'outcome := "deny" if input.context.level == 2',
    );
    expect(rules).toEqual([
      {
        ...{ line: 3, text: 'outcome := "allow" if {' },
        condition: {
          ...{ line: 5, text: 'input.resource.owner == input.subject.id' },
          values: [
            { of: 'input.resource.owner', value: 'bob' },
            { of: 'input.subject.id', value: 'alice' },
          ],
        },
      },
      {
        ...{ line: 8, text: 'outcome := "allow" if input.context.level > 3' },
        condition: {
          ...{ line: 8, text: 'input.context.level > 3' },
          values: [{ of: 'input.context.level', value: 2 }],
        },
      },
    ]);
  });

  test('tells what is undefined without a value', async () => {
    const { rules } = await told({}, 'outcome := "allow" if input.context["a b"].x == 1');
    expect(rules[0]?.condition?.values).toEqual([{ of: 'input.context' }]);
  });

  test('that comes behind the else of one that held was not reached', async () => {
    const { rules } = await told({ x: 1 }, 'outcome := "deny" if {', '\tinput.x == 1', '} else := "allow"');
    expect(rules).toEqual([{ line: 4, text: '} else := "allow"', notReached: { line: 2 } }]);
  });

  test('with a computed value is told with the rule that gave it', async () => {
    const { rules } = await told(
      { x: 1 },
      'outcome := decision',
      'decision := "allow" if input.x == 2',
      'decision := "deny" if input.x == 1',
    );
    expect(rules).toMatchObject([
      {
        ...{ line: 2, held: true, value: 'deny' },
        condition: { because: [{ line: 3, condition: { values: [{ of: 'input.x', value: 1 }] } }] },
      },
    ]);
  });
});

describe('a condition', () => {
  test('that asks rules tells each of them, functions with what they are given', async () => {
    const { rules } = await told(
      { subject, resource },
      'default allow := false',
      'outcome := "allow" if allow',
      'allow if is_mine(input.resource)',
      'allow if is_mine(input.other)',
      'is_mine(thing) if thing.owner == input.subject.id',
    );
    const [first, second] = rules[0]?.condition?.because ?? [];
    expect(first).toMatchObject({
      line: 4,
      condition: {
        because: [
          {
            line: 6,
            condition: {
              values: [
                { of: 'input.resource.owner', value: 'bob' },
                { of: 'input.subject.id', value: 'alice' },
              ],
            },
          },
        ],
      },
    });
    expect(second).toMatchObject({ line: 5, condition: { values: [{ of: 'input.other' }] } });
  });

  test('that must not hold tells the rules that did', async () => {
    const { rules } = await told(
      { context: { flags: ['b'] } },
      'outcome := "allow" if not blocked',
      'blocked if "a" in input.context.flags',
      'blocked if count({x | some x in input.context.flags; x == "b"}) > 0',
    );
    expect(rules).toEqual([
      {
        ...{ line: 2, text: 'outcome := "allow" if not blocked' },
        condition: {
          ...{ line: 2, text: 'not blocked', values: [] },
          because: [
            {
              ...{ line: 4, text: 'blocked if count({x | some x in input.context.flags; x == "b"}) > 0' },
              ...{ held: true, value: true },
            },
          ],
        },
      },
    ]);
  });

  test('of every is told with the condition inside that an item did not meet', async () => {
    const { rules } = await told(
      {
        consents: [
          { name: 'a', ok: true },
          { name: 'b', ok: false },
        ],
      },
      'outcome := "allow" if {',
      '\tevery c in input.consents {',
      '\t\tc.name != ""',
      '\t\tc.ok == true',
      '\t}',
      '}',
    );
    expect(rules[0]?.condition).toMatchObject({
      line: 3,
      item: { line: 5, text: 'c.ok == true', values: [{ of: 'input.consents[_].ok', value: false }] },
    });
  });

  test('with a value that is longer than whyNotValueCharsMax shows its beginning', async () => {
    const most = 'x'.repeat(limits.whyNotValueCharsMax - 2); // and two quotes
    const values = async (name: string) =>
      (await told({ name }, 'outcome := "allow" if input.name == "y"')).rules[0]?.condition?.values;
    expect(await values(most)).toEqual([{ of: 'input.name', value: most }]);
    expect(await values(`${most}x`)).toEqual([{ of: 'input.name', value: `"${most}x`, cut: true }]);
  });
});

describe('a relationship that is missing', () => {
  const rule = [
    'outcome := "allow" if {',
    '\tsome r in input.graph.subject',
    '\tr.relationshipType == "is_owner_of"',
    '\tr.to.type == input.resource.type',
    '\tr.to.id == input.resource.id',
    '}',
  ];
  const text = 'user:alice is_owner_of record:rec-pat';
  const missing = [{ relationship: owner, text }];

  test.each([
    ['none at all', [], 3],
    ['one of another type', [{ relationshipType: 'reads', to: resource }], 4],
    ['one to another record', [owned('x'), owned('y')], 6],
  ])('where there is %s', async (_, links, line) => {
    const { rules } = await told(withGraph(...links), ...rule);
    expect(rules[0]).toMatchObject({ condition: { line, missing }, wouldAllowIf: missing });
  });

  test('is not said to be enough where another condition would not hold', async () => {
    const { rules } = await told(withGraph(), ...rule.slice(0, -1), '\tinput.context.open', '}');
    expect(rules[0]?.condition?.missing).toEqual(missing);
    expect(rules[0]).not.toHaveProperty('wouldAllowIf');
  });

  test.each([
    [
      'a set of ids',
      'outcome := "allow" if input.resource.id in {r.to.id | some r in input.graph.subject; r.type == "is_owner_of"}',
    ],
    [
      'a rule that is a set',
      'outcome := "allow" if input.resource.id in owned\nowned contains r.to.id if {\n\tsome r in input.graph.subject\n\tr.type == "is_owner_of"\n}',
    ],
    [
      'a function',
      'outcome := "allow" if {\n\tsome r in input.graph.subject\n\tis_it(r)\n}\nis_it(r) if {\n\tr.type == "is_owner_of"\n\tr.to.id == input.resource.id\n}',
    ],
    [
      'names of types',
      'outcome := "allow" if {\n\tsome r in input.graph.subject\n\tr.type in {"is_owner_of"}\n\tr.to.id == input.resource.id\n}',
    ],
  ])('is found behind %s', async (_, source) => {
    const text = JSON.stringify(await told(withGraph(owned('x')), source));
    expect(text).toContain(`"wouldAllowIf":${JSON.stringify(missing)}`);
  });

  test('of the resource says from whom', async () => {
    const { rules } = await told(
      withGraph(),
      'outcome := "allow" if {',
      '\tsome r in input.graph.resource',
      '\tr.type == "treats"',
      '\tr.from.id == input.subject.id',
      '}',
    );
    expect(rules[0]?.wouldAllowIf?.[0]?.text).toBe('user:alice is treats record:rec-pat');
  });
});

test('a consent that is missing is told with its status, and with the relationship that is missing besides', async () => {
  const input = { ...withGraph(), consents: [{ name: 'research', status: 'superseded', sufficient: false }] };
  const { rules } = await told(
    input,
    'outcome := "allow" if {',
    '\tagreed("research")',
    '\tsome r in input.graph.subject',
    '\tr.type == "is_owner_of"',
    '\tr.to.id == input.resource.id',
    '}',
    'agreed(name) if {',
    '\tsome c in input.consents',
    '\tc.name == name',
    '\tc.sufficient',
    '}',
  );
  const consent = { name: 'research', subject, status: 'superseded' };
  const text = 'user:alice agrees to research (status now: superseded)';
  expect(rules[0]?.condition?.because?.[0]).toMatchObject({
    condition: { missing: [{ consent, text }] },
    wouldAllowIf: [{ consent, text }, { relationship: owner }],
  });
});

test('consents of the persons whom the data is about: of those who have not agreed', async () => {
  const person = (id: string, sufficient: boolean) => ({
    type: 'user',
    id,
    consents: [{ name: 'r', status: 'x', sufficient }],
  });
  const { rules } = await told(
    { subject, resource, dataSubjects: [person('pat', true), person('kim', false)] },
    'outcome := "allow" if {',
    '\tevery s in input.dataSubjects {',
    '\t\tsome c in s.consents',
    '\t\tc.name == "r"',
    '\t\tc.sufficient == true',
    '\t}',
    '}',
  );
  const text = 'user:kim agrees to r (status now: x)';
  expect(rules[0]?.wouldAllowIf).toEqual([
    { consent: { name: 'r', subject: { type: 'user', id: 'kim' }, status: 'x' }, text },
  ]);
});

describe('persons', () => {
  const bob = { type: 'user', id: 'bob', consents: [] };
  const eve = { type: 'user', id: 'eve', consents: [{ name: 'x', status: 'given', sufficient: true }] };
  const org = { type: 'org', id: 'acme', consents: [] };
  const ofBob = { consent: { name: 'x', subject: { type: 'user', id: 'bob' }, status: 'required' } };
  const agreed = 'agreed(p) if {\n\tsome c in p.consents\n\tc.name == "x"\n\tc.sufficient\n}';

  test.each([
    ['a rule without arguments', 'not lacking', 'lacking if {\n\tsome p in input.dataSubjects\n\tnot agreed(p)\n}'],
    [
      'a function of all of them',
      'not lacking(input.dataSubjects)',
      'lacking(all) if {\n\tsome p in all\n\tnot agreed(p)\n}',
    ],
  ])(
    'for whom a rule holds that must not, by %s, are named with the consent that they lack',
    async (_, condition, rule) => {
      const { rules } = await told({ dataSubjects: [bob, eve] }, `outcome := "allow" if ${condition}`, rule, agreed);
      expect(rules[0]).toMatchObject({
        wouldAllowIf: [ofBob],
        condition: {
          ...{ text: condition, missing: [ofBob] },
          because: [{ line: 3, held: true, heldFor: [{ value: bob }] }],
        },
      });
    },
  );

  test('past whyNotItemsMax for whom a rule holds are not shown', async () => {
    const dataSubjects = Array.from({ length: limits.whyNotItemsMax + 1 }, (_, i) => ({ type: 'user', id: `u${i}` }));
    const { rules } = await told(
      { dataSubjects },
      'outcome := "allow" if not lacking',
      'lacking if {\n\tsome p in input.dataSubjects\n\tnot p.consents\n}',
    );
    expect(rules[0]?.condition?.because?.[0]?.heldFor).toHaveLength(limits.whyNotItemsMax);
  });

  test('of a type that has no consents are not advised to agree', async () => {
    const all = await traced('outcome := "allow" if every p in input.dataSubjects { agreed(p) }', agreed);
    const users = await traced(
      'outcome := "allow" if every p in input.dataSubjects { ok(p) }',
      'ok(p) if p.type == "org"',
      'ok(p) if agreed(p)',
      agreed,
    );
    const input = { dataSubjects: [bob, org] };
    const [rule] = whyNotOf(all, input, { consentingType: 'user' }).rules;
    expect(JSON.stringify(rule)).not.toContain('wouldAllowIf');
    expect(rule?.condition?.because?.[0]?.condition?.missing).toMatchObject([
      ofBob,
      {
        consent: { name: 'x', subject: { type: 'org', id: 'acme' }, status: 'not_applicable' },
        text: 'org:acme cannot agree to x: only actors of the type user have consents',
      },
    ]);
    expect(whyNotOf(all, input).rules[0]?.condition?.because?.[0]?.wouldAllowIf).toHaveLength(2);
    const some = whyNotOf(users, input, { consentingType: 'user' });
    expect(JSON.stringify(some.rules)).toContain(
      '"wouldAllowIf":[{"consent":{"name":"x","subject":{"type":"user","id":"bob"}',
    );
    const subjectOf = await traced('outcome := "allow" if {\n\tsome c in input.consents\n\tc.name == "x"\n}');
    const subject = { subject: { type: 'org', id: 'acme' }, consents: [] };
    expect(whyNotOf(subjectOf, subject, { consentingType: 'user' }).rules[0]).not.toHaveProperty('wouldAllowIf');
    expect(whyNotOf(subjectOf, subject, { consentingType: 'org' }).rules[0]).toHaveProperty('wouldAllowIf');
  });
});

describe('a library', () => {
  const file = 'company.roles/main.rego';
  const library = {
    ...{ name: file, package: 'company.roles' },
    source: [
      'package company.roles',
      'both(r) if {',
      '\tagreed("a")',
      '\tagreed("b")',
      '\towner(r)',
      '}',
      'agreed(name) if {',
      '\tsome c in input.consents',
      '\tc.name == name',
      '}',
      'owner(r) if {',
      '\tsome g in input.graph.subject',
      '\tg.relationshipType == "is_owner_of"; g.to.id == r.id',
      '}',
      'all_ok if every p in input.dataSubjects {',
      '\tp.type == "user"',
      '}',
      'first := "a" if input.x == 1',
      'else := "b" if input.x == 2',
    ].join('\n'),
  };

  async function ofLibrary(input: object, condition: string): Promise<WhyNot> {
    const source = `package p\nimport data.company.roles\noutcome := "allow" if ${condition}\n`;
    const made = await compiler.compile('t', source, {
      ...{ builtins: hostBuiltinNames, trace: true },
      libraries: [library],
    });
    if (!made.ok) throw new Error(JSON.stringify(made.errors));
    const libraries = [{ file, source: library.source, outline: made.outlines?.[file] ?? [] }];
    return whyNotOf(
      new TracedPolicy({ plan: made.plan as string, source, outline: made.outline ?? [], libraries }),
      input,
    );
  }

  test('tells its rules and conditions with file, line and text, as deep as those of the policy', async () => {
    const input = { ...withGraph(), consents: [{ name: 'a', status: 'given', sufficient: true }] };
    const { rules } = await ofLibrary(input, 'roles.both(input.resource)');
    expect(rules[0]?.condition?.because).toMatchObject([
      {
        ...{ file, line: 2, text: 'both(r) if {' },
        condition: {
          ...{ file, line: 4, text: 'agreed("b")' },
          because: [
            {
              ...{ file, line: 7, text: 'agreed(name) if {' },
              condition: {
                ...{ file, line: 9, text: 'c.name == name' },
                missing: [{ consent: { name: 'b', subject, status: 'required' } }],
              },
              wouldAllowIf: [{ consent: { name: 'b' } }, { relationship: owner }],
            },
          ],
        },
      },
    ]);
  });

  test('tells the item of an every, and what was not reached behind an else', async () => {
    const { rules } = await ofLibrary({ dataSubjects: [{ type: 'org', id: 'acme' }] }, 'roles.all_ok');
    expect(rules[0]?.condition?.because?.[0]?.condition?.item).toEqual({
      ...{ file, line: 16, text: 'p.type == "user"' },
      values: [{ of: expect.any(String), value: 'org' }],
    });
    const { rules: others } = await ofLibrary({ x: 3 }, 'roles.first == "a"');
    expect(others[0]?.condition?.because).toMatchObject([
      { file, line: 18, condition: { values: [{ of: 'input.x', value: 3 }] } },
      { file, line: 19, condition: { values: [{ of: 'input.x', value: 3 }] } },
    ]);
  });
});

describe('of every', () => {
  const person = (id: string, ...consents: object[]) => ({ type: 'user', id, consents });
  const has = (name: string, sufficient: boolean) => ({ name, status: sufficient ? 'given' : 'expired', sufficient });
  const pat = person('pat', has('other', false), has('r', true));
  const all = [
    'outcome := "allow" if {',
    '\tevery s in input.dataSubjects {',
    '\t\ts.id != ""',
    '\t\tsome c in s.consents',
    '\t\tc.name == "r"',
    '\t\tc.sufficient',
    '\t}',
    '}',
  ];

  test.each([
    ['behind', [pat, person('kim')]],
    ['before', [person('kim'), pat]],
  ])('an item %s one for which it holds is told, and no value of that one', async (_, dataSubjects) => {
    const { rules } = await told({ subject, dataSubjects }, ...all);
    expect(rules[0]?.condition).toMatchObject({
      item: { line: 5, text: 'some c in s.consents', values: [{ of: 'input.dataSubjects[_].consents', value: [] }] },
      missing: [{ text: 'user:kim agrees to r (status now: required)' }],
    });
    expect(JSON.stringify(rules)).not.toMatch(/pat|other/);
  });

  test('the item that came furthest of those that it does not hold for', async () => {
    const dataSubjects = [person('kim'), person('joe', has('r', false)), pat, person('lea')];
    const { rules } = await told({ subject, dataSubjects }, ...all);
    expect(rules[0]?.condition?.item).toMatchObject({
      ...{ line: 7, values: [{ of: 'input.dataSubjects[_].consents[_].sufficient', value: false }] },
    });
    expect(rules[0]?.condition?.missing?.map(({ consent }) => [consent?.subject.id, consent?.status])).toEqual([
      ['kim', 'required'],
      ['joe', 'expired'],
      ['lea', 'required'],
    ]);
  });

  test('in each other: the inner one, and nothing of items for which it holds', async () => {
    const { rules } = await told(
      { x: [[1], [4], [9]] },
      'outcome := "allow" if {',
      '\tevery xs in input.x {',
      '\t\tevery x in xs {',
      '\t\t\tx != 4',
      '\t\t}',
      '\t}',
      '}',
    );
    expect(rules[0]?.condition?.item).toEqual({ line: 4, text: 'every x in xs { x != 4 }', values: [] });
    expect(JSON.stringify(rules)).not.toMatch(/1\]|9/);
  });
});

describe('bounds', () => {
  const many = (count: number) => Array.from({ length: count }, (_, n) => `outcome := "allow" if input.n == ${n + 1}`);

  test('whyNotRulesMax rules are told, and one more is said to be left out', async () => {
    const most = await told({ n: 0 }, ...many(limits.whyNotRulesMax));
    expect(most.rules).toHaveLength(limits.whyNotRulesMax);
    expect(most).not.toHaveProperty('truncated');
    const more = await told({ n: 0 }, ...many(limits.whyNotRulesMax + 1));
    expect([more.rules.length, more.truncated]).toEqual([limits.whyNotRulesMax, true]);
  });

  test('traceCallsMax calls are remembered, and one more is said to be left out', async () => {
    // Besides the calls of f: the answer's parts, which are two, and the outcome.
    const own = 3;
    const calls = async (count: number) =>
      told(
        { n: count },
        'outcome := "allow" if count([x | some x in numbers.range(1, input.n); f(x)]) < 0',
        'f(x) if x > 0',
      );
    expect(await calls(limits.traceCallsMax - own)).not.toHaveProperty('truncated');
    expect(await calls(limits.traceCallsMax - own + 1)).toMatchObject({ truncated: true });
  });

  test('whyNotTriesMax rules are tried with what they lack', async () => {
    const lacking = Array.from(
      { length: limits.whyNotTriesMax + 1 },
      (_, n) => `outcome := "allow" if {\n\tsome r in input.graph.subject\n\tr.type == "t${n}"\n}`,
    );
    const { rules } = await told(withGraph(), ...lacking);
    expect(rules.filter(({ wouldAllowIf }) => wouldAllowIf !== undefined)).toHaveLength(limits.whyNotTriesMax);
  });
});
