/** What a rolling upgrade asks of a process: to wait for its schema, to end while it waits, and to leave without a lost request. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../helpers/database.ts';
import { freePort } from '../helpers/free-port.ts';
import { accord, Running, root } from './accord.ts';

/** Between two requests of a caller, who would otherwise be done before the server is told to stop. */
const CALLER_PAUSE_MS = 5;
const empty = await createTestDatabase('template1');

let port: number;
let variables: Record<string, string>;
const running: Running[] = [];
beforeAll(async () => {
  port = await freePort();
  variables = {
    ACCORD_DATABASE_URL: empty.url,
    ACCORD_MIGRATION_URL: empty.adminUrl,
    ACCORD_MASTER_KEY: randomBytes(32).toString('base64url'),
    ACCORD_LISTEN: `127.0.0.1:${port}`,
    ACCORD_ADMIN_LISTEN: `127.0.0.1:${await freePort()}`,
  };
});
afterAll(() => Promise.all(running.map((one) => one.stop('SIGKILL'))));

function serve(args: string[], more: Record<string, string> = {}): Running {
  const started = new Running(['serve', ...args], { ...variables, ...more });
  running.push(started);
  return started;
}

const agent = new Agent({ keepAlive: true, maxSockets: 4 });
const ask = () =>
  new Promise<{ status: number | undefined; headers: IncomingHttpHeaders; body: string }>((resolve, reject) => {
    const asked = request({ agent, port, host: '127.0.0.1', path: '/authz/nobody', method: 'POST' }, (response) => {
      const { statusCode: status, headers } = response;
      text(response).then((body) => resolve({ status, headers, body }), reject);
    });
    asked.on('error', reject).end();
  });

test('--wait takes seconds', async () => {
  await expect(accord(['serve', '--wait', 'long'], variables)).rejects.toThrow(
    /--wait takes whole seconds up to 86400, not long/,
  );
});

test('a server that waits for its schema says so, and ends when it is told to', async () => {
  const server = serve(['--wait', '100']);
  await server.says(
    /waiting for the database: the database lacks migration 000001_foundation\.sql: run accord migrate/,
  );
  expect(await server.stop()).toBe(0);
});

test('without --wait it fails at once; a migration waits for its database', async () => {
  await expect(accord(['serve'], variables)).rejects.toThrow(/run accord migrate/);
  const nowhere = `postgresql://a:b@127.0.0.1:${await freePort()}/c`;
  const migration = new Running(['migrate', '--wait', '100'], { ...variables, ACCORD_MIGRATION_URL: nowhere });
  running.push(migration);
  await migration.says(/waiting for the database: .*ECONNREFUSED/);
  expect(await migration.stop()).toBe(1);
});

test('a server begins when its schema is there, and leaves without losing a request of those who have not heard', async () => {
  const server = serve(['--wait', '100'], { ACCORD_DRAIN: '300' });
  await server.says(/waiting for the database/);
  await accord(['migrate'], variables);
  await server.says(/Serving http/);
  // The image's health check agrees; it exits with 1 otherwise.
  await promisify(execFile)(process.execPath, [join(root, 'deploy/health.mjs')], { env: variables });
  expect((await ask()).headers.connection).toBe('keep-alive');
  server.child.kill('SIGTERM');
  // Callers that go on for a while, on connections that they keep: each is answered, and asked to go elsewhere.
  const callers = Array.from({ length: 4 }, async () => {
    for (let left = 0; left < 25; ) {
      const [{ status, headers, body }] = await Promise.all([ask(), sleep(CALLER_PAUSE_MS)]); // a pace, not a wait
      // On a busy machine a server may tell them to come back, which is an answer, too.
      if (!body.includes('The server is under pressure.')) expect([401, 404], body).toContain(status);
      if (headers.connection === 'close') left++;
    }
  });
  await Promise.all(callers);
  agent.destroy();
  await server.stop('SIGKILL');
});
