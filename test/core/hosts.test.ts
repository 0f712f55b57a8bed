/** URLs with several hosts: which servers they name, and that the one that takes writes is found, also after another has become it. */
import { appendFile, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createApp } from '../../server/app.ts';
import { readConfig } from '../../server/core/config.ts';
import { urlsOf } from '../../server/core/db/hosts.ts';
import { assertSchema, migrate } from '../../server/core/db/migrate.ts';
import { startPostgres } from '../../server/embedded/postgres.ts';
import { ensureLocalMember, mintPortalToken } from '../../server/members/index.ts';
import { createServices } from '../../server/services.ts';
import { putTenant } from '../../server/tenants/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { manifestWriter, masterKey, tenantSpec } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';

describe('a URL', () => {
  test.each([
    ['postgres://u:p@a/db', ['postgres://u:p@a/db'], false],
    ['postgres://u:p%2Cq@a:5433/db?sslmode=verify-full', ['postgres://u:p%2Cq@a:5433/db?sslmode=verify-full'], false],
    ['postgres://u:p@a:5433,b/db', ['postgres://u:p@a:5433/db', 'postgres://u:p@b/db'], true],
    [
      'postgresql://u@[::1]:1,b:2/db?sslmode=require&target_session_attrs=read-write',
      ['postgresql://u@[::1]:1/db?sslmode=require', 'postgresql://u@b:2/db?sslmode=require'],
      true,
    ],
    ['postgres://u@a/db?target_session_attrs=primary', ['postgres://u@a/db'], true],
    [
      'postgres://u@/db?host=/x,/y&port=1,2',
      ['postgres://u@/db?host=%2Fx&port=1', 'postgres://u@/db?host=%2Fy&port=2'],
      true,
    ],
    [
      'postgres://u@/db?host=/x,/y&port=1',
      ['postgres://u@/db?host=%2Fx&port=1', 'postgres://u@/db?host=%2Fy&port=1'],
      true,
    ],
  ])('%s', (url, urls, isChecked) => {
    expect(urlsOf(url)).toEqual({ urls, isChecked });
  });

  test('that asks for a standby is refused', () => {
    expect(() => urlsOf('postgres://a,b/db?target_session_attrs=standby')).toThrow(
      'target_session_attrs in a database URL must be read-write or primary, not standby',
    );
  });
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
  closeAtEnd(() => primary.stop());
  const standby = await startPostgres(b, { durable: false });
  closeAtEnd(() => standby.stop());
  // What is acknowledged is on the standby.
  await asAdmin(primary.adminUrl('postgres'), `alter system set synchronous_standby_names = 'standby'`);
  await asAdmin(primary.adminUrl('postgres'), `alter system set synchronous_commit = 'on'`);
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

  await primary.stop();
  expect(await put()).toBe(503);
  await asAdmin(standby.adminUrl('postgres'), 'select pg_promote()');
  await until('a write on the new primary', async () => (await put()) === 200);
  await until('a connection that listens there', () => observed.includes('listen_reconnected'));
  for (let n = 0; n < 10; n++) expect(await put()).toBe(200);
  expect(services.snapshots.isDeaf).toBe(false);
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
