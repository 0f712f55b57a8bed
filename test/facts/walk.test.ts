/** What decisions are given of relationships: the walk in SQL against a naive one in memory, on random graphs with cycles and expiry. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import type { Facts, RecordsQuery } from '../../server/facts/index.ts';
import { GraphReader } from '../../server/relationships/index.ts';
import { typesOf } from '../../server/types/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { drawn } from '../helpers/long.ts';
import { distinct, type Edge, NOW, type Node, nodeTypes, randomGraph, store, typesFor, type Way } from './graphs.ts';

const { database, adminUrl } = await createTestDatabase();
const source = new GraphReader(database);

const keyOf = (node: Node) => `${node.type}/${node.id}`;

/** Every relationship that holds, by its smallest number of stored ones: repeated until nothing gets smaller. */
function naive(edges: readonly Edge[], ways: readonly Way[]): Map<string, number> {
  const held = new Map<string, number>();
  for (const { from, name, to, expiresAt } of edges) {
    if (expiresAt === undefined || expiresAt > NOW)
      held.set(`${from.type}:${name}:${to.type} ${keyOf(from)} ${keyOf(to)}`, 1);
  }
  for (let changed = true; changed; ) {
    changed = false;
    for (const [one, a] of [...held]) {
      for (const [other, b] of [...held]) {
        const [[through, x, middle], [next, z, y]] = [one.split(' '), other.split(' ')];
        if (middle !== z) continue;
        for (const way of ways) {
          const key = `${way.makes} ${x} ${y}`;
          if (way.through !== through || way.next !== next || (held.get(key) ?? Number.POSITIVE_INFINITY) <= a + b)
            continue;
          held.set(key, a + b);
          changed = true;
        }
      }
    }
  }
  return held;
}

const needed = { subject: true, resource: true, subjectAttributes: false, resourceAttributes: false };
const evaluation = (
  tenant: string,
  types: RecordsQuery['types'],
  subject: Node,
  resource: Node,
  explain = false,
): RecordsQuery => ({
  tenant,
  types,
  subject,
  resource,
  needed,
  now: NOW,
  explain,
});

const tooLarge = { reason: 'graph_too_large', detail: expect.stringMatching('^the subject ') };

describe('the walk', () => {
  test.each(Array.from({ length: drawn(60, 150) }, (_, seed) => seed))(
    'graph %i agrees with the naive one, from every node to every node',
    async (seed) => {
      const graph = randomGraph(seed);
      const edges = distinct(graph.edges);
      const tenant = `walk${seed}`;
      await store(database, tenant, edges);
      const types = typesFor(edges, graph.ways);
      const held = [...naive(edges, graph.ways).keys()].map((key) => key.split(' ') as [string, string, string]);
      const nodes = nodeTypes.flatMap((type) => [0, 1, 2, 3].map((id) => ({ type, id: `${id}` })));
      const answers = await Promise.all(nodes.map((node) => source.read(evaluation(tenant, types, node, node, true))));
      for (const [index, node] of nodes.entries()) {
        const { graph: found, inherited = [] } = answers[index] as Facts;
        const from = held.filter(([, x]) => x === keyOf(node)).map(([type, , y]) => `${type.split(':')[1]} ${y}`);
        const to = held.filter(([, , y]) => y === keyOf(node)).map(([type, x]) => `${type.split(':')[1]} ${x}`);
        expect(found.subject.map((one) => `${one.type} ${keyOf(one.to)}`).sort()).toEqual(from.sort());
        expect(found.resource.map((one) => `${one.type} ${keyOf(one.from)}`).sort()).toEqual(to.sort());
        for (const { relationship, through } of inherited) {
          expect(through.length).toBeGreaterThan(1);
          expect([through[0]?.from, through.at(-1)?.to]).toEqual([relationship.from, relationship.to]);
          for (const [i, step] of through.slice(1).entries()) expect(step.from).toEqual(through[i]?.to);
        }
      }
    },
  );

  const chain = (count: number): Edge[] =>
    Array.from({ length: count }, (_, i) => ({
      from: { type: 'group', id: `g${i}` },
      name: 'member_of',
      to: { type: 'group', id: `g${i + 1}` },
    }));
  const transitive = [
    { makes: 'group:member_of:group', through: 'group:member_of:group', next: 'group:member_of:group' },
  ];

  test.each([13, 141])('groups within groups are walked to the end: %i of them', async (count) => {
    const tenant = `deep${count}`;
    const edges = chain(count);
    await store(database, tenant, edges);
    const ends = [
      { type: 'group', id: 'g0' },
      { type: 'group', id: `g${count}` },
    ] as const;
    const { graph, inherited = [] } = await source.read(evaluation(tenant, typesFor(edges, transitive), ...ends, true));
    const others = edges.map(({ to }) => to.id);
    expect(graph.subject.map(({ to }) => to.id)).toEqual(others);
    expect(graph.resource.map(({ from }) => from.id).reverse()).toEqual(edges.map(({ from }) => from.id));
    expect(inherited.map(({ through }) => through.length)).toEqual(
      [...Array(2)].flatMap(() => others.slice(1).map((_, i) => i + 2)),
    );
  });

  test('one more than makes factsDerivedMax pairs is told', async () => {
    const edges = chain(142);
    expect((142 * 141) / 2).toBeGreaterThan(limits.factsDerivedMax);
    await store(database, 'deep142', edges);
    const asked = evaluation(
      'deep142',
      typesFor(edges, transitive),
      { type: 'group', id: 'g0' },
      { type: 'doc', id: 'd' },
    );
    expect(await source.read(asked)).toMatchObject({ denial: tooLarge, graph: { subject: [], resource: [] } });
  });

  /** u is a member of g0, g0 is within g1, … and the last group is barred from d. */
  const barred = (groups: number): Edge[] => [
    { from: { type: 'user', id: 'u' }, name: 'member', to: { type: 'group', id: 'g0' } },
    ...Array.from({ length: groups - 1 }, (_, i) => ({
      from: { type: 'group', id: `g${i}` },
      name: 'within',
      to: { type: 'group', id: `g${i + 1}` },
    })),
    { from: { type: 'group', id: `g${groups - 1}` }, name: 'barred', to: { type: 'doc', id: 'd' } },
  ];
  const barring = [
    { makes: 'user:member:group', through: 'user:member:group', next: 'group:within:group' },
    { makes: 'user:barred:doc', through: 'user:member:group', next: 'group:barred:doc' },
  ];
  const pointed = (of: 'subject' | 'resource') => ({
    ...{ subject: of === 'subject', resource: of === 'resource', subjectAttributes: false, resourceAttributes: false },
    uses: {
      [of]: [
        of === 'subject'
          ? { name: 'barred', type: { literal: 'doc' }, id: { of: 'resource' as const, member: 'id' as const } }
          : { name: 'barred', type: { literal: 'user' }, id: { of: 'subject' as const, member: 'id' as const } },
      ],
    },
  });

  test('one relationship is found over as many as factsEdgesMax, from either end; one more is told', async () => {
    const subject = { type: 'user', id: 'u' };
    const resource = { type: 'doc', id: 'd' };
    const most = barred(limits.factsEdgesMax - 1);
    expect(most).toHaveLength(limits.factsEdgesMax);
    await store(database, 'chain', most);
    await store(database, 'longer', barred(limits.factsEdgesMax));
    await asAdmin(adminUrl, 'analyze accord.relationship'); // as an import does
    const types = typesFor(most.slice(0, 2).concat(most.slice(-1)), barring);
    for (const side of ['subject', 'resource'] as const) {
      const ask = (tenant: string) =>
        source.read({
          ...evaluation(tenant, types, subject, resource, true),
          needed: pointed(side),
          compared: { subject, resource },
        });
      const { graph, inherited = [], denial } = await ask('chain');
      expect(denial).toBeUndefined();
      expect(graph[side].map(({ relationshipType }) => relationshipType)).toEqual(['barred']);
      const [path] = inherited as [NonNullable<typeof inherited>[number]];
      expect(path.through.length + (path.leftOut ?? 0)).toBe(limits.factsEdgesMax);
      expect(await ask('longer')).toMatchObject({
        denial: { reason: 'graph_too_large', detail: expect.stringContaining('paths of user:barred:doc') },
        graph: { subject: [], resource: [] },
      });
    }
  });

  test('factsEntriesMax on a side are given, one more is told', async () => {
    const edges = Array.from({ length: limits.factsEntriesMax + 1 }, (_, i) => ({
      from: { type: 'user', id: 'u' },
      name: 'owns',
      to: { type: 'doc', id: `${i}` },
    }));
    const types = typesFor(edges, []);
    const ask = (tenant: string) =>
      source.read(evaluation(tenant, types, { type: 'user', id: 'u' }, { type: 'doc', id: '0' }));
    await store(database, 'full', edges.slice(1));
    expect((await ask('full')).graph.subject).toHaveLength(limits.factsEntriesMax);
    await store(database, 'past', edges);
    expect(await ask('past')).toMatchObject({ denial: tooLarge, graph: { subject: [], resource: [] } });
  });

  test('more than factsEdgesMax on the ways, or factsDerivedMax that follow, are told and not walked', async () => {
    const wide: Edge[] = [
      { from: { type: 'user', id: 'u' }, name: 'member_of', to: { type: 'group', id: 'g' } },
      ...Array.from({ length: limits.factsEdgesMax }, (_, i) => ({
        from: { type: 'group', id: 'g' },
        name: 'owns',
        to: { type: 'doc', id: `${i}` },
      })),
    ];
    const ways = [{ makes: 'user:reads:doc', through: 'user:member_of:group', next: 'group:owns:doc' }];
    await store(database, 'wide', wide);
    const at = { type: 'user', id: 'u' };
    expect(await source.read(evaluation('wide', typesFor(wide, ways), at, { type: 'doc', id: 'none' }))).toMatchObject({
      denial: tooLarge,
    });
    const everybody = Array.from({ length: 30 }, (_, i) => i).flatMap((i) =>
      Array.from({ length: 30 }, (_, j) => ({
        from: { type: 'group', id: `${i}` },
        name: 'member_of',
        to: { type: 'group', id: `${j}` },
      })),
    );
    await store(database, 'dense', everybody);
    const dense = await source.read(
      evaluation('dense', typesFor(everybody, transitive), { type: 'group', id: '0' }, { type: 'doc', id: '0' }),
    );
    expect(everybody.length * 30).toBeGreaterThan(limits.factsDerivedMax);
    expect(dense).toMatchObject({ denial: tooLarge });
  });

  test('questions asked together are each answered as if alone, more than one query holds (factsQuestionsMax, factsQueriesPerTenantMax)', async () => {
    const count = limits.factsQuestionsMax * (limits.factsQueriesPerTenantMax + 1) + 1;
    const edges = Array.from({ length: count }, (_, i) => ({
      from: { type: 'user', id: `${i}` },
      name: 'owns',
      to: { type: 'doc', id: `d${i}` },
    }));
    await store(database, 'many', edges);
    const types = typesFor(edges, []);
    const answers = await Promise.all(edges.map(({ from, to }) => source.read(evaluation('many', types, from, to))));
    expect(answers.map(({ graph }) => graph.subject[0]?.to.id)).toEqual(edges.map(({ to }) => to.id));
    expect(answers.map(({ graph }) => graph.resource[0]?.from.id)).toEqual(edges.map(({ from }) => from.id));
  });

  test('fewer are asked together where each brings much (factsRowsTogetherMax)', async () => {
    const per = limits.factsRowsTogetherMax / 4;
    const edges = Array.from({ length: per + 1 }, (_, i) => ({
      from: { type: 'user', id: i < per ? 'fitting' : 'more' },
      name: 'owns',
      to: { type: 'doc', id: `d${i}` },
    }));
    const more = edges.slice(0, per).map((edge) => ({ ...edge, from: { type: 'user', id: 'more' } }));
    await store(database, 'much', [...edges, ...more]);
    const types = typesFor(edges, []);
    for (const [id, queries] of [
      ['fitting', 2], // four together
      ['more', 3], // three
    ] as const) {
      let reads = 0;
      const counting = new GraphReader({
        read: (tenant, work) => {
          reads++;
          return database.read(tenant, work);
        },
      });
      const ask = () =>
        counting.read({
          ...evaluation('much', types, { type: 'user', id }, { type: 'doc', id: 'none' }),
          needed: { ...needed, resource: false },
        });
      await ask();
      reads = 0;
      const answers = await Promise.all(Array.from({ length: 8 }, ask));
      expect(answers.map(({ graph }) => graph.subject.length)).toEqual(Array(8).fill(per + (id === 'more' ? 1 : 0)));
      expect(reads).toBe(queries);
    }
  });

  test('ids may have whatever SQL and arrays are written with', async () => {
    const ids = ['"', '\\', '\\"', '","', '{}', '{a,b}', 'NULL', "'; --", ' ', '$1', 'ä\u{1f511}'];
    const edges = ids.map((id, i) => ({
      from: { type: 'user', id },
      name: 'owns',
      to: { type: 'doc', id: ids.at(i - 1) as string },
    }));
    await store(database, 'odd', edges);
    const types = typesFor(edges, []);
    const answers = await Promise.all(edges.map(({ from, to }) => source.read(evaluation('odd', types, from, to))));
    expect(answers.map(({ graph }) => graph.subject.map(({ to }) => to.id))).toEqual(edges.map(({ to }) => [to.id]));
    expect(answers.map(({ graph }) => graph.resource.map(({ from }) => from.id))).toEqual(
      edges.map((one) => [one.from.id]),
    );
  });

  test('nothing is read for a tenant without types, or for entities without a name', () => {
    const none = typesOf([], []);
    expect(source.read(evaluation('x', none, { type: 'user', id: 'a' }, { type: 'doc', id: 'b' }))).not.toBeInstanceOf(
      Promise,
    );
    const some = typesFor(chain(1), []);
    expect(
      source.read({
        ...evaluation('x', some, { type: 'a', id: 'b' }, { type: 'a', id: 'b' }),
        subject: {},
        resource: {},
      }),
    ).not.toBeInstanceOf(Promise);
  });
});
