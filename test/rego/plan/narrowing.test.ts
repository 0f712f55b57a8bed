/** Which relationships a policy can tell apart: found for the usual ways of writing it, and nothing for what uses more. */
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { limits } from '../../../server/core/limits.ts';
import type { Condition } from '../../../server/policies/graph/schema.ts';
import { effectiveRego } from '../../../server/policies/index.ts';
import {
  createCompiler,
  hostBuiltinNames,
  type Reads,
  readsNote,
  relationshipsRead,
} from '../../../server/rego/index.ts';
import { narrowingOf } from '../../../server/rego/plan/narrowing.ts';
import type { GraphUse } from '../../../server/rego/schema.ts';
import { oneTest } from '../../helpers/drawn.ts';

const compiler = createCompiler();
afterAll(() => compiler.close());

async function compiled(rego: string) {
  const result = await compiler.compile('t', `package p\ndefault outcome := "deny"\n${rego}`, {
    builtins: hostBuiltinNames,
  });
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result;
}

async function narrowing(rego: string) {
  const { reads } = await compiled(rego);
  return reads.all ? undefined : reads.narrowing;
}

const toResource = { of: 'resource', member: 'id' };
const resourceType = { of: 'resource', member: 'type' };

describe('is found', () => {
  test.each<[string, string, object]>([
    [
      'the request’s resource',
      `outcome := "allow" if {
        some link in input.graph.subject
        link.relationshipType == "may_use"
        link.to.type == "car"
        link.to.id == input.resource.id
      }`,
      {
        subject: [{ name: 'may_use', type: { literal: 'car' }, id: toResource }],
        resource: [],
        free: ['subject', 'resource'],
      },
    ],
    [
      'a wildcard',
      'outcome := "allow" if input.graph.subject[_].to.id == input.resource.id',
      { subject: [{ id: toResource }], resource: [], free: ['subject', 'resource'] },
    ],
    [
      'the other side',
      'outcome := "allow" if {some l in input.graph.resource; l.type == "owns"; l.from.type == input.subject.type; l.from.id == input.subject.id}',
      {
        subject: [],
        resource: [{ name: 'owns', type: { of: 'subject', member: 'type' }, id: { of: 'subject', member: 'id' } }],
        free: ['subject', 'resource'],
      },
    ],
    [
      'literals, in rules, functions, comprehensions and negations, each use',
      `outcome := "allow" if { staff; not blocked; count([l | some l in input.graph.subject; l.type == "likes"]) > 3 }
       staff if {some l in input.graph.subject; l.type == "member_of"; l.to.type == "group"; l.to.id == "staff"}
       blocked if {some l in input.graph.subject; l.type == "blocked"; l.to.id == input.resource.id}`,
      {
        subject: [
          { name: 'member_of', type: { literal: 'group' }, id: { literal: 'staff' } },
          { name: 'blocked', id: toResource },
          { name: 'likes' },
        ],
        resource: [],
        free: ['subject', 'resource'],
      },
    ],
    [
      'what happens after the comparisons may be anything',
      'outcome := "allow" if {some l in input.graph.subject; l.to.id == input.resource.id; l.to.color == "red"; startswith(l.type, "d")}\nreason := sprintf("%v", [x]) if x := [l | some l in input.graph.subject; l.type == "a"]',
      { subject: [{ id: toResource }, { name: 'a' }], resource: [], free: ['subject', 'resource'] },
    ],
    [
      'membership in a literal set or array',
      `outcome := "allow" if {some l in input.graph.subject; l.type in {"owner", "admin"}; l.to.id == input.resource.id}
       reason := "r" if {some l in input.graph.subject; l.to.type in ["car", "van"]}`,
      {
        subject: [
          { id: toResource, name: 'owner' },
          { id: toResource, name: 'admin' },
          { type: { literal: 'car' } },
          { type: { literal: 'van' } },
        ],
        resource: [],
        free: ['subject', 'resource'],
      },
    ],
    [
      'membership in a set that is a rule or a variable',
      `sharing := {"owner", "admin"}
       driving contains "drives"
       driving contains "may_use"
       outcome := "allow" if {some l in input.graph.subject; l.type in sharing}
       outcome := "allow" if {some l in input.graph.subject; driving[l.type]; l.to.id == input.resource.id}
       outcome := "allow" if {kinds := {"car"}; some l in input.graph.subject; l.to.type in kinds}`,
      {
        subject: [
          { name: 'owner' },
          { name: 'admin' },
          { id: toResource, name: 'drives' },
          { id: toResource, name: 'may_use' },
          { type: { literal: 'car' } },
        ],
        resource: [],
        free: ['subject', 'resource'],
      },
    ],
    [
      'a comparison in a function, or in one that it calls',
      `to_resource(l) if l.to.id == input.resource.id
       named(l, name) if {to_resource(l); l.type == name}
       either(l) if l.type == "owner"
       either(l) if {l.type == "admin"; to_resource(l)}
       outcome := "allow" if {some l in input.graph.subject; to_resource(l); l.type == "drives"}
       outcome := "allow" if {some l in input.graph.subject; named(l, "rents")}
       outcome := "allow" if {some l in input.graph.subject; either(l)}`,
      {
        subject: [
          { name: 'drives', id: toResource },
          { name: 'rents', id: toResource },
          { name: 'owner' },
          { id: toResource, name: 'admin' },
        ],
        resource: [],
        free: ['subject'],
      },
    ],
    [
      'a set of ids that is asked for one',
      `outcome := "allow" if input.resource.id in {l.to.id | some l in input.graph.subject; l.type == "owner"}
       outcome := "allow" if "staff" in [l.to.id | some l in input.graph.subject]
       reason := "r" if {ids := {l.to.id | some l in input.graph.subject; l.type == "drives"}; not input.resource.id in ids}`,
      {
        subject: [{ id: toResource, name: 'owner' }, { id: { literal: 'staff' } }, { id: toResource, name: 'drives' }],
        resource: [],
        free: ['subject'],
      },
    ],
    [
      'a list that is asked for two ids, or by a look-up',
      `outcome := "allow" if { ids := {l.to.id | some l in input.graph.subject; l.type == "a"}; input.resource.id in ids; "x" in ids }
       outcome := "allow" if { ids := {l.to.id | some l in input.graph.subject; l.type == "b"}; ids[input.resource.id] }
       outcome := "allow" if { ids := {l.to.id: true | some l in input.graph.subject; l.type == "c"}; not ids[input.resource.id] }`,
      {
        subject: [
          { id: toResource, name: 'a' },
          { id: { literal: 'x' }, name: 'a' },
          { id: toResource, name: 'b' },
          { id: toResource, name: 'c' },
        ],
        resource: [],
        free: ['subject'],
      },
    ],
    [
      'a rule that is a set or an array of ids',
      `owned := {l.to.id | some l in input.graph.subject; l.type == "a"}
       driven contains l.to.id if {some l in input.graph.subject; l.type == "b"}
       driven contains l.to.id if {some l in input.graph.subject; l.type == "c"}
       rented := [l.to.id | some l in input.graph.subject; l.type == "d"]
       lent[l.to.id] if {some l in input.graph.subject; l.type == "e"}
       sold(name) := {l.to.id | some l in input.graph.subject; l.type == "f"; l.to.color == name}
       outcome := "allow" if input.resource.id in owned
       outcome := "allow" if "x" in owned
       outcome := "allow" if {driven[input.resource.id]; not input.resource.id in rented}
       outcome := "allow" if {mine := driven; input.resource.id in mine; lent[input.resource.id]}
       outcome := "allow" if input.resource.id in sold("red")`,
      {
        subject: [
          { id: toResource, name: 'a' },
          { id: { literal: 'x' }, name: 'a' },
          ...['b', 'c', 'd', 'e', 'f'].map((name) => ({ id: toResource, name })),
        ],
        resource: [],
        free: ['subject'],
      },
    ],
    [
      'a rule that another rule is',
      `owned contains l.to.id if some l in input.graph.subject
       mine := owned
       outcome := "allow" if input.resource.id in mine`,
      { subject: [{ id: toResource }], resource: [], free: ['subject'] },
    ],
    [
      'links of an else chain',
      `outcome := "allow" if {some l in input.graph.subject; l.type == "a"; l.to.id == input.resource.id}
       else := "deny" if {some l in input.graph.subject; l.type == "b"; l.to.id == input.resource.id}
       else := null`,
      {
        subject: [
          { id: toResource, name: 'a' },
          { id: toResource, name: 'b' },
        ],
        resource: [],
        free: ['subject', 'resource'],
      },
    ],
  ])('%s', async (_, rego, expected) => {
    const found = await narrowing(rego);
    const texts = (uses?: readonly GraphUse[]) =>
      uses?.map(({ name, type, id }) => JSON.stringify({ name, type, id })).sort();
    expect(texts(found?.subject)).toEqual(texts((expected as { subject?: GraphUse[] }).subject));
    expect({ ...found, subject: 0, byType: 0 }).toEqual({ wide: [], ...expected, subject: 0, byType: 0 });
  });

  test.each(['car-use', 'car-drive'])('the example %s', async (name) => {
    const file = new URL(`../../../examples/carshare/policies/${name}.yaml`, import.meta.url);
    const { spec } = parse(readFileSync(file, 'utf8')) as { spec: { rego?: string; graph?: never } };
    const body = spec.graph === undefined ? { rego: spec.rego as string } : { graph: spec.graph };
    const result = await compiler.compile('t', effectiveRego(body), { builtins: hostBuiltinNames });
    if (!result.ok || result.reads.all) throw new Error('not compiled, or it reads everything');
    expect(result.reads.narrowing).toMatchObject({ subject: expect.any(Array), resource: [] });
  });

  const drawn: [object, object][] = [
    [{ target: 'resource' }, { name: 'drives', type: resourceType, id: toResource }],
    [
      { target: 'entity', targetType: 'group', targetId: 'g' },
      { name: 'drives', type: { literal: 'group' }, id: { literal: 'g' } },
    ],
    [
      { target: 'anyOfType', targetType: 'group' },
      { name: 'drives', type: { literal: 'group' } },
    ],
  ];
  const both = ['true', 'false'] as const;
  const ways = drawn.flatMap(([target, use]) => [both, ['true'], ['false']].map((on) => ({ target, use, on })));

  test.each(ways)('a drawn condition with $target and edges for $on', async ({ target, use, on }) => {
    const { nodes, edges } = oneTest([{ type: 'relationship', relationshipType: 'drives', ...target } as Condition]);
    const left = edges.filter((edge) => edge.on === undefined || on.includes(edge.on));
    const graph = { nodes: nodes.filter(({ id }) => id === 'start' || left.some(({ to }) => to === id)), edges: left };
    const result = await compiler.compile('t', effectiveRego({ graph }), { builtins: hostBuiltinNames });
    expect(result.ok && !result.reads.all && result.reads.narrowing).toEqual({
      ...{ subject: [use], resource: [], free: ['subject', 'resource'], wide: [] },
      ...('id' in use ? {} : { byType: [{ side: 'subject', row: expect.any(Number) }] }),
    });
  });
});

test('says of each side how much is read, and which line makes it more than what matches', async () => {
  const [one, all] = ['some l in input.graph.subject; l.to.id == input.resource.id', 'count(input.graph.resource) > 3'];
  const ofType = 'some l in input.graph.subject; l.type == "owner"';
  const said = async (rego: string) => {
    const { reads } = await compiled(rego);
    return [relationshipsRead(reads), readsNote(reads)?.note.replace(/;.*/, '')];
  };
  expect(await said('outcome := "allow" if input.resource.id == "1"')).toEqual([
    { subject: 'none', resource: 'none' },
    undefined,
  ]);
  expect(await said(`outcome := "allow" if {${one}}`)).toEqual([{ subject: 'matching', resource: 'none' }, undefined]);
  expect(await said(`outcome := "allow" if {${one}}\nreason := "r" if {${ofType}}`)).toEqual([
    { subject: 'byType', resource: 'none', line: 4 },
    'each decision reads all relationships of the subject that have the types the policy compares with (line 4)',
  ]);
  expect(await said(`outcome := "allow" if {${ofType}}\nreason := "r" if ${all}`)).toEqual([
    { subject: 'byType', resource: 'all', line: 4 },
    'each decision reads all relationships of the resource (line 4)',
  ]);
});

test('takes no time that grows with the square of a policy: 900 statements inside of eight scans', async () => {
  const scans = Array.from({ length: 8 }, (_, i) => `some l${i} in input.graph.subject; l${i}.to.id == "${i}"`);
  const looks = Array.from({ length: 900 }, (_, i) => `input.resource.id != "${i}"`);
  const found = await narrowing(`outcome := "allow" if {${[...scans, ...looks].join('; ')}}`);
  expect(found?.subject).toHaveLength(8);
  expect(found?.free).toEqual(['subject']);
});

describe('is not found', () => {
  test.each([
    ['counting all', 'outcome := "allow" if count(input.graph.subject) == 0'],
    ['handing it on', 'outcome := {"g": input.graph.subject}'],
    ['handing on the graph', 'outcome := {"g": input.graph}'],
    ['handing it to a function', 'f(g) if g[_].type == "a"\noutcome := "allow" if f(input.graph.subject)'],
    ['an entry at a place', 'outcome := "allow" if input.graph.subject[0].to.id == input.resource.id'],
    [
      'an entry at one place, asked twice',
      'outcome := "allow" if {input.resource.id == input.graph.subject[i].to.id; input.graph.subject[i].type == "x"}',
    ],
    ['places', 'outcome := {"at": [i | some i, l in input.graph.subject; l.to.id == input.resource.id]}'],
    ['every', 'outcome := "allow" if every l in input.graph.subject { l.to.id == input.resource.id }'],
    [
      'a comparison with something else',
      'outcome := "allow" if {some l in input.graph.subject; l.to.id == input.context.id}',
    ],
    ['what is not equal', 'outcome := "allow" if {some l in input.graph.subject; l.to.id != input.resource.id}'],
    [
      'a comparison after something that may end in a conflict',
      'f(x) := 1 if x\nf(x) := 2 if x\noutcome := "allow" if {some l in input.graph.subject; f(l.type) == 1; l.to.id == input.resource.id}',
    ],
    [
      'a set of which something else is made, too',
      'outcome := {"n": count(ids)} if { ids := {l.to.id | some l in input.graph.subject}; input.resource.id in ids }',
    ],
    [
      'a set that is compared as a whole',
      'outcome := "allow" if { ids := {l.to.id | some l in input.graph.subject}; input.resource.id in ids; ids != {"x"} }',
    ],
    ...[
      ['that is counted', 'outcome := "allow" if {input.resource.id in ids; count(ids) < 3}'],
      ['of which every item is looked at', 'outcome := "allow" if {every id in ids {id != input.resource.id}}'],
      ['that is asked for something of the context', 'outcome := "allow" if input.context.id in ids'],
      [
        'that is asked for in another rule, too',
        'outcome := "allow" if input.resource.id in ids\nreason := "r" if some id in ids',
      ],
      ['that is answered', 'outcome := ids'],
      [
        'that is asked for by a function’s argument',
        'has(id) if id in ids\noutcome := "allow" if has(input.resource.id)',
      ],
      [
        'that is evaluated with another input',
        'outcome := "allow" if input.resource.id in ids with input.resource.id as "x"',
      ],
      ['of which nobody asks for an id', 'outcome := "allow" if ids'],
    ].map(
      ([what, rest]) =>
        [`a rule ${what}`, `ids contains l.to.id if some l in input.graph.subject\n${rest}`] as [string, string],
    ),
    [
      'a rule that may be of two values, which would be in conflict',
      'ids := {l.to.id | some l in input.graph.subject}\nids := {"1"} if input.context.x\noutcome := "allow" if input.resource.id in ids',
    ],
    [
      'a rule that may be of more values than one in a loop',
      'ids := {l.to.id | some l in input.graph.subject; l.type == x} if some x in ["a", "b"]\noutcome := "allow" if input.resource.id in ids',
    ],
    [
      'a rule of names and values, which may be in conflict',
      'ids[l.to.id] := l.type if some l in input.graph.subject\noutcome := "allow" if ids[input.resource.id]',
    ],
    [
      'an array by its places',
      'ids := [l.to.id | some l in input.graph.subject]\noutcome := "allow" if ids[input.resource.id]',
    ],
    [
      'an object’s values',
      'ids[l.to.id] if some l in input.graph.subject\noutcome := "allow" if input.resource.id in ids',
    ],
    [
      'a rule whose name is worked out',
      'ids.a contains l.to.id if some l in input.graph.subject\nids.b contains "1"\noutcome := "allow" if {some name in input.context.names; input.resource.id in ids[name]}',
    ],
    [
      'a set whose items are not ids',
      'outcome := "allow" if input.resource.id in {x | some l in input.graph.subject; x := lower(l.to.id)}',
    ],
    [
      'a set that may hold an item of the context',
      'outcome := "allow" if {some l in input.graph.subject; l.type in {"owner", input.context.role}}',
    ],
    ['a set of numbers', 'outcome := "allow" if {some l in input.graph.subject; l.type in {"owner", 7}}'],
    ['what is in no set', 'outcome := "allow" if {some l in input.graph.subject; not l.type in {"owner", "admin"}}'],
    [
      'a rule that is a set of the context',
      'roles contains r if some r in input.context.roles\noutcome := "allow" if {some l in input.graph.subject; l.type in roles}',
    ],
    [
      'a function of which one clause asks nothing',
      'ok(l) if l.to.id == input.resource.id\nok(l) if l.to.color == "red"\noutcome := "allow" if {some l in input.graph.subject; ok(l)}',
    ],
    [
      'a function with an answer for all others',
      'default ok(_) := false\nok(l) if l.to.id == input.resource.id\noutcome := "allow" if {some l in input.graph.subject; not ok(l)}',
    ],
    [
      'a function that may end in a conflict before it compares',
      'f(x) := 1 if x\nf(x) := 2 if x\nok(l) if {f(l.type) == 1; l.to.id == input.resource.id}\noutcome := "allow" if {some l in input.graph.subject; ok(l)}',
    ],
    [
      'a function that is denied',
      'ok(l) if l.to.id == input.resource.id\noutcome := "allow" if {some l in input.graph.subject; not ok(l)}',
    ],
    [
      'one use that compares and one that does not',
      'outcome := "allow" if input.graph.subject[_].to.id == input.resource.id\nreason := "r" if input.graph.subject[_].to.color == "red"',
    ],
    ['a number', 'outcome := "allow" if input.graph.subject[_].to.id == 7'],
    [
      'the far end as a whole',
      'outcome := "allow" if input.graph.subject[_].to == {"type": "car", "id": input.resource.id}',
    ],
    [
      'with',
      'x if input.graph.subject[_].to.id == input.resource.id\noutcome := "allow" if x with input.resource.id as "other"',
    ],
    [
      'two entries compared',
      'outcome := "allow" if {some a in input.graph.subject; some b in input.graph.subject; a.to.id == b.to.id}',
    ],
    [
      'the graph by a computed name',
      'outcome := "allow" if input.graph[input.context.side][_].to.id == input.resource.id',
    ],
  ])('for %s', async (_, rego) => {
    const found = await narrowing(rego);
    expect(found?.subject).toBeUndefined();
    // The policy begins with two lines of ours; reads.all stands for both sides.
    if (found !== undefined) expect(found.wide).toContainEqual({ side: 'subject', row: expect.any(Number) });
    for (const { row } of found?.wide ?? []) expect(row).toBeGreaterThan(2);
  });

  test('and the first line that makes it so is told', async () => {
    const rego = `outcome := "allow" if {some l in input.graph.subject; l.to.id == input.resource.id}
      reason := "many" if {
        input.context.x
        count(input.graph.subject) > 3
      }
      obligations contains l.type if {
        some l in input.graph.resource
      }`;
    expect((await narrowing(rego))?.wide).toEqual([
      { side: 'subject', row: 6 },
      { side: 'resource', row: 9 },
    ]);
  });

  test.each([
    ['an attribute', 'outcome := "allow" if input.resource.color == "red"'],
    ['the id', 'outcome := "allow" if input.resource.id == "open"'],
    [
      'the id, among relationships to something else',
      'outcome := "allow" if {some l in input.graph.subject; l.to.id == "staff"; startswith(input.resource.id, "x")}',
    ],
    ['the id, in a rule', 'mine := input.resource.id\noutcome := "allow" if mine == input.subject.id'],
    ['all of it', 'outcome := {"r": input.resource}'],
  ])('that a resource is free where a policy looks at %s', async (_, rego) => {
    expect((await narrowing(rego))?.free).not.toContain('resource');
  });

  test('in a plan of more than narrowedPlanCharsMax characters, or with more than narrowedUsesMax uses', async () => {
    const { plan = '', reads } = await compiled(
      'outcome := "allow" if input.graph.subject[_].to.id == input.resource.id',
    );
    const paths: Reads = { all: false, paths: reads.all ? [] : reads.paths };
    expect(narrowingOf(plan.padEnd(limits.narrowedPlanCharsMax), paths)?.subject).toHaveLength(1);
    expect(narrowingOf(plan.padEnd(limits.narrowedPlanCharsMax + 1), paths)).toBeUndefined();
    const uses = (count: number) =>
      Array.from({ length: count }, (_, i) => `outcome := "allow" if input.graph.subject[_].to.id == "t${i}"`).join(
        '\n',
      );
    expect((await narrowing(uses(limits.narrowedUsesMax)))?.subject).toHaveLength(limits.narrowedUsesMax);
    expect((await narrowing(uses(limits.narrowedUsesMax + 1)))?.subject).toBeUndefined();
  });
});
