/** A request whose body comes late is answered from what is served when the body is there, not from what was served before. */
import { PassThrough } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { apiOwner } from '../../server/core/ownership.ts';
import { putPolicy } from '../../server/policies/index.ts';
import { eraseTenant, putTenant } from '../../server/tenants/index.ts';
import { TestClock } from '../core/auth/test-clock.ts';
import { createTestServer, manifestWriter, tenantSpec } from '../helpers/server.ts';
import { turns, until } from '../helpers/wait.ts';

const clock = new TestClock();
const STALENESS_S = 300;
const server = await createTestServer({ ACCORD_MAX_STALENESS: String(STALENESS_S) }, undefined, clock);
const { services } = server;

const writer = { owner: apiOwner, actor: 'test' };
const put = async (tenant: string, outcome: string) => {
  await putPolicy(services.policies, writer, tenant, 'p', {
    rego: `package p\noutcome := "${outcome}"`,
  });
  await services.snapshots.refresh(tenant);
};

/** Asks, and does something between being let in and the body. */
async function answerAfter(tenant: string, meanwhile: () => Promise<void> | void) {
  const payload = new PassThrough();
  const letIn = vi.spyOn(services.issuers.tokens, 'cached');
  const headers = {
    authorization: `Bearer ${await server.client(tenant, 'authz:evaluate')}`,
    'content-type': 'application/json',
  };
  // Of a token that is known already no signature is verified.
  await server.app.inject({ method: 'POST', url: `/authz/${tenant}`, headers, payload: { action: 'none' } });
  letIn.mockClear();
  const answer = server.app.inject({ method: 'POST', url: `/authz/${tenant}`, headers, payload });
  payload.write('{"action":');
  await until('the request to be let in', () => letIn.mock.calls.length > 0);
  letIn.mockRestore();
  await turns(); // the token is verified
  await meanwhile();
  payload.end('"p"}');
  const { statusCode, headers: told, json } = await answer;
  return { status: statusCode, revision: told['accord-revision'], body: json() };
}

test('by the policy that was put meanwhile', async () => {
  const tenant = await server.tenant();
  await put(tenant, 'allow');
  const { body, revision } = await answerAfter(tenant, () => put(tenant, 'deny'));
  expect(body).toEqual({ outcome: 'deny' });
  expect(revision).toBe(`c${services.snapshots.get(tenant)?.revision}`);
});

test('not by a tenant that has the code of the one that let it in', async () => {
  const tenant = await server.tenant();
  await put(tenant, 'allow');
  const { status, body } = await answerAfter(tenant, async () => {
    await eraseTenant(services.tenants, manifestWriter, tenant);
    await putTenant(services.tenants, manifestWriter, tenant, tenantSpec());
    await put(tenant, 'allow');
  });
  expect(services.snapshots.get(tenant)?.policies.has('p')).toBe(true);
  expect([status, body.code]).toEqual([404, 'tenant_not_found']);
});

test('not at all, when what is served has become too old', async () => {
  const tenant = await server.tenant();
  await put(tenant, 'allow');
  const { status, body } = await answerAfter(tenant, () => clock.advance(STALENESS_S * 1000 + 1));
  expect([status, body.code]).toEqual([503, 'stale']);
});
