/** URLs with several hosts: which servers they name, and that the primary is found, also after another server has become it. */
import { appendFile, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { createApp } from '../../server/app.ts';
import { readConfig } from '../../server/core/config.ts';
import { Database, type Transaction } from '../../server/core/db/database.ts';
import { assertSchema, migrate } from '../../server/core/db/migrate.ts';
import { sql } from '../../server/core/db/sql.ts';
import { urlsOf } from '../../server/core/db/urls.ts';
import { startPostgres } from '../../server/embedded/postgres.ts';
import { ensureLocalMember, mintPortalToken } from '../../server/members/index.ts';
import { createServices } from '../../server/services.ts';
import { putTenant } from '../../server/tenants/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { postmasterPid, removeShared } from '../helpers/cluster-files.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { manifestWriter, masterKey, tenantSpec } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';

describe('a URL', () => {
  test.each([
    ['postgres://u:p@a/db', ['postgres://u:p@a/db'], 'any'],
    ['postgres://u:p%2Cq@a:5433/db?sslmode=verify-full', ['postgres://u:p%2Cq@a:5433/db?sslmode=verify-full'], 'any'],
    ['postgres://u@/db?host=/x&target_session_attrs=any', ['postgres://u@/db?host=/x&target_session_attrs=any'], 'any'],
    ['postgres://u:p@a:5433,b/db', ['postgres://u:p@a:5433/db', 'postgres://u:p@b/db'], 'primary'],
    [
      'postgresql://u:p,q@[::1]:1,b:2/db?sslmode=require&target_session_attrs=read-write',
      ['postgresql://u:p,q@[::1]:1/db?sslmode=require', 'postgresql://u:p,q@b:2/db?sslmode=require'],
      'read-write',
    ],
    ['postgres://u@a/db?target_session_attrs=primary', ['postgres://u@a/db'], 'primary'],
    [
      'postgres://u@/db?host=/x,/y&port=1,2',
      ['postgres://u@/db?host=%2Fx&port=1', 'postgres://u@/db?host=%2Fy&port=2'],
      'primary',
    ],
    [
      'postgres://u@/db?host=/x,/y&port=1',
      ['postgres://u@/db?host=%2Fx&port=1', 'postgres://u@/db?host=%2Fy&port=1'],
      'primary',
    ],
  ])('%s', (url, urls, wanted) => {
    expect(urlsOf(url)).toEqual({ urls, wanted });
  });

  test.each([
    [
      'postgres://a,b/db?target_session_attrs=standby',
      /target_session_attrs must be any, primary or read-write, not standby/,
    ],
    ['postgres://u:secret@a,/db', /each of the hosts, which commas separate, must have a name/],
    ['postgres://u:secret@a, b/db', /must have a name without spaces/],
    ['postgres://u:secret@/db?host=a,b,c&port=1,2', /one port, or one for each of the 3 hosts/],
  ])('%s is refused at the start, without its password', (url, what) => {
    const read = () => readConfig({ ACCORD_DATABASE_URL: url, ACCORD_MIGRATION_URL: url });
    expect(read).toThrow(what);
    expect(read).not.toThrow(/secret/);
  });
});

test('a connection that ends while its server is asked what it is fails alone, and one that is silent does so in time', async () => {
  const { url } = await createTestDatabase();
  const { host, port } = new pg.Client({ connectionString: url });
  const socket = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  let ends = true;
  const proxy = createServer((client) => {
    const server = connect(socket as never);
    client.on('data', (chunk) => {
      if (chunk[0] !== 0x51)
        server.write(chunk); // Q: a simple query
      else if (ends) client.destroy();
    });
    server.on('data', (chunk) => client.write(chunk));
    client.on('error', () => {}).on('close', () => server.destroy());
    server.on('error', () => {}).on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  closeAtEnd(() => proxy.close());
  const at = `127.0.0.1&port=${(proxy.address() as AddressInfo).port}`;
  const through = `${url.replace(/host=[^&]*&port=\d+/, `host=${at}`)}&target_session_attrs=primary`;
  const database = new Database({ url: through, poolMax: 2, applicationName: 'test', observe: () => {} });
  closeAtEnd(() => database.close());
  const asked = () => database.read('t', (tx) => tx.run(sql`select 1`));
  await expect(asked()).rejects.toThrow();
  ends = false;
  await expect(asked()).rejects.toThrow(/timeout/i);
});

test('after a write that found the database read-only, no connection of before is used again', async () => {
  const { database } = await createTestDatabase();
  const pids = async () => {
    const all = Array.from({ length: 3 }, (_, n) =>
      database.read(`t${n}`, (tx) => tx.one(Type.Object({ pid: Type.Integer() }), sql`select pg_backend_pid() as pid`)),
    );
    return (await Promise.all(all)).map(({ pid }) => pid);
  };
  const before = await pids();
  expect(await pids()).toEqual(expect.arrayContaining(before));
  const write = async (tx: Transaction) => {
    await tx.run(sql`set transaction read only`);
    await tx.run(sql`create table accord.never (n integer)`);
  };
  await expect(database.tenant('t', write)).rejects.toMatchObject({ code: '25006' });
  const after = await pids();
  expect(after.filter((pid) => before.includes(pid))).toEqual([]);
  // A reading that writes is a fault of ours, and tells nothing of the database.
  await expect(database.read('t', (tx) => tx.run(sql`create table accord.never (n integer)`))).rejects.toThrow(
    /a reading must not write: .*read-only/,
  );
  expect(await pids()).toEqual(expect.arrayContaining(after));
});

test('a standby is left for the primary, and becomes it: what was accepted is there, and writes go on', async () => {
  const work = await mkdtemp(join(tmpdir(), 'failover-'));
  closeAtEnd(() => rm(work, { recursive: true, force: true }));
  const [a, b] = [join(work, 'a'), join(work, 'b')];
  const made = await startPostgres(a, { durable: false });
  await asAdmin(made.adminUrl('postgres'), 'create database accord');
  await migrate(made.adminUrl('accord'), { runtimeRole: made.role });
  await made.stop();
  await cp(a, b, { recursive: true, preserveTimestamps: true });
  await follow(b, made.adminUrl('postgres'));
  const primary = await startPostgres(a, { durable: false });
  closeAtEnd(() => removeShared(a));
  closeAtEnd(() => primary.stop());
  const standby = await startPostgres(b, { durable: false });
  closeAtEnd(() => standby.stop());
  // What is acknowledged is on the standby.
  await asAdmin(primary.adminUrl('postgres'), `alter system set synchronous_standby_names = 'standby'`);
  await asAdmin(primary.adminUrl('postgres'), 'alter database accord set synchronous_commit = on');
  await asAdmin(primary.adminUrl('postgres'), 'select pg_reload_conf()');

  const url = primary.url('accord').replace(/host=[^&]*/, `host=${encodeURIComponent(b)},${encodeURIComponent(a)}`);
  await assertSchema(url);
  const config = readConfig({
    ACCORD_DATABASE_URL: url,
    ACCORD_MASTER_KEY: masterKey,
    ACCORD_BASE_URL: 'http://accord.test',
    ACCORD_LOG_LEVEL: 'silent',
    ACCORD_RATE_LIMIT: '0',
    ACCORD_MAX_STALENESS: '300',
  });
  const observed: string[] = [];
  const services = await createServices(config, {
    applicationName: 'serve',
    observe: ({ kind }) => observed.push(kind),
  });
  closeAtEnd(() => services.close());
  await services.snapshots.start();
  closeAtEnd(() => services.snapshots.close());
  const app = await createApp(config, services, { eventLoopDelayMsMax: 0 });
  closeAtEnd(() => app.close());
  const tenant = 'failover';
  await putTenant(services.tenants, manifestWriter, tenant, tenantSpec());
  await services.snapshots.refresh(tenant);
  const member = await ensureLocalMember(services.members, tenant, 'config-editor');
  const editor = (await mintPortalToken(services.members, tenant, member, 'test')).token;
  const headers = { authorization: `Bearer ${editor}` };
  let written = 0;
  const accepted: string[] = [];
  const put = async () => {
    const name = `p${++written}`;
    const payload = { rego: 'package p\noutcome := "allow"' };
    const { statusCode } = await app.inject({
      method: 'PUT',
      url: `/tenants/${tenant}/policies/${name}`,
      headers,
      payload,
    });
    if (statusCode === 200) accepted.push(name);
    return statusCode;
  };
  for (let n = 0; n < 10; n++) expect(await put()).toBe(200);

  process.kill(await postmasterPid(a), 'SIGKILL');
  await until('a write that is refused', async () => (await put()) === 503);
  await asAdmin(standby.adminUrl('postgres'), 'select pg_promote()');
  await until('a write on the new primary', async () => (await put()) === 200);
  await until('a connection that listens there', () => observed.includes('listen_reconnected'));
  for (let n = 0; n < 10; n++) expect(await put()).toBe(200);
  await until('notifications', () => !services.snapshots.isDeaf);
  const list = await app.inject({ url: `/tenants/${tenant}/policies?limit=100`, headers });
  expect(list.json().resources).toEqual(expect.arrayContaining(accepted));
});

/** Makes a copy of a cluster the standby of it. */
async function follow(directory: string, primaryUrl: string): Promise<void> {
  const password = /:([^@:]+)@/.exec(primaryUrl)?.[1];
  const host = decodeURIComponent(/host=([^&]*)/.exec(primaryUrl)?.[1] as string);
  const info = `host=${host} port=5432 user=postgres password=${password} application_name=standby`;
  await appendFile(join(directory, 'data/postgresql.auto.conf'), `primary_conninfo = '${info}'\n`);
  await writeFile(join(directory, 'data/standby.signal'), '');
}
