/** POST /tenants/{tenant}/graphql: what each role reads, and that nobody reads another tenant's rows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { documents } from '../../server/graphql/documents.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { configClient, type Role, says } from '../policies/config-client.ts';
import { graphqlClient } from './client.ts';

const server = await createTestServer();
const [mine, other] = [await server.tenant(), await server.tenant()];
const roles: Role[] = ['security-admin', 'config-editor', 'config-viewer', 'support'];
const clients = Object.fromEntries(
  await Promise.all(roles.map(async (role) => [role, await graphqlClient(server, mine, role)])),
) as Record<Role, Awaited<ReturnType<typeof graphqlClient>>>;
const { ask } = clients['security-admin'];
const stranger = await graphqlClient(server, other, 'security-admin');

const lists = {
  allPolicies: 'name updatedBy effectiveRego',
  allPolicyRevisions: 'policy revision policyNow { name }',
  allConfigChanges: 'revision kind name',
  allThings: 'type rowId attributes relationshipsFrom(first: 5) { nodes { toId } }',
  allRelationships: 'fromId toId fromThing { rowId }',
  allInvitations: 'rowId status contactMask',
  allConsents: 'userId definition',
  allLedgerEntries: 'userId hash',
  allEvents: 'sequence type',
  allDecisions: 'caller outcome reason subjectId resourceId',
  allAuditEntries: 'actor kind name',
  allMembers: 'email role',
  allSubscriptions: 'name endpoint state { failures }',
  allSubscriptionStates: 'subscription failures',
  allDeliveryAttempts: 'subscription sequence status answer',
  allMailMessages: 'rowId recipientMask status',
  allMailSuppressions: 'key recipientMask reason',
} as const;
const listOf = (name: keyof typeof lists, first = 100) =>
  `{ ${name}(first: ${first}) { nodes { id ${lists[name]} } } }`;

beforeAll(async () => {
  for (const tenant of [mine, other]) {
    const call = await configClient(server, tenant, 'config-editor');
    await call('PUT', '/policies/car:read', { body: { rego: says('allow') } });
    await asAdmin(
      server.db.adminUrl,
      `insert into accord.entity (tenant, type, id, attributes)
       values ($1, 'user', 'alice', '{"age": 1}'), ($1, 'car', 'c1', '{}')`,
      [tenant],
    );
    await asAdmin(
      server.db.adminUrl,
      `insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id)
       select $1, 'user', case n when 1 then 'alice' else 'u' || n end, 'drives', 'car', 'c1' from generate_series(1, 5) n`,
      [tenant],
    );
    await asAdmin(
      server.db.adminUrl,
      `insert into accord.decision (tenant, at, caller, action, request, answer, policy_number, revision, duration_us)
       values ($1, now(), 'user:user:alice', 'car:read',
         '{"subject":{"type":"user","id":"alice"},"resource":{"type":"car","id":"c1"}}',
         '{"outcome":"alice may","reason":"alice asked"}', 1, 1, 5),
       ($1, now() - interval '1 hour', 'user:user:alice', 'alice@localhost', '{}', '{"outcome":"deny"}', null, 1, 5),
       ($1, now() - interval '2 hours', 'user:user:alice', null, '{}', '{"outcome":"deny"}', null, 1, 5)`,
      [tenant],
    );
    await asAdmin(
      server.db.adminUrl,
      `insert into accord.invitation (tenant, id, status, from_type, name, to_type, direction, target_type, target_id, invitor_type,
         invitor_id, by_tenant, contact_type, contact_digest, contact_mask, contact_encrypted, binding, delivery, delivered_at,
         token_id, max_uses, expires_at, created_at)
       values ($1, gen_random_uuid(), 'pending', 'user', 'drives', 'car', 'acceptor_to_target', 'car', 'c1', 'user', 'alice', false,
         'email', 'digest', 'b***@example.org', 'secret', 'none', 'mail', now(), gen_random_uuid(), 1, now() - interval '1 day', now())`,
      [tenant],
    );
    await asAdmin(
      server.db.adminUrl,
      `insert into accord.user_consent (tenant, user_id, definition, version, document, language, given_at)
       values ($1, 'alice', 'trips', '1', '1', 'en', now())`,
      [tenant],
    );
    await asAdmin(
      server.db.adminUrl,
      `insert into accord.mail_message (tenant, id, template, transactional, recipient_digest, recipient_mask, status, next_at,
         created_at, expires_at, settled_at, kept_until, answer)
       values ($1, gen_random_uuid(), 'consent-renewal', true, 'digest', 'a***@example.org', 'sent', now(), now(), now(), now(), now(),
         '250 for a***')`,
      [tenant],
    );
    await asAdmin(
      server.db.adminUrl,
      `insert into accord.audit_entry (tenant, actor, action, object_kind, object_name)
       values ($1, '"user:user:alice"', 'create', 'relationship', 'user/alice drives car/c1')`,
      [tenant],
    );
  }
});

const readable: Record<Role, readonly (keyof typeof lists)[]> = {
  'security-admin': Object.keys(lists) as (keyof typeof lists)[],
  'config-editor': (Object.keys(lists) as (keyof typeof lists)[]).filter(
    (name) => name !== 'allAuditEntries' && name !== 'allMembers',
  ),
  'config-viewer': ['allPolicies', 'allPolicyRevisions', 'allConfigChanges', 'allSubscriptions'],
  support: [
    ...(['allPolicies', 'allPolicyRevisions', 'allDecisions', 'allAuditEntries', 'allSubscriptions'] as const),
    ...(['allSubscriptionStates', 'allDeliveryAttempts', 'allMailMessages', 'allMailSuppressions'] as const),
  ],
};

describe('what a role reads', () => {
  test('of queries of its own: admins and editors only', async () => {
    for (const name of Object.keys(lists) as (keyof typeof lists)[]) {
      expect((await ask(listOf(name))).status, name).toBe(200);
      const edited = await clients['config-editor'].ask(listOf(name));
      const isReadable = readable['config-editor'].includes(name);
      expect([edited.status, edited.body.code], name).toEqual(isReadable ? [200, undefined] : [403, 'forbidden']);
    }
    for (const role of ['config-viewer', 'support'] as const) {
      const { status, body } = await clients[role].ask(listOf('allPolicies'));
      expect([status, body.code]).toEqual([403, 'forbidden']);
    }
  });

  test.each(roles)('of the documents of the server: %s', async (role) => {
    const variables = {
      ...{ names: ['car:read'], name: 'car:read', type: 'user', id: 'alice', userId: 'alice' },
      ...{ status: 'pending', definition: 'trips', subscription: 'hook' },
    };
    for (const [name, source] of Object.entries(documents)) {
      const asked = Object.fromEntries(Object.entries(variables).filter(([one]) => source.includes(`$${one}:`)));
      const { status, body } = await clients[role].document(name, asked);
      const list = /(all\w+)\(/.exec(source)?.[1] as keyof typeof lists;
      const isReadable = readable[role].includes(list);
      expect([name, status, body.code]).toEqual([name, ...(isReadable ? [200, undefined] : [403, 'forbidden'])]);
      const told = /(\w+): all\w+\(/.exec(source)?.[1] ?? list;
      if (!isReadable) expect(body.detail).toBe(`Your role may not read ${told}.`);
    }
  });

  test('a document that the server does not have is 404, and names those it has', async () => {
    for (const name of ['nothing', 'toString']) {
      const { status, body } = await clients.support.document(name);
      expect([status, body.code]).toEqual([404, 'graphql_document_unknown']);
      expect(body.detail).toContain('policies');
    }
    for (const payload of [{}, { query: '{ __typename }', document: 'policies' }])
      expect((await clients['security-admin'].send(payload)).body.code).toBe('invalid_request');
  });

  test('support sees neither ids nor contacts, as by the other routes', async () => {
    const decisions = (await clients.support.document('decisions')).body.data.allDecisions.nodes;
    expect(decisions[0]).toMatchObject({ action: 'car:read', caller: 'user:user:***', outcome: '***', reason: null });
    // Which no policy decided: the action is any text of the request.
    expect(decisions.slice(1)).toMatchObject([{ action: '***' }, { action: null }]);
    const audit = await clients.support.document('audit');
    const call = await configClient(server, mine, 'support');
    const entries = (await call('GET', '/audit?limit=100')).body.entries as Record<string, string>[];
    const shown = audit.body.data.allAuditEntries.nodes as Record<string, string>[];
    for (const { rowId, actor, action, kind, name } of shown)
      expect({ actor, action, kind, name }).toMatchObject(
        (({ actor, action, kind, name }) => ({ actor, action, kind, name }))(
          entries.find(({ id }) => id === rowId) as never,
        ),
      );
    const mails = (await clients.support.document('mails')).body.data.allMailMessages.nodes;
    expect(mails).toMatchObject([{ recipientMask: '***', status: 'sent' }]);
    const listed = (await call('GET', '/mail/messages')).body.messages;
    expect(listed).toMatchObject([{ to: '***', status: 'sent' }]);
    expect(listed[0]).not.toHaveProperty('answer');
    const viewer = await configClient(server, mine, 'config-viewer');
    for (const list of ['/mail/messages', '/mail/suppressions']) expect((await viewer('GET', list)).status).toBe(403);
    const edited = (await (await configClient(server, mine, 'config-editor'))('GET', '/mail/messages')).body.messages;
    expect(edited).toMatchObject([{ to: 'a***@example.org', answer: '250 for a***' }]);
    const all = JSON.stringify([decisions, audit.body, (await clients.support.document('policies')).body]);
    expect(all).not.toMatch(/alice|@localhost/);
  });

  test('no role reads a secret, and nothing is written', async () => {
    const types = readFileSync(join(import.meta.dirname, '../../docs/schema.graphql'), 'utf8').replaceAll(
      /"""[\s\S]*?"""/g,
      '',
    );
    expect(types).not.toMatch(
      /encrypted|salt|digest|private|token|proof|\btenant\b|offset|totalCount|NATURAL|Mutation/i,
    );
    for (const statement of [
      'select contact_encrypted from accord.invitation',
      'select salt from accord.ledger_entry',
      'select private_key from accord.signing_key',
      "insert into accord.member (tenant, email, role) values ('x', 'a@b.c', 'support')",
      "update graphql.policy set name = 'x'",
    ]) {
      const reading = server.services.database.reader(mine, 'security-admin', (tx) => tx.texts(statement, []));
      await expect(reading, statement).rejects.toThrow(/permission denied|read-only/);
    }
  });

  test('an invitation that is past its time is expired', async () => {
    const { body } = await ask(listOf('allInvitations'));
    expect(body.data.allInvitations.nodes).toMatchObject([{ status: 'expired', contactMask: 'b***@example.org' }]);
  });

  test('the use by support is audited', async () => {
    await clients.support.document('policies');
    const { body } = await ask('{ allAuditEntries(first: 200) { nodes { kind name } } }');
    expect(body.data.allAuditEntries.nodes).toContainEqual({ kind: 'route', name: 'POST /tenants/:tenant/graphql' });
  });
});

describe("another tenant's rows", () => {
  test('are in no list, nor under any node id', async () => {
    for (const name of Object.keys(lists) as (keyof typeof lists)[]) {
      const [ours, theirs] = [
        (await ask(listOf(name))).body.data[name].nodes,
        (await stranger.ask(listOf(name))).body.data[name].nodes,
      ];
      // Both have alice; what has an id of its own is never the other's.
      if (/Invitations|Consents|Decisions|AuditEntries|Members/.test(name)) {
        const ids = new Set(ours.map(({ id }: { id: string }) => id));
        expect(theirs.length, name).toBeGreaterThan(0);
        expect(
          theirs.filter(({ id }: { id: string }) => ids.has(id)),
          name,
        ).toEqual([]);
        const single = {
          allInvitations: 'invitation',
          allConsents: 'consent',
          allDecisions: 'decision',
          allAuditEntries: 'auditEntry',
          allMembers: 'member',
        }[name as string] as string;
        const found = await ask(`query ($id: ID!) { ${single}(id: $id) { id } }`, { id: theirs[0].id });
        expect([found.status, found.body.data], name).toEqual([200, { [single]: null }]);
        const own = await ask(`query ($id: ID!) { ${single}(id: $id) { id } }`, { id: ours[0].id });
        expect(own.body.data[single]).toEqual({ id: ours[0].id });
      }
    }
  });

  test('are not within others', async () => {
    await asAdmin(
      server.db.adminUrl,
      `insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id) values ($1, 'user', 'alice', 'drives', 'car', 'theirs')`,
      [other],
    );
    const { body } = await ask(
      '{ allThings(first: 10) { nodes { relationshipsFrom(first: 50) { nodes { toId toThing { rowId } } } } } }',
    );
    expect(JSON.stringify(body)).toContain('c1');
    expect(JSON.stringify(body)).not.toContain('theirs');
  });

  test('do not come behind a cursor of theirs', async () => {
    const page =
      'query ($after: Cursor) { allDecisions(first: 1, after: $after) { nodes { rowId } pageInfo { endCursor } } }';
    const theirs = (await stranger.ask(page)).body.data.allDecisions;
    const { body } = await ask(page, { after: theirs.pageInfo.endCursor });
    expect(JSON.stringify(body)).not.toContain(theirs.nodes[0].rowId);
  });

  test('are not asked for by their path', async () => {
    const headers = { authorization: `Bearer ${await server.member(mine, 'security-admin')}` };
    const url = `/tenants/${other}/graphql`;
    const answer = await server.app.inject({ method: 'POST', url, headers, payload: { query: '{ __typename }' } });
    expect(answer.statusCode).toBe(401);
  });
});

describe('pages', () => {
  test('go on behind the cursor, in both orders, until there is no more', async () => {
    for (const order of ['PRIMARY_KEY_ASC', 'PRIMARY_KEY_DESC']) {
      const seen: string[] = [];
      let after: string | undefined;
      for (let more = true; more; ) {
        const query = `query ($after: Cursor) { allRelationships(first: 2, after: $after, orderBy: ${order}) { nodes { fromId } pageInfo { hasNextPage endCursor } } }`;
        const { nodes, pageInfo } = (await ask(query, { after })).body.data.allRelationships;
        expect(nodes.length).toBeLessThanOrEqual(2);
        seen.push(...nodes.map(({ fromId }: { fromId: string }) => fromId));
        after = pageInfo.endCursor;
        more = pageInfo.hasNextPage;
      }
      const sorted = ['alice', 'u2', 'u3', 'u4', 'u5'];
      expect(seen).toEqual(order === 'PRIMARY_KEY_ASC' ? sorted : sorted.reverse());
    }
  });

  test('filters find by what an index carries, and by nothing else', async () => {
    const found = await ask(
      '{ allRelationships(first: 5, filter: { fromId: { greaterThan: "u3" } }) { nodes { fromId } } }',
    );
    expect(found.body.data.allRelationships.nodes).toEqual([{ fromId: 'u4' }, { fromId: 'u5' }]);
    for (const filter of ['{ reason: { equalTo: "x" } }', '{ or: [] }', '{ at: { isNull: true } }']) {
      const { status, body } = await ask(`{ allDecisions(first: 5, filter: ${filter}) { nodes { at } } }`);
      expect([status, body.code], filter).toEqual([400, 'graphql_invalid']);
    }
  });
});

test('the schema is the one of docs/schema.graphql, and every member may read it', async () => {
  const headers = { authorization: `Bearer ${await server.member(mine, 'config-viewer')}` };
  const answer = await server.app.inject({ url: `/tenants/${mine}/graphql/schema`, headers });
  const golden = readFileSync(join(import.meta.dirname, '../../docs/schema.graphql'), 'utf8');
  expect(answer.payload.trim(), 'run npm run generate, and look at the difference').toBe(golden.trim());
});
