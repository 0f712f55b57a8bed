/** Whole servers, with the subscriptions of every room, of which one changes something: the other hears it, long before its poll. */
import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { eraseActor } from '../../server/erasure/index.ts';
import { createTestServer, type TestServer } from '../helpers/server.ts';
import { untilPasses } from '../helpers/wait.ts';

// Their poll never comes: what is heard was told.
vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
const environment = { ACCORD_MAX_STALENESS: '300' };
const here = await createTestServer(environment);
const there = await createTestServer(environment, here.db);
vi.useRealTimers();

async function send(
  server: TestServer,
  method: 'PUT' | 'POST' | 'GET' | 'DELETE',
  url: string,
  token: string,
  payload?: object,
) {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await server.app.inject({ method, url, headers, ...(payload && { payload }) });
  return { status: answer.statusCode, body: answer.json() };
}

const heard = (check: () => Promise<void>) => untilPasses('the other server to hear of it', check);

const question = (policy: string) => ({
  subject: { type: 'user', id: 'ada' },
  action: policy,
  resource: { type: 'car', id: '1' },
});

async function served(): Promise<{ tenant: string; admin: string }> {
  const tenant = await here.tenant();
  await heard(async () => expect(there.services.snapshots.get(tenant)?.active).toBe(true));
  return { tenant, admin: await here.member(tenant, 'security-admin') };
}

const reconnects = () =>
  here.observations.concat(there.observations).filter(({ kind }) => kind === 'listen_reconnected').length;

test('a policy', async () => {
  const { tenant, admin } = await served();
  const backEnd = await here.client(tenant, 'authz:evaluate');
  const asked = async () => (await send(there, 'POST', `/authz/${tenant}`, backEnd, question('car:use'))).body.outcome;
  for (const outcome of ['allow', 'deny', 'allow']) {
    const rego = `package p\noutcome := "${outcome}"`;
    expect((await send(here, 'PUT', `/tenants/${tenant}/policies/car:use`, admin, { rego })).status).toBeLessThan(300);
    await heard(async () => expect(await asked()).toBe(outcome));
  }
});

test('a removed member, and a portal token that was revoked', async () => {
  const { tenant, admin } = await served();
  const [member, other] = [await here.member(tenant, 'config-viewer'), await here.member(tenant, 'config-editor')];
  const status = async (token: string) => (await send(there, 'GET', `/tenants/${tenant}/policies`, token)).status;
  await heard(async () => expect([await status(member), await status(other)]).toEqual([200, 200]));
  const { body } = await send(here, 'GET', `/tenants/${tenant}/portal-tokens`, admin);
  const tokens = body.portalTokens as { jti: string; member: { id: string; role: string } }[];
  const of = (role: string) => tokens.find((one) => one.member.role === role);
  await send(here, 'DELETE', `/tenants/${tenant}/portal-tokens/${of('config-editor')?.jti}`, admin);
  await heard(async () => expect([await status(member), await status(other)]).toEqual([200, 401]));
  await send(here, 'DELETE', `/tenants/${tenant}/members/${of('config-viewer')?.member.id}`, admin);
  await heard(async () => expect(await status(member)).toBe(401));
});

test('a client that was deleted', async () => {
  const { tenant, admin } = await served();
  const path = `/tenants/${tenant}/clients/backend`;
  const spec = { displayName: 'Back end', grantTypes: ['client_credentials'], scopes: ['authz:evaluate'] };
  expect((await send(here, 'PUT', path, admin, spec)).status).toBeLessThan(300);
  const backEnd = await here.client(tenant, 'authz:evaluate');
  const asked = async () => (await send(there, 'POST', `/authz/${tenant}`, backEnd, question('car:none'))).status;
  await heard(async () => expect(await asked()).not.toBe(401));
  await send(here, 'DELETE', path, admin);
  await heard(async () => expect(await asked()).toBe(401));
});

test('a person who was erased', async () => {
  const { tenant } = await served();
  const ada = await here.user(tenant, 'ada');
  const status = async () => (await send(there, 'GET', `/${tenant}/actors/me`, ada)).status;
  await heard(async () => expect(await status()).not.toBe(401));
  const by = { actor: { type: 'cli' as const, id: 'erase' }, name: 'cli', requestId: randomUUID() };
  await eraseActor(here.services.erasure, tenant, by, { type: 'user', id: 'ada', contacts: [] });
  await heard(async () => expect(await status()).toBe(401));
});

test('no connection was lost meanwhile, after which a server looks for what it missed', () =>
  expect(reconnects()).toBe(0));
