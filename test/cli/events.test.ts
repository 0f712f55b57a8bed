/** `accord events`: prints events as they come, and sends them in order until each is taken. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { accord, Running } from '../e2e/accord.ts';
import { recipe } from '../events/recipes.ts';
import { numbered } from '../helpers/emitted.ts';
import { createTestServer, masterKey } from '../helpers/server.ts';
import { untilPasses } from '../helpers/wait.ts';
import { sharingTenant } from '../relationships/sharing.ts';
import { accordHere } from './here.ts';

const server = await createTestServer();
const variables = {
  ...{ ACCORD_DATABASE_URL: server.db.url, ACCORD_MASTER_KEY: masterKey, ACCORD_BASE_URL: 'http://accord.test' },
};
const running: Running[] = [];
afterAll(async () => {
  for (const one of running) await one.stop('SIGKILL');
});
const start = (...args: string[]) => {
  const one = new Running(['events', ...args], variables);
  running.push(one);
  return one;
};

test('follow prints what is there and what comes, of the types that are asked for, until it is stopped', async () => {
  const { tenant, relate } = await sharingTenant(server);
  await relate('user/alice', 'drives', 'car/1');
  await numbered(server);
  const following = start('follow', '--tenant', tenant, '--after', '0', '--types', 'RELATIONSHIP_*');
  await following.says(/"RELATIONSHIP_CREATED"/);
  await relate('user/bob', 'drives', 'car/2');
  await numbered(server);
  await following.says(/bob/);
  expect(await following.stop('SIGINT')).toBe(0);
  const lines = following.output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ type, subject, source }) => [type, subject, source])).toEqual([
    ['RELATIONSHIP_CREATED', 'car/1', `http://accord.test/${tenant}`],
    ['RELATIONSHIP_CREATED', 'car/2', `http://accord.test/${tenant}`],
  ]);
});

test('forward sends signed events in order, and again what was not taken', async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const received: { headers: IncomingHttpHeaders; body: string }[] = [];
  const endpoint = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(received.length === 1 ? 500 : 204).end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => endpoint.once('listening', resolve));
  onTestFinished(async () => {
    endpoint.closeAllConnections();
    await new Promise((resolve) => endpoint.close(resolve));
  });
  const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/events`;
  const { tenant, relate } = await sharingTenant(server);
  for (const car of ['1', '2']) await relate('user/alice', 'drives', `car/${car}`);
  await numbered(server);
  const options = ['--tenant', tenant, '--after', '0', '--types', 'RELATIONSHIP_CREATED'];
  const forwarding = start('forward', url, ...options, '--secret', secret);
  await untilPasses('three requests', () => expect(received.length).toBe(3));
  await forwarding.says(/204 \d+ RELATIONSHIP_CREATED car\/2/);
  expect(forwarding.output).toMatch(/did not take event \d+: 500; again in 1 s/);
  expect(await forwarding.stop()).toBe(0);
  const isAuthentic = await recipe<(headers: object, body: string, secret: string) => boolean>('isAuthentic');
  for (const { headers, body } of received) {
    expect(isAuthentic(headers, body, secret)).toBe(true);
    expect(headers['content-type']).toBe('application/cloudevents+json');
  }
  expect(
    received.map(({ headers, body }) => [headers['webhook-id'] === JSON.parse(body).id, JSON.parse(body).subject]),
  ).toEqual([
    ...[
      [true, 'car/1'],
      [true, 'car/1'],
      [true, 'car/2'],
    ],
  ]);
});

test.each([
  [['follow'], '--tenant is missing'],
  [['follow', 'http://x', '--tenant', 't'], 'say accord events follow'],
  [['forward', '--tenant', 't'], 'say accord events follow'],
  [['forward', 'file:///x', '--tenant', 't'], 'file:///x is no http or https address'],
  [['forward', 'http://x', '--tenant', 't', '--secret', 'x'], 'the secret must be whsec_'],
  [['follow', '--tenant', 't', '--after', 'x'], '--after is the number of an event'],
])('%j is refused', async (args, why) => {
  await expect(accordHere(['events', ...args], variables)).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining(why),
  });
});

test('a tenant that is not there is said', async () => {
  await expect(accord(['events', 'follow', '--tenant', 'nowhere'], variables)).rejects.toMatchObject({ code: 1 });
});
