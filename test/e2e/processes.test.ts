/** migrate, serve (twice) and operate as processes of their own on one Postgres: the shape of a real installation. */
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../helpers/database.ts';
import { freePort } from '../helpers/free-port.ts';
import { until } from '../helpers/wait.ts';
import { accord, Running, root } from './accord.ts';

const empty = await createTestDatabase('template1');

let directory: string;
let ports: number[];
let variables: Record<string, string>;
const running: Running[] = [];

const run = (...args: string[]) => {
  const started = new Running(args, variables);
  running.push(started);
  return started;
};
const listening = (server: number) => [
  '--listen',
  `127.0.0.1:${ports[server * 2]}`,
  '--admin-listen',
  `127.0.0.1:${ports[server * 2 + 1]}`,
];
/** An operator on the manifests, with a data directory and an admin port of its own. */
const operate = (data: string, port: number | undefined) => {
  const source = ['--source', 'files', '--manifests', join(directory, 'manifests'), '--data', join(directory, data)];
  return run('operate', ...source, '--admin-listen', `127.0.0.1:${port}`);
};

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'accord-processes-'));
  await cp(join(root, 'examples'), join(directory, 'manifests'), { recursive: true });
  ports = await Promise.all([0, 1, 2, 3, 4, 5].map(freePort));
  variables = {
    ACCORD_DATABASE_URL: empty.url,
    ACCORD_MIGRATION_URL: empty.adminUrl,
    ACCORD_MASTER_KEY: randomBytes(32).toString('base64url'),
    ACCORD_BASE_URL: 'https://accord.example',
  };
});
afterAll(async () => {
  await Promise.all(running.map((one) => one.stop()));
  await rm(directory, { recursive: true, force: true });
});

async function unlock(server: number, token: string): Promise<{ outcome: string }> {
  const response = await fetch(`http://127.0.0.1:${ports[server * 2]}/authz/carshare`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ subject: { id: 'alice' }, action: 'car:unlock', resource: { owner: 'alice' } }),
  });
  return (await response.json()) as { outcome: string };
}

test('serve refuses a database that was not migrated, and says what to do', async () => {
  await expect(accord(['serve', ...listening(0)], variables)).rejects.toThrow(/run accord migrate/);
});

test('migrate, twice', async () => {
  expect((await accord(['migrate'], variables)).stdout).toMatch(/Applied 000001_foundation\.sql/);
  expect((await accord(['migrate'], variables)).stdout).toMatch(/up to date/);
});

test('two servers and an operator: what a manifest says, both decide', async () => {
  const servers = [run('serve', ...listening(0)), run('serve', ...listening(1))];
  for (const server of servers) await server.says(/Serving https:\/\/accord\.example/);
  const operator = operate('data', ports[4]);
  await operator.says(/car-unlock\s+Ready/);
  const token = (
    await accord(['token', '--tenant', 'carshare', '--client', 'me', '--scope', 'authz:evaluate'], variables)
  ).stdout.trim();
  expect(await Promise.all([unlock(0, token), unlock(1, token)])).toEqual([{ outcome: 'allow' }, { outcome: 'allow' }]);
  const file = join(directory, 'manifests/carshare/policies/car-unlock.yaml');
  const text = await readFile(file, 'utf8');
  await writeFile(
    file,
    text.replace('outcome := "allow" if owner\n', 'outcome := "allow" if false\n').replace(/ {2}tests:[\s\S]*$/, ''),
  );
  for (const server of [0, 1]) {
    await until('a decision by the new policy', async () => (await unlock(server, token)).outcome === 'deny');
  }
});

test('a second operator waits until the first is gone', async () => {
  const second = operate('data2', ports[5]);
  await second.says(/wait/i);
  for (const port of [ports[4], ports[5]]) {
    await until(
      'an operator that is ready',
      async () => (await fetch(`http://127.0.0.1:${port}/ready`)).status === 200,
    );
  }
  const first = running[2] as Running;
  expect(await first.stop()).toBe(0);
  await writeFile(
    join(directory, 'manifests/late.yaml'),
    'apiVersion: accord.dev/v1alpha1\nkind: Tenant\nmetadata: { name: late }\nspec: { displayName: Late, audiences: [x] }\n',
  );
  await second.says(/late\s+Ready/);
});

test('another master key is refused at the start', async () => {
  const other = { ...variables, ACCORD_MASTER_KEY: randomBytes(32).toString('base64url') };
  await expect(accord(['serve', ...listening(0)], other)).rejects.toThrow(/ACCORD_MASTER_KEY/);
});

test('each stops in order', async () => {
  for (const one of running) expect(await one.stop()).toBe(0);
});
