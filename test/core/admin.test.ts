/** The admin port over a real socket, because what counts is who connects and under which name. */
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { createAdmin } from '../../server/admin.ts';
import { createTestServer } from '../helpers/server.ts';

const { services } = await createTestServer();
const { metrics, snapshots } = services;
const waiting = () => [{ key: 'Policy/fleet/read', since: '2026-11-22T18:09:00.000Z', for: 'a test' }];
const admin = createAdmin({ metrics, snapshots, waiting, isReady: () => true, host: 'admin.internal' });
await admin.listen({ host: '127.0.0.1', port: 0 });
afterAll(() => admin.close());
const { port } = admin.server.address() as AddressInfo;

/** Over loopback, as a browser or a person on this machine. */
function get(path: string, host: string): Promise<number | undefined> {
  return new Promise((done, failed) => {
    const asked = request({ host: '127.0.0.1', port, path, headers: { host } }, (response) => {
      response.resume();
      done(response.statusCode);
    });
    asked.on('error', failed).end();
  });
}

test.each(['127.0.0.1', '127.0.0.1:8081', 'localhost:8081', 'LOCALHOST', '[::1]:8081', 'admin.internal:8081'])(
  'under %s, which nobody else can point here, everything answers',
  async (host) => {
    for (const path of ['/live', '/ready', '/metrics', '/snapshot', '/waiting'])
      expect(await get(path, host), path).toBe(200);
  },
);

test.each(['evil.example', 'evil.example:8081', '127.0.0.1.evil.example', 'localhost.evil.example', 'localhost@evil'])(
  'under %j nothing is read over loopback but whether it is well',
  async (host) => {
    for (const path of ['/metrics', '/snapshot', '/waiting']) expect(await get(path, host), path).toBe(403);
    for (const path of ['/live', '/ready']) expect(await get(path, host), path).toBe(200);
  },
);

test('another machine asks for metrics under any name, and never for the snapshot', async () => {
  const from = (url: string) =>
    admin.inject({ url, remoteAddress: '10.0.0.7', headers: { host: 'accord.fleet.svc:8081' } });
  expect((await from('/metrics')).statusCode).toBe(200);
  expect((await from('/snapshot')).statusCode).toBe(403);
  expect((await from('/waiting')).statusCode).toBe(403);
});

test('what an operator waits for is told as JSON', async () => {
  const answer = await admin.inject({ url: '/waiting', remoteAddress: '127.0.0.1', headers: { host: 'localhost' } });
  expect(answer.json()).toEqual({ waiting: waiting() });
});

test('what keeps an operator from being ready is told to this machine only; one that is beyond help is not live', async () => {
  let [reasons, live] = [['The database does not answer.'], true];
  const options = { metrics, isReady: () => true, isLive: () => live, obstacles: async () => reasons };
  const operator = createAdmin({ ...options, host: '0.0.0.0' });
  const from = (url: string, remoteAddress: string) =>
    operator.inject({ url, remoteAddress, headers: { host: 'localhost' } });
  const here = await from('/ready', '127.0.0.1');
  expect(here.statusCode).toBe(503);
  expect(here.json()).toEqual({ status: 'not ready', reasons });
  expect((await from('/ready', '10.0.0.7')).json()).toEqual({ status: 'not ready' });
  reasons = [];
  expect((await from('/ready', '10.0.0.7')).statusCode).toBe(200);
  expect((await from('/snapshot', '127.0.0.1')).statusCode).toBe(404);
  expect((await from('/live', '10.0.0.7')).statusCode).toBe(200);
  live = false;
  expect((await from('/live', '10.0.0.7')).statusCode).toBe(503);
  await operator.close();
});
