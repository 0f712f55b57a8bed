/** The access log: what a line has, and what it never has. */
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { createApp } from '../../server/app.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { createTestServer } from '../helpers/server.ts';

const server = await createTestServer({ ACCORD_ACCESS_LOG: 'true', ACCORD_TRUST_PROXY: '127.0.0.0/8' });
const tenant = await server.tenant();
const token = await server.client(tenant, 'authz:evaluate');
const lines: string[] = [];
const app = await listen('true');

async function listen(setting: 'true' | 'false') {
  const config = { ...server.config, ACCORD_ACCESS_LOG: setting };
  const made = await createApp(config, server.services, {
    eventLoopDelayMsMax: 0,
    accessLogTo: { write: (line: string) => void lines.push(line) },
  });
  await made.listen({ host: '127.0.0.1', port: 0 });
  closeAtEnd(() => made.close());
  return made;
}

const portOf = (of: typeof app) => (of.server.address() as AddressInfo).port;
const logged = () => lines.map((line) => JSON.parse(line));

async function ask(path: string, headers: Record<string, string> = {}) {
  lines.length = 0;
  const response = await fetch(`http://127.0.0.1:${portOf(app)}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': 'r1', 'x-forwarded-for': '192.0.2.7', ...headers },
    body: JSON.stringify({ subject: { id: 'alice@example.com' }, action: 'secret:body' }),
  });
  await response.text();
  await expect.poll(() => lines).toHaveLength(1);
  return logged()[0];
}

test('a request is one line, although the server logs nothing else', async () => {
  expect(server.config.ACCORD_LOG_LEVEL).toBe('silent');
  expect(await ask(`/authz/${tenant}`, { authorization: `Bearer ${token}` })).toEqual({
    ...{ level: 30, time: expect.any(Number), msg: 'request' },
    ...{ method: 'POST', route: '/authz/:tenant', status: 200, tenant, caller: 'backend' },
    ...{ durationMs: expect.any(Number), bytesSent: expect.any(Number) },
    ...{ requestId: 'r1', remoteAddress: '192.0.2.7' },
  });
  expect(logged()[0].bytesSent).toBeGreaterThan(100);
  expect(lines.join()).not.toContain(token);
  expect(lines.join()).not.toMatch(/alice|secret/);
});

test('a refusal has its status, and a query has no place in the line', async () => {
  const refused = await ask(`/authz/${tenant}?email=alice@example.com`, { authorization: 'Bearer x' });
  expect(refused).toMatchObject({ route: '/authz/:tenant', status: 401, tenant });
  expect(refused).not.toHaveProperty('caller');
  const unknown = await ask('/alice@example.com');
  expect(unknown).toMatchObject({ method: 'POST', status: 404 });
  expect(unknown).not.toHaveProperty('route');
  expect(lines.join()).not.toContain('alice');
  expect(await ask('/%ZZ')).toMatchObject({ status: 400 });
});

test('a request whose connection ends before its answer says so', async () => {
  lines.length = 0;
  const socket = connect(portOf(app), '127.0.0.1');
  const begun = once(app.server, 'request');
  socket.write(`POST /authz/${tenant} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n`);
  socket.write('content-type: application/json\r\ncontent-length: 100\r\n\r\n{');
  await begun;
  socket.destroy();
  await expect.poll(() => lines).toHaveLength(1);
  expect(logged()[0]).toMatchObject({ route: '/authz/:tenant', aborted: true, tenant });
  expect(logged()[0]).not.toHaveProperty('status');
});

test('without ACCORD_ACCESS_LOG there is none', async () => {
  lines.length = 0;
  const quiet = await listen('false');
  const answered = new Promise((resolve) => {
    quiet.server.once('request', (_request, response) => response.once('close', resolve));
  });
  await (await fetch(`http://127.0.0.1:${portOf(quiet)}/nowhere`)).text();
  await answered;
  expect(lines).toEqual([]);
});
