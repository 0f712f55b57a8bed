/** Policies with libraries and data documents: plan and Wasm agree, and what relationships they can tell apart is right. */
import { afterAll, describe, expect, test } from 'vitest';
import { createCompiler, hostBuiltinNames, type LibraryModule } from '../../../server/rego/index.ts';
import { Pair } from './oracle.ts';

const compiler = createCompiler();
afterAll(() => compiler.close());

const library = (name: string, source: string): LibraryModule => ({ name: `${name}/m.rego`, package: name, source });
const beside = {
  libraries: [
    library(
      'lib.roles',
      `package lib.roles
import data.lib.names
default level(_) := 0
level(s) := data.docs.levels[s.id]
of[name] := names.long(id) if some id, name in data.docs.levels
members contains id if some id in object.keys(data.docs.levels)
owns(type) if { some r in input.graph.subject; r.relationshipType == "owns"; r.to.type == type; r.to.id == input.resource.id }
related(r) if r.relationshipType == input.wanted
both := 1 if input.a
both := 2 if input.b
outcome := "not the policy's"`,
    ),
    library('lib.names', 'package lib.names\nlong(id) := sprintf("%s of %d", [id, count(data.docs.levels)])'),
  ],
  data: ['docs/levels', 'docs/odd-one'],
};
const data = {
  docs: {
    levels: { ann: 3, bob: 0.1, 'a b': 1e21, constructor: -7, 'é\u{1f600}': 2, '': 0 },
    'odd-one': { list: [[], {}, [1, [2, null]], 'x', true], same: { b: 1, a: { d: 1, c: 2 } } },
  },
};

async function compiled(rules: string) {
  const source = `package p\nimport data.lib.roles\n${rules}`;
  const result = await compiler.compile('t', source, { builtins: hostBuiltinNames, ...beside });
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result;
}

const inputs = [
  {},
  { s: { id: 'ann' }, a: true },
  { s: { id: 'bob' }, a: true, b: true, key: 'list' },
  { s: { id: 'constructor' }, key: 'same', path: ['a', 'c'] },
  { s: { id: 'valueOf' }, key: '__proto__' },
  { s: { id: 7 }, key: 2 },
];

describe('agree', () => {
  test.each([
    'roles.level(input.s)',
    'data.docs.levels',
    'roles.of',
    'roles.members',
    'data.lib.roles.members[input.s.id]',
    'data.docs.levels[input.s.id]',
    'data.docs["odd-one"][input.key]',
    '[v | some v in data.docs["odd-one"].list]',
    '[[k, v] | some k, v in data.docs.levels]',
    '{k: v | some k, v in data.docs["odd-one"].same}',
    '[[p, v] | walk(data.docs["odd-one"], [p, v])]',
    'object.get(data.docs["odd-one"].same, input.path, "none")',
    'json.marshal(data.docs["odd-one"])',
    'max([v | some v in data.docs.levels])',
    'count(data.docs.levels)',
    'data.docs["odd-one"].same == {"a": {"c": 2, "d": 1}, "b": 1}',
    'data.docs.levels == data.docs["odd-one"]',
    'x if { x := data.docs.levels with data.docs.levels as {"eve": 1} }',
    'roles.level({"id": "eve"}) if { y with data.docs.levels.eve as 9 }\ny if roles.level({"id": "eve"}) == 9',
    'z if { z := roles.members with data.docs.levels as {"eve": 1} }',
    'w if { w := roles.level(input.s) with data.lib.roles.level as 5 }',
    'data.docs["odd-one"].list[_]',
    'sprintf("%v", [data.docs["odd-one"]])',
    'roles.both',
  ])('%s', async (expression) => {
    const [head, ...more] = expression.split('\n');
    const rule = head?.includes(' if {') ? `outcome["x"] := ${head}` : `outcome["x"] := ${head}`;
    const pair = new Pair(await compiled([rule, ...more].join('\n')), data);
    let same = 0;
    for (const input of inputs) if (pair.compare(input) === 'same') same++;
    expect(same).toBeGreaterThan(0);
  });
});

describe('relationships', () => {
  const reads = async (rules: string) => (await compiled(rules)).reads;

  test('of a function in a library are told apart as those of a function of the policy', async () => {
    expect(await reads('outcome := "allow" if roles.owns("car")')).toMatchObject({
      narrowing: {
        subject: [{ name: 'owns', id: { of: 'resource', member: 'id' } }],
        resource: [],
      },
    });
  });

  test('that a function compares with what is not known are all read, and no line of a library is told as one of the policy', async () => {
    expect(await reads('outcome := "allow" if { some r in input.graph.subject; roles.related(r) }')).toMatchObject({
      narrowing: { wide: [{ side: 'subject', row: 3 }] },
    });
    const { libraries } = beside;
    const wide = library(
      'lib.all',
      'package lib.all\n\n\n\n\nany if { some r in input.graph.subject; r.from == input.x }',
    );
    const source = 'package p\noutcome := "allow" if data.lib.all.any';
    const options = { builtins: hostBuiltinNames, libraries: [...libraries, wide] };
    expect(await compiler.compile('t', source, options)).toMatchObject({
      ok: true,
      reads: { narrowing: { wide: [{ side: 'subject', row: 0 }] } },
    });
  });

  test('that are compared with a document are all read', async () => {
    const found = await reads(
      'outcome := "allow" if { some r in input.graph.subject; r.relationshipType == data.docs["odd-one"].list[3] }',
    );
    expect(found).toMatchObject({ narrowing: { wide: [{ side: 'subject', row: 3 }] } });
  });
});

test('what a module needs is its package and its references below data, imports included', async () => {
  const source = 'package a.b\nimport data.c.d as e\nx := data.f[input.g].h\ny := e.i\nz := data[input.j]';
  expect(
    await compiler.needs('t', [
      { name: 'm', source },
      { name: 'n', source: 'package' },
    ]),
  ).toEqual([
    { package: 'a.b', refs: [[], ['c', 'd'], ['f']] },
    { package: '', refs: [] },
  ]);
});
