/** Search against checking everything there is, one by one: random graphs with inheritance and expiry, random policies. */
import { afterAll, describe, expect, test } from 'vitest';
import { authorize } from '../../server/authz/index.ts';
import { HolderReader } from '../../server/consents/holders.ts';
import { sql } from '../../server/core/db/sql.ts';
import { FairScheduler } from '../../server/core/fair-scheduler.ts';
import { limits } from '../../server/core/limits.ts';
import { FactGatherer } from '../../server/facts/index.ts';
import { Engine } from '../../server/policies/index.ts';
import { createCompiler, hostBuiltinNames, type Reads } from '../../server/rego/index.ts';
import { GraphReader } from '../../server/relationships/index.ts';
import { rootsOf } from '../../server/search/candidates.ts';
import { searchEntities } from '../../server/search/index.ts';
import type { TenantSnapshot } from '../../server/snapshot/index.ts';
import { distinct, NOW, nodeTypes, random, randomGraph, store, typesFor } from '../facts/graphs.ts';
import { randomNarrowPolicy, randomPolicy } from '../facts/policies.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { drawn } from '../helpers/long.ts';

const { database } = await createTestDatabase();
const compiler = createCompiler();
const clock = { now: () => NOW, monotonic: () => performance.now() };
const observe = () => undefined;
const scheduler = new FairScheduler(clock);
const engine = new Engine({ fetch: async () => undefined, clock, observe, scheduler });
afterAll(async () => {
  await compiler.close();
  await engine.close();
});
const graph = new GraphReader(database);
const holders = new HolderReader(database);
const facts = new FactGatherer({
  records: (evaluation) => graph.read(evaluation),
  consents: async () => [],
  dataSubjects: (about, now) => holders.read(about, now),
  invitation: async () => undefined,
});
const services = {
  ...{ engine, scheduler, clock, observe, database, facts },
  log: undefined as never, // the tenant's decision log is off
  chargeRate: () => true,
};
const caller = { kind: 'backend', tenant: 't', clientId: 'c', scopes: new Set(['authz:evaluate']) } as never;

/** Whom the data is about decides: some of them are. */
const allAreEven = 'outcome := "allow" if every person in input.dataSubjects { person.id in {"0", "2", "r1"} }';

async function world(seed: number) {
  const below = random(seed + 9000);
  const ofPersons = seed % 4 === 1;
  const plain = seed % 3 === 0 || ofPersons ? randomNarrowPolicy(below) : randomPolicy(below);
  const rego = ofPersons ? `${plain}\n${allAreEven}` : plain;
  const compiled = await compiler.compile('t', rego, { builtins: hostBuiltinNames });
  if (!compiled.ok) throw new Error(rego);
  const graph = randomGraph(seed + 600);
  const edges = distinct(graph.edges);
  const tenant = `search${seed}`;
  await store(database, tenant, edges);
  const registered = nodeTypes.filter(() => below(2)).map((type) => ({ type, id: `r${below(3)}` }));
  for (const { type, id } of registered) {
    await database.tenant(tenant, (tx) =>
      tx.run(sql`insert into accord.entity (tenant, type, id, attributes) values (${tenant}, ${type}, ${id}, '{}')`),
    );
  }
  engine.preload(tenant, 'artifact', compiled);
  const types = typesFor(edges, graph.ways);
  const relationship = [...types.relationships][below(types.relationships.size)] as string;
  const stated = [{ relationship }, { path: 'subject.id' }, { relationship, path: 'resource.id' }][below(3)];
  const dataSubjects = ofPersons && stated ? { dataSubjects: stated } : {};
  const policy = { name: 'p', number: 1, artifact: 'artifact', revision: 1, reads: compiled.reads, ...dataSubjects };
  const snapshot = {
    tenant,
    types,
    definitions: new Map(),
    policies: new Map([['p', policy]]),
    spec: { tokenMapping: { defaultActorType: 'user' } },
  };
  const held = edges.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > NOW);
  const entities = [...registered, ...held.flatMap(({ from, to }) => [from, to])];
  const idsOf = (type: string) => [...new Set(entities.filter((one) => one.type === type).map(({ id }) => id))].sort();
  return {
    asked: { snapshot: snapshot as unknown as TenantSnapshot, caller, requestId: 'r' },
    idsOf,
    rego,
    policy,
    types,
  };
}

async function everyPage(
  limit: number,
  page: (at: { after: string; limit: number }) => ReturnType<typeof searchEntities>,
) {
  const found: string[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const { found: some, next }: Awaited<ReturnType<typeof searchEntities>> = await page({ after, limit });
    expect(some.length).toBeLessThanOrEqual(limit);
    found.push(...some);
    after = next;
  }
  return found;
}

let narrowed = 0;

describe('search finds what check allows', () => {
  test.each(Array.from({ length: drawn(16, 60) }, (_, seed) => seed))('world %i', async (seed) => {
    const { asked, idsOf, rego, policy, types } = await world(seed);
    for (const type of nodeTypes) {
      for (const other of nodeTypes.flatMap((one) => ['0', '2', 'r1'].map((id) => ({ type: one, id })))) {
        for (const vary of ['subject', 'resource'] as const) {
          const known = vary === 'subject' ? 'resource' : 'subject';
          const request = { action: 'p', [known]: other, [vary]: { type } };
          if (rootsOf(policy, types, { vary, type, known: other }) !== undefined) narrowed++;
          const expected: string[] = [];
          for (const id of idsOf(type)) {
            const { answer } = await authorize(services, asked, { ...request, [vary]: { type, id } });
            if (answer.outcome === 'allow') expected.push(id);
          }
          const found = await everyPage(2, (at) => searchEntities(services, asked, { vary, type, request }, at));
          expect(found, `${rego}\n${vary} ${type} ${JSON.stringify(other)}`).toEqual(expected);
        }
      }
    }
  });

  test('a page ends when searchPageMsMax have passed, with a token and at least some candidates checked', async () => {
    const { asked, idsOf } = await world(1002);
    const policy = asked.snapshot.policies.get('p');
    const reads: Reads = { all: true }; // so that all entities are candidates
    const snapshot = { ...asked.snapshot, policies: new Map([['p', { ...policy, reads }]]) } as TenantSnapshot;
    const edges = Array.from({ length: 40 }, (_, i) => ({
      from: { type: 'user', id: `u${100 + i}` },
      name: 'reads',
      to: { type: 'doc', id: '0' },
    }));
    await store(database, snapshot.tenant, edges);
    let at = 0;
    const slow = { ...clock, monotonic: () => (at += limits.searchPageMsMax + 1) };
    const quick = { ...clock, monotonic: () => 0 };
    const search = {
      vary: 'subject',
      type: 'user',
      request: { action: 'p', resource: { type: 'doc', id: '0' } },
    } as const;
    const page = { after: '', limit: 32 };
    const counted = async (by: typeof clock) =>
      (await searchEntities({ ...services, clock: by }, { ...asked, snapshot }, search, page)).candidates;
    expect(await counted(slow)).toBe(32);
    expect(await counted(quick)).toBeGreaterThan(32);
    expect(idsOf('user').length).toBeLessThan(32);
  });

  test('among them were searches whose candidates are what relationships lead to', () => {
    expect(narrowed).toBeGreaterThan(drawn(25, 100));
  });
});
