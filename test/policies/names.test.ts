/** Names of policies on their way through paths, Postgres, lists and decisions. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { createTestServer } from '../helpers/server.ts';
import { configClient, says } from './config-client.ts';

const server = await createTestServer();
const tenant = await server.tenant();
const call = await configClient(server, tenant);
const backend = await server.client(tenant, 'authz:evaluate');

describe('a name', () => {
  test.each([
    ['of the specification', 'user:is_owner_of:car:invitation'],
    ['with the characters of ids', 'auth0|5f:a@b'],
    ['with a space', 'car read'],
    ['of another script', '車:読む'],
    ['beyond the first plane', '🚗:read'],
    ['with a percent sign', '100%:read'],
    ['that looks like an escape', 'a%2Fb'],
    ['with quotes and braces', `it's "{x}"; drop table`],
    ['like a member of Object', '__proto__'],
    ['like another', 'constructor'],
    ['of the greatest length', 'n'.repeat(limits.policyNameCharsMax)],
    ['of the greatest length in code points', '🚗'.repeat(limits.policyNameCharsMax)],
  ])('%s works everywhere', async (_, name) => {
    const path = `/policies/${encodeURIComponent(name)}`;
    expect(await call('PUT', path, { body: { rego: says('allow') } })).toMatchObject({ status: 200, body: {} });
    expect((await call('GET', path)).body.name).toBe(name);
    expect((await call('GET', '/policies')).body.resources).toContain(name);
    const decided = await server.app.inject({
      method: 'POST',
      url: `/authz/${tenant}`,
      headers: { authorization: `Bearer ${backend}` },
      payload: { action: name },
    });
    expect(decided.json()).toEqual({ outcome: 'allow' });
    expect((await call('DELETE', path)).status).toBe(200);
  });

  test('comes raw where a path allows it', async () => {
    expect((await call('PUT', '/policies/auth0|5f:c@d', { body: { rego: says('allow') } })).status).toBe(200);
    expect((await call('GET', '/policies/auth0%7C5f%3Ac%40d')).body.name).toBe('auth0|5f:c@d');
  });

  test.each([
    ['a slash', 'a%2Fb'],
    ['a backslash', 'a%5Cb'],
    ['a question mark', 'a%3Fb'],
    ['a hash', 'a%23b'],
    ['a line feed', 'a%0Ab'],
    ['an escape character', '%1B[2J'],
    ['a right-to-left override', 'a%E2%80%AEb'],
    ['a zero-width space', 'a%E2%80%8Bb'],
    ['a line separator', 'a%E2%80%A8b'],
    ['a private character', '%EE%80%80'],
    ['one character too many', 'n'.repeat(limits.policyNameCharsMax + 1)],
    ['one code point too many', encodeURIComponent('🚗'.repeat(limits.policyNameCharsMax + 1))],
  ])('with %s is refused, whatever is asked', async (_, encoded) => {
    const put = await call('PUT', `/policies/${encoded}`, { body: { rego: says('allow') } });
    expect([put.status, put.body.code]).toEqual([400, 'policy_name_invalid']);
    expect(put.body.errors[0].pointer).toBe('/params/policyName');
    expect((await call('GET', `/policies/${encoded}`)).status).toBe(404);
    expect((await call('DELETE', `/policies/${encoded}`)).status).toBe(404);
  });

  test.each([
    ['NUL', '%00'],
    ['a broken escape', '%ZZ'],
    ['bytes that are not UTF-8', '%FF%FE'],
    ['more than a path may hold', 'n'.repeat(5000)],
  ])('of %s is 400 before it gets anywhere', async (_, encoded) => {
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const { status, body, headers } = await call(method, `/policies/${encoded}`);
      expect([status, body.code, body.requestId]).toEqual([400, 'invalid_request', headers['x-request-id']]);
    }
  });
});

test('. and .. cannot be addressed by any client, so they are no names', async () => {
  const { checkPolicyName } = await import('../../server/policies/index.ts');
  for (const name of ['.', '..']) expect(() => checkPolicyName(name)).toThrow(/policy name/);
  expect(() => checkPolicyName('...')).not.toThrow();
});
