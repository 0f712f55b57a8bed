/** Connections over real sockets: those that send nothing, or not all, are closed; there is a most, and a share of it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import Fastify from 'fastify';
import { describe, expect, test } from 'vitest';
import { createAdmin } from '../../server/admin.ts';
import { limits } from '../../server/core/limits.ts';
import { boundConnections, connectionOptions, endConnectionsOnClose } from '../../server/http/connections.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { createTestServer } from '../helpers/server.ts';

type Client = { socket: Socket; text: () => string; closed: Promise<void> };

function open(port: number, send = '', localAddress = '127.0.0.1'): Client {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => {}); // a reset is a way of closing
  const closed = once(socket, 'close').then(() => {});
  if (send !== '') socket.write(send);
  return { socket, text: () => text, closed };
}

const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';

describe('with short times', async () => {
  const options = { headersMs: 200, requestMs: 400, idleMs: 1500, keepAliveMs: 300, checkMs: 50 };
  const app = Fastify(connectionOptions(options));
  app.post('/', async () => ({}));
  app.get('/never', () => new Promise(() => {}));
  await app.listen({ host: '127.0.0.1', port: 0 });
  closeAtEnd(() => app.close());
  const { port } = app.server.address() as AddressInfo;

  test.each([
    ['sends nothing', '', /^HTTP\/1.1 408/],
    ['sends half its headers', 'POST / HTTP/1.1\r\nHost', /^HTTP\/1.1 408/],
    ['sends half its body', `${head}Content-Length: 10\r\n\r\n{`, /^HTTP\/1.1 408/],
    ['asks once and is silent then', `${head}Content-Length: 2\r\n\r\n{}`, /^HTTP\/1.1 200/],
    ['asks once and begins again', `${head}Content-Length: 2\r\n\r\n{}POST /`, /^HTTP\/1.1 200[\s\S]*HTTP\/1.1 408/],
    ['waits for an answer that does not come', 'GET /never HTTP/1.1\r\nHost: a\r\n\r\n', /^$/],
  ])('a connection that %s is closed', async (_, send, answer) => {
    const client = open(port, send);
    await client.closed;
    expect(client.text()).toMatch(answer);
  });
});

test('both ports of a server have these times, and a most', async () => {
  const server = await createTestServer({ ACCORD_MAX_CONNECTIONS: '12' });
  const { metrics, snapshots } = server.services;
  const admin = createAdmin({ metrics, snapshots, isReady: () => true, host: 'localhost' });
  for (const [listener, most] of [
    [server.app.server, 12],
    [admin.server, limits.adminConnectionsMax],
  ] as const) {
    expect(listener).toMatchObject({
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      timeout: limits.connectionIdleMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      maxConnections: most,
    });
    // Later than this Node would look for what is late.
    const { connectionsCheckingInterval } = listener as { connectionsCheckingInterval?: number };
    expect(connectionsCheckingInterval).toBe(limits.connectionsCheckMs);
  }
  await server.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.app.server.address() as AddressInfo;
  const request = 'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n';
  const clients = Array.from({ length: 12 }, () => open(port, request));
  await Promise.all(clients.map(({ socket }) => once(socket, 'data')));
  await open(port, request).closed; // one more than the most
  clients[0]?.socket.destroy();
  await clients[0]?.closed;
  await expect.poll(() => answers(port, request)).toBe(true);
  for (const { socket } of clients) socket.destroy();
  await admin.close();
});

/** Whether a new connection is let in. */
async function answers(port: number, request: string): Promise<boolean> {
  const client = open(port, request);
  await Promise.race([once(client.socket, 'data'), client.closed]);
  client.socket.destroy();
  return client.text() !== '';
}

test('one address has its share of the connections, and another one has room', async () => {
  const most = 20;
  const share = (most * limits.connectionsOfAddressPercent) / 100;
  const server = createServer((_, response) => response.end('ok'));
  const proxy = '127.0.0.4';
  boundConnections(server, most, (address) => address === proxy);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
  const openFrom = async (address: string, count: number) => {
    const clients = Array.from({ length: count }, () => open(port, request, address));
    await Promise.all(clients.map(({ socket }) => once(socket, 'data')));
    return clients;
  };
  const greedy = await openFrom('127.0.0.2', share);
  const more = open(port, request, '127.0.0.2');
  await more.closed;
  expect(more.text()).toBe('');
  const others = [...(await openFrom('127.0.0.3', share)), ...(await openFrom(proxy, share + 1))];
  greedy[0]?.socket.destroy();
  await greedy[0]?.closed;
  await expect
    .poll(async () => {
      const again = open(port, request, '127.0.0.2');
      await Promise.race([once(again.socket, 'data'), again.closed]);
      again.socket.destroy();
      return again.text() !== '';
    })
    .toBe(true);
  for (const { socket } of [...greedy, ...others]) socket.destroy();
  await new Promise((done) => server.close(done));
});

describe('a server that closes ends', async () => {
  const head = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
  test.each([
    ['a connection that sent nothing', ''],
    ['a connection that sent half its headers', 'GET / HTTP/1.1\r\nHost'],
    ['an idle connection', head],
    ['a connection that began again', `${head}GET /`],
  ])('%s, at once', async (_, send) => {
    const { app, port } = await closable();
    const client = open(port, send);
    await once(app.server, 'connection');
    if (send.startsWith(head)) await once(client.socket, 'data');
    await app.close();
    await client.closed;
  });

  test('a connection that waits for answers when it has them, the pipelined ones too', async () => {
    const { app, port, begun, answer } = await closable();
    const client = open(port, 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2));
    await begun;
    const closing = app.close();
    answer.resolve({});
    await Promise.all([closing, client.closed]);
    expect(client.text().match(/HTTP\/1.1 200/g)).toHaveLength(2);
  });

  async function closable() {
    const app = Fastify({ ...connectionOptions(), forceCloseConnections: 'idle' });
    const [begun, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<object>()];
    let asked = 0;
    endConnectionsOnClose(app);
    app.get('/', async () => ({}));
    app.get('/slow', () => {
      if (++asked === 2) begun.resolve();
      return answer.promise;
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    return { app, port: (app.server.address() as AddressInfo).port, begun: begun.promise, answer };
  }
});
