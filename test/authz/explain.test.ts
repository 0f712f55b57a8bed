/** Explained decisions: of the newest policy, whole input, facts gathered, observed and logged, and never an allow by accident. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { authorizeExplained } from '../../server/authz/actions.ts';
import { explainingPrograms } from '../../server/authz/explain.ts';
import type { AuthorizationRequest } from '../../server/authz/index.ts';
import type { Caller } from '../../server/core/auth/schema.ts';
import { limits } from '../../server/core/limits.ts';
import { deletePolicy, putPolicy } from '../../server/policies/index.ts';
import { createTestServer, manifestWriter } from '../helpers/server.ts';

const server = await createTestServer();
const { services } = server;
const tenant = await server.tenant({ decisionLog: { mode: 'all' } });
const admin: Caller = { kind: 'backend', clientId: 'admin', scopes: new Set(['pg:tenant:admin']), tenant } as never;

const put = (name: string, rego: string) => putPolicy(services.policies, manifestWriter, tenant, name, { rego });

/** The snapshot as it is now, which the caller may hold back. */
async function snapshot() {
  await services.snapshots.refresh(tenant);
  return services.snapshots.get(tenant) as NonNullable<ReturnType<typeof services.snapshots.get>>;
}
type Held = Awaited<ReturnType<typeof snapshot>>;

const explained = (held: Held, request: AuthorizationRequest, authz = services.authz) =>
  authorizeExplained(authz, { snapshot: held, caller: admin, requestId: randomUUID() }, request);

async function logged(action: string) {
  await services.authz.log.close();
  const authorization = `Bearer ${await server.member(tenant, 'security-admin')}`;
  const url = `/tenants/${tenant}/decisions?action=${action}`;
  const response = await server.app.inject({ url, headers: { authorization } });
  expect(response.statusCode, response.payload).toBe(200);
  return response.json().decisions;
}

describe('a snapshot that is held back', () => {
  test('takes nothing away from what a newer policy reads', async () => {
    await put('held', 'package p\ndefault outcome := "deny"\noutcome := "allow" if input.subject.id == "a"');
    const old = await snapshot();
    await put('held', 'package p\ndefault outcome := "deny"\noutcome := "allow" if not input.context.blocked');
    const request = { subject: { id: 'a' }, action: 'held', context: { blocked: true } };
    expect((await explained(old, request)).answer).toEqual({ outcome: 'deny' });
    const { answer, explain } = await explained(old, { ...request, context: { blocked: false } });
    expect(answer).toEqual({ outcome: 'allow' });
    expect(explain).toMatchObject({
      ...{ revision: 2, relationships: { subject: 'none', resource: 'none' } },
      input: { context: { blocked: false }, resource: {}, tenant },
    });
  });

  test('denies with policy_not_found what was deleted meanwhile, and it is logged', async () => {
    await put('gone', 'package p\noutcome := "allow"');
    const old = await snapshot();
    await deletePolicy(services.policies, manifestWriter, tenant, 'gone');
    expect(await explained(old, { action: 'gone' })).toMatchObject({
      answer: { outcome: 'deny', reason: 'policy_not_found' },
      explain: { policy: 'gone', rules: [], failure: { reason: 'policy_not_found' } },
    });
    expect(await logged('gone')).toMatchObject([{ answer: { outcome: 'deny', reason: 'policy_not_found' } }]);
  });
});

test('facts are gathered as the newest policy reads relationships, whatever the snapshot knows that it reads', async () => {
  await put('related', 'package p\noutcome := "deny"');
  const old = await snapshot();
  await put('related', 'package p\noutcome := "allow" if input.graph.subject[_].to.id == input.resource.id');
  const graph = { subject: [{ type: 'owner', relationshipType: 'owner', to: { type: 'car', id: 'c' } }], resource: [] };
  const asked: object[] = [];
  const facts = {
    gather: async (_snapshot: object, evaluation: object, needs: object) => {
      asked.push({ evaluation, needs });
      return { graph, consents: [] };
    },
  };
  const request = { subject: { id: 'a', type: 'user' }, action: 'related', resource: { id: 'c', type: 'car' } };
  const { answer, explain } = await explained(old, request, { ...services.authz, facts });
  expect(answer.outcome).toBe('allow');
  expect(explain).toMatchObject({ facts: { graph }, input: { graph } });
  expect(asked).toMatchObject([
    {
      evaluation: { tenant, request },
      needs: {
        records: { subject: true, resource: false, subjectAttributes: true },
        input: { consents: true, invitation: true },
      },
    },
  ]);
});

test('an explained decision is observed and logged like any other, by the revision that it was made with', async () => {
  await put('logged', 'package p\noutcome := 1');
  const held = await snapshot();
  const decided = () => server.observations.filter((one) => one.kind === 'decided').length;
  const before = decided();
  const { answer } = await explained(held, { action: 'logged', subject: { id: 'a' } });
  expect(answer).toEqual({ outcome: 'deny', reason: 'outcome_malformed' });
  expect(decided()).toBe(before + 1);
  expect(server.observations).toContainEqual(
    expect.objectContaining({ kind: 'decision_failed', policy: 'logged', reason: 'outcome_malformed' }),
  );
  const [record, ...others] = await logged('logged');
  expect(others).toEqual([]);
  expect(record).toMatchObject({ caller: 'client:admin', policyRevision: 1, answer });
});

test('explaining programs are kept up to explainingWasmBytesMax, the least lately used goes first', () => {
  const programs = explainingPrograms();
  const half = limits.explainingWasmBytesMax / 2;
  programs.set('a', new Uint8Array(half)).set('b', new Uint8Array(half));
  expect([...programs.keys()].sort()).toEqual(['a', 'b']);
  programs.get('a');
  programs.set('c', new Uint8Array(1));
  expect([...programs.keys()].sort()).toEqual(['a', 'c']);
});
