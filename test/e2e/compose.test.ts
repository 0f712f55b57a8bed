/**
 * compose.yaml without Docker: what it says is checked strictly, and what each service of Accord runs is run, with its environment and
 * in the order of its conditions, against a real Postgres of its own that has the roles which the service `secrets` wrote. Paths of
 * containers are folders of the test, and the ports are free ones.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type EmbeddedPostgres, startPostgres } from '../../server/embedded/postgres.ts';
import { freePort } from '../helpers/free-port.ts';
import { type PostgresProxy, startPostgresProxy } from '../helpers/postgres-proxy.ts';
import { untilPasses } from '../helpers/wait.ts';
import { accord, environment, Running, root } from './accord.ts';

type Service = {
  image: string;
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
  [name: string]: unknown;
};
type Compose = { services: Record<string, Service>; volumes: Record<string, null>; [name: string]: unknown };

const compose = parse(readFileSync(join(root, 'compose.yaml'), 'utf8'), { merge: true }) as Compose;
const { services, volumes } = compose;
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');

const work = mkdtempSync(join(tmpdir(), 'compose-'));
const folder = (volume: string) => (volume.startsWith('.') ? join(root, volume) : join(work, volume));
const running: Running[] = [];
let postgres: EmbeddedPostgres;
let proxy: PostgresProxy;

beforeAll(async () => {
  postgres = await startPostgres(join(work, 'pg'), { durable: false });
  proxy = await startPostgresProxy(postgres.adminUrl('postgres'));
});
afterAll(async () => {
  await Promise.all(running.map((one) => one.stop()));
  await proxy?.cut();
  await postgres?.stop();
  rmSync(work, { recursive: true, force: true });
});

/** A text of a service as it is on this machine: its paths are folders, and Postgres is behind the proxy. */
function here(service: Service, text: string): string {
  let result = text.replace(/\$\{\w+:-([^}]*)\}/g, '$1');
  for (const [from = '', to = ''] of (service.volumes ?? []).map((one) => one.split(':')))
    if (result === to || result.startsWith(`${to}/`)) result = folder(from) + result.slice(to.length);
  return result.replace(/^postgres:5432$/, new URL(proxy.url).host).replace(/^\/app\//, `${root}/`);
}
const variables = (service: Service, more: Record<string, string> = {}) => ({
  ...Object.fromEntries(Object.entries(service.environment ?? {}).map(([name, value]) => [name, here(service, value)])),
  ...more,
});
const command = (service: Service) => (service.command ?? []).map((one) => here(service, one));
const of = (name: string) => services[name] as Service;

/** What a container's engine runs to see whether it is healthy, with the Node of this test. */
function check(service: Service, listen: string) {
  const [kind, program, ...args] = service.healthcheck?.test ?? [];
  expect([kind, program]).toEqual(['CMD', '/usr/local/bin/node']);
  const env = { ...environment(), ACCORD_ADMIN_LISTEN: listen };
  return promisify(execFile)(
    process.execPath,
    args.map((one) => here(service, one)),
    { env },
  );
}

test('it uses what the Compose Specification has, and nothing that is not defined', () => {
  expect(
    Object.keys(compose)
      .filter((name) => !name.startsWith('x-'))
      .sort(),
  ).toEqual(['name', 'services', 'volumes']);
  const known = [
    ...['build', 'cap_add', 'cap_drop', 'command', 'depends_on', 'entrypoint', 'environment', 'healthcheck', 'image'],
    ...['network_mode', 'ports', 'read_only', 'restart', 'security_opt', 'stop_grace_period', 'user', 'volumes'],
  ];
  const conditions = ['service_started', 'service_healthy', 'service_completed_successfully'];
  for (const [name, service] of Object.entries(services)) {
    expect([name, Object.keys(service).filter((one) => !known.includes(one))]).toEqual([name, []]);
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      expect(Object.keys(services)).toContain(other);
      expect(conditions).toContain(condition);
      if (condition === 'service_healthy') expect(services[other]?.healthcheck).toBeDefined();
      if (condition === 'service_completed_successfully') expect(services[other]?.restart).toBe('no');
    }
    for (const volume of service.volumes ?? []) {
      const [from = '', to, mode = 'rw', ...rest] = volume.split(':');
      expect([from.startsWith('./') || from in volumes, to?.startsWith('/'), /^r[ow]$/.test(mode), rest]).toEqual([
        true,
        true,
        true,
        [],
      ]);
    }
    for (const value of Object.values(service.environment ?? {})) expect(typeof value).toBe('string');
    const times = Object.entries(service.healthcheck ?? {}).filter(([one]) => !['test', 'retries'].includes(one));
    for (const [, time] of times) expect(time).toMatch(/^\d+s$/);
  }
});

test('its images are the chart’s Postgres, by digest, and this version of ours', () => {
  const chart = parse(readFileSync(join(root, 'charts/accord/values.yaml'), 'utf8')) as {
    postgresql: { image: { repository: string; tag: string } };
  };
  const { repository, tag } = chart.postgresql.image;
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const images = Object.fromEntries(Object.entries(services).map(([name, { image }]) => [name, image]));
  const own = `accord:${version}`;
  expect(images).toEqual({ secrets: own, postgres: `${repository}:${tag}`, migrate: own, serve: own, operate: own });
  // Where they listen is said by the image alone.
  expect(dockerfile).toContain('ACCORD_LISTEN=0.0.0.0:8080');
  expect(of('serve').ports).toEqual(['127.0.0.1:8080:8080']);
});

test('no secret is in its text or in an environment', () => {
  for (const { environment: given = {} } of Object.values(services))
    for (const [name, value] of Object.entries(given))
      if (/PASSWORD|KEY|_URL|SECRET/.test(name) && name !== 'ACCORD_BASE_URL')
        expect(value).toMatch(/^\/run\/[a-z-]+(\/[a-z-]+)?$/);
});

test('secrets: made once, for their owners only', async () => {
  const service = of('secrets');
  const [, script = ''] = service.entrypoint ?? [];
  const run = () =>
    promisify(execFile)(process.execPath, [here(service, script)], {
      env: { ...environment(), ...variables(service) },
    });
  expect((await run()).stdout).toBe('Made the secrets.\n');
  const file = join(folder('accord-secrets'), 'master-key');
  const before = readFileSync(file, 'utf8');
  expect(statSync(file).mode & 0o777).toBe(0o400);
  expect((await run()).stdout).toBe('The secrets are there.\n');
  expect(readFileSync(file, 'utf8')).toBe(before);
});

test('postgres: its superuser makes the roles and the database', async () => {
  const files = of('postgres').volumes?.filter((one) => one.includes('/docker-entrypoint-initdb.d')) ?? [];
  expect(files).toEqual(['database-secrets:/docker-entrypoint-initdb.d:ro']);
  const password = here(of('postgres'), of('postgres').environment?.POSTGRES_PASSWORD_FILE ?? '');
  expect(readFileSync(password, 'utf8')).toMatch(/^[\w-]{43}\n$/);
  const client = new pg.Client(postgres.adminUrl('postgres'));
  await client.connect();
  // The embedded one has a role of this name already.
  await client.query('drop role accord');
  const statements = readFileSync(join(folder('database-secrets'), 'roles.sql'), 'utf8')
    .trim()
    .split('\n');
  for (const statement of statements) await client.query(statement);
  await client.end();
});

test('migrate, serve and operate: a manifest of ./examples decides', async () => {
  const migrated = await accord(command(of('migrate')), variables(of('migrate')));
  expect(migrated.stdout).toMatch(/^Applied 000001_/);
  expect((await accord(command(of('migrate')), variables(of('migrate')))).stdout).toContain('up to date');

  const [api, admin, operatorAdmin] = (await Promise.all([freePort(), freePort(), freePort()])).map(
    (one) => `127.0.0.1:${one}`,
  );
  const listening = { ACCORD_LISTEN: api as string, ACCORD_ADMIN_LISTEN: admin as string };
  await expect(check(of('serve'), admin as string)).rejects.toThrow(/Command failed/);
  const serve = new Running(command(of('serve')), variables(of('serve'), listening));
  const operate = new Running(
    command(of('operate')),
    variables(of('operate'), { ACCORD_ADMIN_LISTEN: operatorAdmin as string }),
  );
  running.push(serve, operate);
  await operate.says(/car-unlock\s+Ready/);
  await untilPasses('a healthy server', () => check(of('serve'), admin as string));
  await untilPasses('a healthy operator', () => check(of('operate'), operatorAdmin as string));

  // As docs/operations.md says: `docker compose exec serve accord token …`.
  const args = ['token', '--tenant', 'carshare', '--client', 'me', '--scope', 'authz:evaluate'];
  const token = (await accord(args, variables(of('serve'), listening))).stdout.trim();
  const response = await fetch(`http://${api}/authz/carshare`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ subject: { id: 'alice' }, action: 'car:unlock', resource: { owner: 'alice' } }),
  });
  expect(await response.json()).toEqual({ outcome: 'allow' });
  const secret = join(folder('operator'), 'secrets/carshare/carshare-backend.json');
  await untilPasses('the file of the secret', () => expect(readFileSync(secret, 'utf8')).toContain('client_secret'));
  expect(await Promise.all([serve.stop(), operate.stop()])).toEqual([0, 0]);
});
