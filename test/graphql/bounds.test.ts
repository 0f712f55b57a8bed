/** What a GraphQL document may ask for, at each bound and one past it, and what ends while it runs. */
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { graphqlClient } from './client.ts';

const server = await createTestServer();
const tenant = await server.tenant();
const { ask } = await graphqlClient(server, tenant, 'security-admin');
const codeOf = async (query: string, variables?: Record<string, unknown>) => {
  const { status, body } = await ask(query, variables);
  return status === 200 ? 200 : body.code;
};
const policies = (first: number | string, inside = 'name') => `allPolicies(first: ${first}) { nodes { ${inside} } }`;
const times = (count: number, one: (n: number) => string) => Array.from({ length: count }, (_, n) => one(n)).join(' ');
const expensive = 'graphql_too_expensive';

describe('a document is judged before it runs', () => {
  test('a list states how long it is, up to pageItemsMax', async () => {
    expect(await codeOf(`{ ${policies(limits.pageItemsMax)} }`)).toBe(200);
    for (const first of [limits.pageItemsMax + 1, 0, -1, 'null'])
      expect(await codeOf(`{ ${policies(first)} }`)).toBe(expensive);
    expect(await codeOf('{ allPolicies { nodes { name } } }')).toBe(expensive);
    const byVariable = `query ($n: Int = 300) { ${policies('$n')} }`;
    expect([await codeOf(byVariable), await codeOf(byVariable, { n: 3 })]).toEqual([expensive, 200]);
    expect(await codeOf(byVariable, { n: 1e6 })).toBe(expensive);
  });

  test('rows of lists within lists multiply, up to graphqlRowsMax', async () => {
    const nested = (outer: number, inner: number) =>
      `{ ${policies(outer, `revisions(first: ${inner}) { nodes { revision } }`)} }`;
    const outer = 100;
    const inner = limits.graphqlRowsMax / outer - 1;
    expect([await codeOf(nested(outer, inner)), await codeOf(nested(outer, inner + 1))]).toEqual([200, expensive]);
    const { body } = await ask(nested(outer, inner + 1));
    expect(body.errors).toEqual([
      { pointer: '/query', detail: expect.stringContaining('2100 rows'), line: 1, column: expect.any(Number) },
    ]);
  });

  test('aliases are lists of their own, up to graphqlConnectionsMax', async () => {
    const bomb = (count: number) => `{ ${times(count, (n) => `a${n}: ${policies(1)}`)} }`;
    const { graphqlConnectionsMax } = limits;
    expect([await codeOf(bomb(graphqlConnectionsMax)), await codeOf(bomb(graphqlConnectionsMax + 1))]).toEqual([
      200,
      expensive,
    ]);
    const single = `{ ${times(graphqlConnectionsMax + 1, (n) => `a${n}: policy(id: "x") { name }`)} }`;
    expect(await codeOf(single)).toBe(expensive);
  });

  test('values, up to graphqlValuesMax; long ones count as graphqlLongValueItems', async () => {
    // 2,000 rows of 20 values each: those of the outer list count, too.
    const wide = (count: number) => {
      const inside = times(count, (n) => `a${n}: revision`);
      return `{ ${policies(100, `name revisions(first: 19) { nodes { ${inside} } }`)} }`;
    };
    const count = (limits.graphqlValuesMax - 100) / 1900;
    expect([await codeOf(wide(count)), await codeOf(wide(count + 1))]).toEqual([200, expensive]);
    const long = limits.graphqlValuesMax / limits.graphqlLongValueItems;
    expect(await codeOf(`{ ${policies(long, 'effectiveRego')} }`)).toBe(200);
    expect(await codeOf(`{ ${policies(long, 'effectiveRego name')} }`)).toBe(expensive);
    expect(await codeOf(`{ ${policies(long, 'effectiveRego graph')} }`)).toBe(expensive);
  });

  test('levels, up to graphqlDepthMax', async () => {
    const deep = (levels: number) => {
      let inside = 'name';
      for (let level = levels - 3; level >= 3; level -= 3)
        inside = `revisions(first: 1) { nodes { policyNow { ${inside} } } }`;
      return `{ ${policies(1, inside)} }`;
    };
    expect([await codeOf(deep(limits.graphqlDepthMax - 1)), await codeOf(deep(limits.graphqlDepthMax + 2))]).toEqual([
      200,
      expensive,
    ]);
  });

  test('tokens, up to graphqlTokensMax', async () => {
    const long = (names: number) =>
      `{ allPolicies(first: 1, filter: { name: { in: [${'"a" '.repeat(names)}] } }) { nodes { name } } }`;
    const around = long(0).match(/\w+|[^\s\w,]/g)?.length as number;
    const names = limits.graphqlTokensMax - around;
    expect([await codeOf(long(names)), await codeOf(long(names + 1))]).toEqual([200, 'graphql_invalid']);
  });

  test('fields, up to graphqlSelectionsMax, also where they ask for one row', async () => {
    const wide = (fields: number) =>
      `{ ${policies(
        1,
        times(fields - 2, (n) => `a${n}: name`),
      )} }`;
    const { graphqlSelectionsMax } = limits;
    expect([await codeOf(wide(graphqlSelectionsMax)), await codeOf(wide(graphqlSelectionsMax + 1))]).toEqual([
      200,
      expensive,
    ]);
    // Before validation, which compares fields of one name pair by pair.
    expect(await codeOf(`{ ${'nothing '.repeat(graphqlSelectionsMax + 1)}}`)).toBe(expensive);
  });

  test('a document that is new counts as graphqlNewDocumentItems, also when it is refused', async () => {
    const one = limits.graphqlNewDocumentItems / 10; // it is paid for after ten seconds
    const known = `{ kept: ${policies(1)} }`;
    const statusesOf = async (...sent: object[]) => {
      const limited = await server.tenant({ limits: { maxRequestsPerSecond: one } });
      const { send } = await graphqlClient(server, limited, 'security-admin');
      const statuses = [];
      for (const body of sent) statuses.push((await send(body)).status);
      return statuses;
    };
    expect(await codeOf(known)).toBe(200);
    expect(await statusesOf({ query: known }, { query: known }, { document: 'policies' }, { query: known })).toEqual(
      Array(4).fill(200),
    );
    expect(await statusesOf({ query: `{ unseen: ${policies(1)} }` }, { query: known })).toEqual([200, 429]);
    expect(await statusesOf({ query: '{ unseen' }, { query: known })).toEqual([400, 429]);
  });

  test('it is one query without fragments, introspection, offsets or other orders', async () => {
    for (const query of [
      'mutation { x }',
      'subscription { x }',
      'query A { __typename } query B { __typename }',
      'fragment F on Query { ...F } { ...F }',
      '{ ...F } fragment F on Query { __typename }',
      '{ __schema { types { name } } }',
      '{ __type(name: "Query") { name } }',
      '{ allPolicies(first: 1, offset: 9) { nodes { name } } }',
      '{ allPolicies(last: 1) { nodes { name } } }',
      '{ allPolicies(first: 1) { totalCount } }',
      '{ allPolicies(first: 1, orderBy: NATURAL) { nodes { name } } }',
      '{ allPolicies(first: 1) @defer { nodes { name } } }',
      '{ allInvitations(first: 1) { nodes { contactEncrypted } } }',
      '{ allPolicies(first: 1',
      '',
    ])
      expect(['graphql_invalid', 'invalid_request'], query).toContain(await codeOf(query));
    expect(await codeOf('{ ... on Query { __typename } }')).toBe(expensive);
    for (const order of ['[]', 'null', '[PRIMARY_KEY_ASC, PRIMARY_KEY_DESC]'])
      expect(await codeOf(`{ allPolicies(first: 1, orderBy: ${order}) { nodes { name } } }`), order).toBe(expensive);
  });

  test('a cursor of nothing, of another order, or a value of another type is refused', async () => {
    const cursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
    for (const after of ['zzzz', cursor(['x', 'a']), cursor(['natural', 900_000]), cursor(null), ''])
      expect(await codeOf(`{ allPolicies(first: 1, after: "${after}") { nodes { name } } }`), after).toBe(
        'graphql_invalid',
      );
    expect(await codeOf('{ allDecisions(first: 1, filter: { at: { lessThan: "soon" } }) { nodes { at } } }')).toBe(
      'graphql_invalid',
    );
    expect(await codeOf('query ($n: Int!) { allPolicies(first: $n) { nodes { name } } }', { n: 'x' })).toMatch(
      /^graphql_(invalid|too_expensive)$/,
    );
  });
});

describe('a filter of null or {} is refused', () => {
  test.each([null, {}, { name: null }, { name: {} }, { name: { equalTo: null } }, { name: { in: [null] } }])(
    '%j',
    async (filter) => {
      const literal = JSON.stringify(filter).replaceAll('"', '');
      const byLiteral = await ask(`{ allPolicies(first: 1, filter: ${literal}) { nodes { name } } }`);
      expect([byLiteral.status, byLiteral.body.code]).toEqual([400, 'graphql_invalid']);
      const byVariable = 'query ($f: PolicyFilter) { allPolicies(first: 1, filter: $f) { nodes { name } } }';
      const { body } = await ask(byVariable, { f: filter });
      expect(body).toMatchObject({
        code: 'graphql_invalid',
        detail: expect.stringContaining(': a filter, '),
      });
    },
  );
});

describe('what runs too long', () => {
  const lists = '{ allRelationships(first: 1) { nodes { toId } } }';
  async function locked(work: (admin: pg.Client) => Promise<void>) {
    const admin = new pg.Client({ connectionString: server.db.adminUrl });
    await admin.connect();
    await admin.query('begin; lock table accord.relationship in access exclusive mode');
    try {
      await work(admin);
    } finally {
      await admin.end();
    }
    // Those that waited may fill the queue for a moment more.
    const code = await until('an answer', async () => {
      const answered = await codeOf(lists);
      return answered !== 'graphql_busy' && answered;
    });
    expect(code).toBe(200);
  }

  test('is ended after graphqlStatementMs, and the connection goes on', async () => {
    await locked(async () => {
      const began = performance.now();
      expect(await codeOf(lists)).toBe('graphql_too_slow');
      expect(performance.now() - began).toBeGreaterThan(limits.graphqlStatementMs - 100);
    });
  });

  test('so is what an administrator of the database cancels', async () => {
    await locked(async (admin) => {
      const asked = codeOf(lists);
      await until('a statement to cancel', async () => {
        // A transaction, which this is, sees the same activity until it asks anew.
        await admin.query('select pg_stat_clear_snapshot()');
        const { rowCount } = await admin.query(
          `select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database()
            and application_name like '%graphql' and wait_event_type = 'Lock'`,
        );
        return rowCount;
      });
      expect(await asked).toBe('graphql_too_slow');
    });
  });

  test('a tenant has half of graphqlPoolMax connections, and graphqlWaitingMax requests wait for them', async () => {
    const inside = limits.graphqlPoolMax / 2;
    const { turns } = server.services.graphql;
    // The test has the turns of those that would be at work, for as long as it takes: statements have graphqlStatementMs.
    const free = Promise.withResolvers<void>();
    const inTurn = Array.from({ length: inside }, () => turns.run(tenant, () => free.promise));
    const asked = Array.from({ length: limits.graphqlWaitingMax }, () => codeOf(lists));
    await until('all to wait', () => turns.waiting(tenant) >= limits.graphqlWaitingMax);
    expect(await codeOf(lists)).toBe('graphql_busy');
    free.resolve();
    await Promise.all(inTurn);
    expect(new Set(await Promise.all(asked))).toEqual(new Set([200]));
  });
});
