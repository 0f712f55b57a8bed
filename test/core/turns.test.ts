/** Requests and the queue of tenants: each request of a known caller enters once, and addresses without callers need none. */
import { describe, expect, test, vi } from 'vitest';
import { createTestServer } from '../helpers/server.ts';

const server = await createTestServer();
const tenant = await server.tenant();
const backend = await server.client(tenant, 'authz:evaluate');
const editor = await server.member(tenant, 'config-editor');
const json = { 'content-type': 'application/json' };
const decisions = `/authz/${tenant}`;
const policies = `/tenants/${tenant}/policies`;

describe('enters the queue of its tenant once', () => {
  const lengths = [{}, { 'content-length': '0' }];
  const requests = lengths.flatMap((length) => [
    ['GET', policies, editor, length] as const,
    ['GET', policies, editor, { ...json, ...length }] as const,
    ['HEAD', policies, editor, length] as const,
    ['POST', decisions, backend, length] as const,
    ['POST', decisions, backend, { ...json, ...length }] as const,
    ['DELETE', `${policies}/none`, editor, length] as const,
    ['DELETE', `${policies}/none`, editor, { ...json, ...length }] as const,
  ]);
  test.each(requests)('%s %s without a body', async (method, url, token, headers) => {
    expect(await entered(method, url, { authorization: `Bearer ${token}`, ...headers })).toBe(1);
  });
  test.each([
    ['POST', decisions, backend],
    ['PUT', `${policies}/p`, editor],
    ['DELETE', `${policies}/none`, editor],
    ['GET', policies, editor],
  ] as const)('%s %s with a body', async (method, url, token) => {
    expect(await entered(method, url, { authorization: `Bearer ${token}`, ...json }, '{}')).toBe(1);
  });
});

async function entered(
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  headers: Record<string, string>,
  payload?: string,
): Promise<number> {
  const enter = vi.spyOn(server.services.authz.scheduler, 'enter');
  const { statusCode } = await server.app.inject({ method, url, headers, ...(payload ? { payload } : {}) });
  const tenants = enter.mock.calls.map(([name]) => name);
  enter.mockRestore();
  expect(statusCode).not.toBe(401);
  expect(statusCode).toBeLessThan(500);
  expect(tenants).toEqual(tenants.map(() => tenant));
  return tenants.length;
}

describe('without a caller', () => {
  test.each(['/docs', '/docs/', '/docs/json', '/docs/yaml', '/docs/static/swagger-ui.css', '/openapi.json'])(
    'GET %s is answered',
    async (url) => {
      expect((await server.app.inject({ url })).statusCode).toBeLessThan(400);
    },
  );

  test.each(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)(
    '%s fails at no address, whatever it carries',
    async (method) => {
      const failed: string[] = [];
      const urls = ['/docs', '/docs/none', '/openapi.json', '/no/such', '/%ZZ', decisions, policies, '/'];
      for (const url of [...urls, `/${tenant}/.well-known/jwks.json`])
        for (const headers of [{}, { 'content-length': '0' }, json, { 'accord-min-revision': 'c1' }])
          if ((await server.app.inject({ method, url, headers })).statusCode >= 500) failed.push(url);
      expect(failed).toEqual([]);
    },
  );
});
