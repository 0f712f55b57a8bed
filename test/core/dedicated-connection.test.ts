/** Connections that Postgres leaves without a word, or in the same breath as it opens them: a real Postgres behind a proxy. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { Database } from '../../server/core/db/database.ts';
import { listen } from '../../server/core/db/listen.ts';
import { asAdmin } from '../helpers/admin.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { untilPasses } from '../helpers/wait.ts';

const { url, adminUrl } = await createTestDatabase();
const { host, port, user, database, password } = new pg.Client({ connectionString: url });
const upstream = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };

/** @param pass what becomes of what goes either way; undefined: it is held back for ever */
async function proxied(pass: (chunk: Buffer, from: 'client' | 'server', connection: number) => Buffer | undefined) {
  const sockets: Socket[] = [];
  let connections = 0;
  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    const connection = connections++;
    const server = connect({ ...(upstream as { path: string }), allowHalfOpen: true });
    sockets.push(client, server);
    const forward = (from: Socket, to: Socket, name: 'client' | 'server') =>
      from.on('data', (chunk) => {
        const passed = pass(chunk, name, connection);
        if (passed !== undefined) to.write(passed);
      });
    const forwardEnd = (from: Socket, to: Socket, name: 'client' | 'server') =>
      from.on('end', () => {
        if (pass(nothing, name, connection) !== undefined) to.end();
      });
    forwardEnd(client, server, 'client');
    forwardEnd(server, client, 'server');
    forward(client, server, 'client');
    forward(server, client, 'server');
    for (const one of [client, server]) one.on('error', () => {});
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  closeAtEnd(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const at = (proxy.address() as AddressInfo).port;
  return `postgres://${user}:${encodeURIComponent(password as string)}@127.0.0.1:${at}/${database}`;
}

const nothing = Buffer.alloc(0);
const QUERY = 'Q'.charCodeAt(0);
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

const notify = async (channel: string) => void (await asAdmin(adminUrl, 'select pg_notify($1, $2)', [channel, '']));

describe('a listening connection that falls silent', () => {
  test('at its LISTEN is given up for another one', async () => {
    const silent = await proxied((chunk, from, connection) =>
      connection === 0 && from === 'client' && chunk[0] === QUERY ? undefined : chunk,
    );
    const heard: string[] = [];
    let connects = 0;
    const listener = listen({
      database: { client: () => new pg.Client({ connectionString: silent }), notify },
      subscriptions: [
        { channel: 'accord_silent', received: (payload) => heard.push(payload), missed: () => connects++ },
      ],
      observe: () => {},
      heartbeatMs: 200,
    });
    await untilPasses('connects to be 1', () => expect(connects).toBe(1));
    await asAdmin(adminUrl, `select pg_notify('accord_silent', 'heard')`);
    await untilPasses("heard to equal ['heard']", () => expect(heard).toEqual(['heard']));
    await listener.close();
  });

  test('when it is to end is left', async () => {
    let quiet = false;
    const silent = await proxied((chunk) => (quiet ? undefined : chunk));
    let connects = 0;
    const listener = listen({
      database: { client: () => new pg.Client({ connectionString: silent }), notify },
      subscriptions: [{ channel: 'accord_silent', received: () => {}, missed: () => connects++ }],
      observe: () => {},
      heartbeatMs: 300,
    });
    await untilPasses('connects to be 1', () => expect(connects).toBe(1));
    quiet = true;
    await listener.close();
  });
});

test('a connection that Postgres ends in the same breath as it opens it fails what is sent, and nothing else', async () => {
  const fields = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0';
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + fields.length);
  const farewell = Buffer.concat([Buffer.from('E'), length, Buffer.from(fields)]);
  let ended = 0;
  const ending = await proxied((chunk, from, connection) => {
    if (connection > 0 || from === 'client' || !chunk.subarray(-READY.length).equals(READY)) return chunk;
    ended++;
    return Buffer.concat([chunk, farewell]);
  });
  const db = new Database({ url: ending, poolMax: 1, applicationName: 'test', observe: () => {} });
  await expect(db.system(async () => 'done')).rejects.toThrow();
  expect(ended).toBe(1);
  expect(await db.system(async () => 'done')).toBe('done');
  await db.close();
});
