/** Durations of HTTP requests by method, route and status, over real connections: injected requests are not Node's. */

import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { createTestServer } from '../helpers/server.ts';

const server = await createTestServer();
const tenant = await server.tenant();
const token = await server.client(tenant, 'authz:evaluate');
await server.app.listen({ host: '127.0.0.1', port: 0 });
const { port } = server.app.server.address() as AddressInfo;
const NAME = 'accord_http_request_duration_seconds';

/** Counts of requests by labels. */
async function counts(): Promise<Record<string, number>> {
  const text = await server.services.metrics.registry.getSingleMetricAsString(NAME);
  const found = text.matchAll(/_count\{method="(.*)",route="(.*)",status="(.*)"\} (\d+)/g);
  return Object.fromEntries(
    [...found].map(([, method, route, status, count]) => [`${method} ${route} ${status}`, Number(count)]),
  );
}

async function ask(method: string, path: string, headers: Record<string, string> = {}) {
  const before = await counts();
  const body = method === 'POST' ? { body: '{}' } : {};
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...body,
  });
  await response.arrayBuffer();
  // Node tells of the end of an answer when it is handed over; the client may have read it before.
  await expect.poll(counts).not.toEqual(before);
  const after = await counts();
  return Object.keys(after).filter((labels) => after[labels] !== before[labels]);
}

const authorization = `Bearer ${'x'.repeat(20)}`;

test.each([
  ['an answer', 'POST', `/authz/${tenant}`, { authorization: `Bearer ${token}` }, 'POST /authz/:tenant 200'],
  ['a refusal before the handler', 'POST', `/authz/${tenant}`, { authorization }, 'POST /authz/:tenant 401'],
  [
    'a body that is not valid',
    'POST',
    `/authz/${tenant}?a=b`,
    { authorization: `Bearer ${token}` },
    'POST /authz/:tenant 400',
  ],
  ['an address without a route', 'GET', '/alice@example.com', {}, '(any) (none) 404'],
  ['an address that cannot be read', 'GET', '/%ZZ', {}, '(any) (none) 400'],
  ['a method without a route', 'DELETE', `/authz/${tenant}`, {}, '(any) (none) 404'],
  ['a route for everybody', 'GET', `/${tenant}/oidc/jwks`, {}, 'GET /:tenant/oidc/jwks 200'],
])('%s is counted by its route', async (_, method, path, headers, labels) => {
  expect(await ask(method, path, headers)).toEqual([labels]);
});

test('each request is in one bucket of its series, and nothing of an address is a label', async () => {
  const before = (await counts())['POST /authz/:tenant 200'] as number;
  for (let n = 0; n < 3; n++) await ask('POST', `/authz/${tenant}`, { authorization: `Bearer ${token}` });
  const text = await server.services.metrics.registry.getSingleMetricAsString(NAME);
  expect(text).toContain(`_bucket{method="POST",route="/authz/:tenant",status="200",le="+Inf"} ${before + 3}`);
  expect(text).not.toContain(tenant);
  expect(text).not.toContain('alice');
});

test('a request whose connection ends before its answer is not counted', async () => {
  const before = await counts();
  const socket = connect(port, '127.0.0.1');
  const begun = once(server.app.server, 'request');
  socket.write(`POST /authz/${tenant} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n`);
  socket.write('content-type: application/json\r\ncontent-length: 100\r\n\r\n{');
  const [request] = await begun;
  const closed = new Promise((resolve) => request.once('close', resolve));
  socket.destroy();
  await closed;
  expect(await counts()).toEqual(before);
});
