/**
 * Narrowed facts against whole ones, on random graphs with cycles, inheritance and expiry: the entries that a policy's uses
 * can see are the same, and so are the decisions of random policies.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { FactGatherer, type Facts, inputFor, needsOf, type RecordsQuery } from '../../server/facts/index.ts';
import { createCompiler, Evaluator, hostBuiltinNames, PolicyError, type Reads } from '../../server/rego/index.ts';
import type { GraphUse } from '../../server/rego/schema.ts';
import { GraphReader } from '../../server/relationships/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { drawn } from '../helpers/long.ts';
import {
  distinct,
  type Edge,
  NOW,
  type Node,
  names,
  nodeTypes,
  random,
  randomGraph,
  store,
  typesFor,
} from './graphs.ts';
import { randomPolicy } from './policies.ts';

const { database, adminUrl } = await createTestDatabase();
const source = new GraphReader(database);
const compiler = createCompiler();
afterAll(() => compiler.close());

const nothing = async () => {
  throw new Error('not asked for');
};
const gatherer = new FactGatherer({
  records: (asked) => source.read(asked),
  consents: nothing,
  dataSubjects: nothing,
  invitation: nothing,
});
const tooLarge = { reason: 'graph_too_large', detail: expect.stringMatching('^the subject ') };
const all = { subject: true, resource: true, subjectAttributes: false, resourceAttributes: false };
type CheckAccess = Pick<RecordsQuery, 'tenant' | 'types' | 'subject' | 'resource'>;
const gather = (ask: CheckAccess, needed: RecordsQuery['needed']): Promise<Facts> | Facts =>
  source.read({ ...ask, compared: { subject: ask.subject, resource: ask.resource }, needed, now: NOW });

function randomUses(below: (n: number) => number): GraphUse[] {
  const pick = <T>(list: readonly T[]) => list[below(list.length)] as T;
  return Array.from({ length: 1 + below(3) }, () => {
    const of = pick(['subject', 'resource'] as const);
    return {
      ...(below(2) ? { name: pick(names) } : {}),
      ...(below(3) ? { type: below(2) ? { literal: pick(nodeTypes) } : { of, member: 'type' as const } } : {}),
      ...(below(4) ? { id: below(3) ? { of, member: 'id' as const } : { literal: `${below(4)}` } } : {}),
    };
  });
}

const sees = (uses: readonly GraphUse[], ask: CheckAccess, name: string, far: Node) =>
  uses.some((use) => {
    const value = (term: NonNullable<GraphUse['id']>) => ('literal' in term ? term.literal : ask[term.of][term.member]);
    return (
      (use.name ?? name) === name &&
      (use.type === undefined || value(use.type) === far.type) &&
      (use.id === undefined || value(use.id) === far.id)
    );
  });

describe('entries', () => {
  test.each(Array.from({ length: drawn(40, 120) }, (_, seed) => seed))(
    'graph %i: what random uses see is what they see of all',
    async (seed) => {
      const graph = randomGraph(seed);
      const edges = distinct(graph.edges);
      const tenant = `narrow${seed}`;
      await store(database, tenant, edges);
      const types = typesFor(edges, graph.ways);
      const below = random(seed + 1000);
      const node = (): Node => ({ type: nodeTypes[below(3)] as string, id: `${below(4)}` });
      const asks = Array.from({ length: 40 }, () => ({
        ask: { tenant, types, subject: node(), resource: node() },
        uses: { subject: randomUses(below), resource: randomUses(below) },
      }));
      const whole = await Promise.all(asks.map(({ ask }) => gather(ask, all)));
      const narrow = await Promise.all(asks.map(({ ask, uses }) => gather(ask, { ...all, uses })));
      for (const [i, { ask, uses }] of asks.entries()) {
        const seen = (facts: Facts) => ({
          subject: facts.graph.subject
            .filter((one) => sees(uses.subject, ask, one.type, one.to))
            .map((one) => JSON.stringify(one))
            .sort(),
          resource: facts.graph.resource
            .filter((one) => sees(uses.resource, ask, one.type, one.from))
            .map((one) => JSON.stringify(one))
            .sort(),
        });
        expect(seen(narrow[i] as Facts), JSON.stringify({ ask: { ...ask, types: 0 }, uses })).toEqual(
          seen(whole[i] as Facts),
        );
      }
    },
  );
});

describe('decisions', () => {
  test.each(Array.from({ length: drawn(16, 40) }, (_, seed) => seed))(
    'policy %i: with narrowing as without it',
    async (seed) => {
      const below = random(seed + 5000);
      const rego = randomPolicy(below);
      const compiled = await compiler.compile('t', rego, { builtins: hostBuiltinNames });
      if (!compiled.ok) throw new Error(`${rego}\n${JSON.stringify(compiled.errors)}`);
      const { reads } = compiled;
      const { narrowing: _, ...without } = reads as Extract<Reads, { all: false }>;
      const evaluator = new Evaluator(compiled);
      const graph = randomGraph(seed + 300);
      const edges = distinct(graph.edges);
      const tenant = `decide${seed}`;
      await store(database, tenant, edges);
      const types = typesFor(edges, graph.ways);
      const snapshot = { tenant, types, definitions: new Map(), spec: { tokenMapping: { defaultActorType: 'user' } } };
      const nodes: Node[] = nodeTypes.flatMap((type) => [0, 1, 2, 3].map((id) => ({ type, id: `${id}` })));
      const asks = nodes.flatMap((subject) => nodes.map((resource) => ({ tenant, types, subject, resource })));
      const answers = await Promise.all(
        asks.map(async (ask) => {
          const decided = async (by: Reads) => {
            const request = { subject: ask.subject, action: 'a', resource: ask.resource };
            const asked = { tenant, request, now: NOW };
            const facts = await gatherer.gather(snapshot, asked, needsOf({ reads: by }));
            const input = inputFor(needsOf({ reads: by }), asked, facts);
            try {
              return evaluator.evaluate(input, { now: 0n }).result;
            } catch (error) {
              if (error instanceof PolicyError) return error.kind; // rules in conflict: the same conflict in both
              throw error;
            }
          };
          return [await decided(reads), await decided(without)];
        }),
      );
      for (const [narrowed, whole] of answers) expect(narrowed, rego).toEqual(whole);
    },
  );
});

describe('bounds', () => {
  const user = { type: 'user', id: 'u' };
  /** Autovacuum says only a minute later what a table holds, and until then the planner may scan it for each step of a walk. */
  const storeMany = async (tenant: string, edges: readonly Edge[]) => {
    await store(database, tenant, edges);
    await asAdmin(adminUrl, 'analyze accord.relationship');
  };
  const wide = (count: number, name: string, type: string): Edge[] =>
    Array.from({ length: count }, (_, i) => ({ from: user, name, to: { type, id: `${i}` } }));
  const toResource = {
    subject: [{ name: 'reads', id: { of: 'resource', member: 'id' }, type: { literal: 'doc' } }],
  } as const;
  const one = { ...all, resource: false };

  test('a subject of 20,000 relationships is asked for the one that matters', async () => {
    const edges = wide(20_000, 'reads', 'doc');
    await storeMany('wide', edges);
    const ask = {
      tenant: 'wide',
      types: typesFor(edges.slice(0, 1), []),
      subject: user,
      resource: { type: 'doc', id: '777' },
    };
    expect((await gather(ask, one)).denial).toMatchObject(tooLarge);
    expect((await gather(ask, { ...one, uses: toResource })).graph.subject).toHaveLength(1);
  });

  test('a walk that meets more than factsEdgesMax begins again at the other end, and is told when that is no better', async () => {
    const ways = [{ makes: 'user:reads:doc', through: 'user:member_of:group', next: 'group:owns:doc' }];
    const many = limits.factsEdgesMax + 1;
    const owns = (group: number, doc: string): Edge => ({
      from: { type: 'group', id: `${group}` },
      name: 'owns',
      to: { type: 'doc', id: doc },
    });
    const edges = [
      ...wide(many, 'member_of', 'group'),
      owns(many - 1, 'a'),
      ...Array.from({ length: many }, (_, i) => owns(i, 'everybody’s')),
    ];
    await storeMany('flipped', edges);
    const types = typesFor([edges[0] as Edge, owns(0, 'a')], ways);
    const ask = (id: string) =>
      gather({ tenant: 'flipped', types, subject: user, resource: { type: 'doc', id } }, { ...one, uses: toResource });
    expect((await ask('a')).graph.subject).toEqual([
      { type: 'reads', relationshipType: 'reads', to: { type: 'doc', id: 'a' } },
    ]);
    expect((await ask('none')).graph.subject).toEqual([]);
    expect((await ask('everybody’s')).denial).toMatchObject(tooLarge);
  });

  test.each(['subject', 'resource'] as const)(
    'attributes of the far end come with it, wherever the walk began: %s',
    async (part) => {
      const ways = [{ makes: 'user:reads:doc', through: 'user:member_of:group', next: 'group:owns:doc' }];
      const many = limits.factsEdgesMax + 1;
      const group = (i: number): Node => ({ type: 'group', id: `${i}` });
      const doc = { type: 'doc', id: 'locked' };
      const edges =
        part === 'subject'
          ? [...wide(many, 'member_of', 'group'), { from: group(0), name: 'owns', to: doc }]
          : [
              { from: user, name: 'member_of', to: group(0) },
              ...Array.from({ length: many }, (_, i) => ({ from: group(i), name: 'owns', to: doc })),
            ];
      const tenant = `turned-${part}`;
      await storeMany(tenant, edges);
      await database.tenant(tenant, async (tx) => {
        for (const { type, id } of [user, doc, group(0)])
          await tx.run(
            sql`insert into accord.entity (tenant, type, id, attributes) values (${tenant}, ${type}, ${id}, ${JSON.stringify({ locked: type })}::jsonb)`,
          );
      });
      const known = typesFor([edges[0] as Edge, edges.at(-1) as Edge], ways);
      const attributes = new Map(['user', 'group', 'doc'].map((type) => [type, new Map([['locked', 'string']])]));
      const types = { ...known, attributes, anyAttributes: true } as unknown as typeof known;
      const uses = {
        subject: [{ name: 'reads', type: { literal: 'doc' }, id: { of: 'resource', member: 'id' } }],
        resource: [{ name: 'reads', type: { literal: 'user' }, id: { of: 'subject', member: 'id' } }],
      } as const;
      const needs = {
        ...one,
        subject: part === 'subject',
        resource: part === 'resource',
        uses: { [part]: uses[part] },
      };
      const { graph, denial } = await gather({ tenant, types, subject: user, resource: doc }, needs);
      expect(denial).toBeUndefined();
      const far = part === 'subject' ? { to: { ...doc, locked: 'doc' } } : { from: { ...user, locked: 'user' } };
      expect(graph[part]).toEqual([expect.objectContaining({ relationshipType: 'reads', ...far })]);
    },
  );

  test('walks that together meet more than factsEdgesMax are each answered as if alone', async () => {
    const ways = [
      { makes: 'user:reads:doc', through: 'user:member_of:group', next: 'group:reads:doc' },
      { makes: 'group:reads:doc', through: 'group:part_of:group', next: 'group:reads:doc' },
    ];
    const edge = (from: Node, name: string, to: Node): Edge => ({ from, name, to });
    const at = (type: string, id: string): Node => ({ type, id });
    const member = (id: string, count: number) =>
      Array.from({ length: count }, (_, i) => edge(at('user', id), 'member_of', at('group', `${id}${i}`)));
    // Two that are too much only together, and one that is too much from the subject's end.
    const half = limits.factsEdgesMax / 2;
    const edges = [
      ...member('a', half),
      ...member('b', half),
      ...member('many', limits.factsEdgesMax + 1),
      ...member('few', 1),
      edge(at('group', 'a0'), 'part_of', at('group', 'top')),
      edge(at('group', 'many7'), 'part_of', at('group', 'top')),
      edge(at('group', 'few0'), 'part_of', at('group', 'top')),
      edge(at('group', 'top'), 'reads', at('doc', 'd')),
      edge(at('group', 'b1'), 'reads', at('doc', 'd')),
      edge(at('user', 'direct'), 'reads', at('doc', 'd')),
      ...Array.from({ length: limits.factsEdgesMax + 1 }, (_, i) =>
        edge(at('group', `many${i}`), 'reads', at('doc', 'everybody’s')),
      ),
    ];
    await storeMany('together', edges);
    const types = typesFor(edges.slice(-limits.factsEdgesMax - 8), ways);
    const asks = ['a', 'b', 'many', 'few', 'direct', 'nobody'].flatMap((id) =>
      ['d', 'everybody’s', 'none'].map((doc) => ({ id, doc })),
    );
    const answers = await Promise.all(
      asks.map(({ id, doc }) =>
        gather(
          { tenant: 'together', types, subject: at('user', id), resource: at('doc', doc) },
          { ...one, uses: toResource },
        ),
      ),
    );
    const told = asks.map(({ id, doc }, i) => {
      const { graph, denial } = answers[i] as Facts;
      return denial ? `${id} ${doc}: too large` : `${id} ${doc}: ${graph.subject.length}`;
    });
    expect(told.filter((line) => !line.endsWith(': 0'))).toEqual([
      'a d: 1',
      'b d: 1',
      'many d: 1',
      'many everybody’s: too large',
      'few d: 1',
      'direct d: 1',
    ]);
  });

  test('factsPointersMax relationships are asked for one by one, with one more all are', async () => {
    const edges = wide(1, 'reads', 'doc');
    await store(database, 'pointers', [...edges, ...wide(1, 'likes', 'doc')]);
    const types = typesFor([...edges, ...wide(1, 'likes', 'doc')], []);
    const ask = { tenant: 'pointers', types, subject: user, resource: { type: 'doc', id: 'x' } };
    const uses = (count: number) => ({
      subject: Array.from({ length: count }, (_, i) => ({
        name: 'reads',
        type: { literal: 'doc' },
        id: { literal: `${i}` },
      })),
    });
    expect((await gather(ask, { ...one, uses: uses(limits.factsPointersMax) })).graph.subject).toHaveLength(1);
    expect((await gather(ask, { ...one, uses: uses(limits.factsPointersMax + 1) })).graph.subject).toHaveLength(2);
  });
});
