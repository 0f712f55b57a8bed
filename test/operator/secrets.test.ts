/** Secrets that a Tenant refers to, and those in which its first members are invited. */
import { createHash } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Type } from 'typebox';
import { beforeEach, describe, expect, test } from 'vitest';
import { Bytes } from '../../server/core/db/rows.ts';
import { sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import type { MemberInvitationLink } from '../../server/members/index.ts';
import { placeOfSecret } from '../../server/tenants/index.ts';
import { createWorld, save, until } from './harness.ts';
import { tenantYaml } from './manifests.ts';
import { MemorySource } from './memory-source.ts';

const world = await createWorld();
const { rooms, database, encrypter } = world;
beforeEach(() => world.empty());

const mail = (more = '') =>
  `mail: {from: a@example.com, smtp: {host: mail.example.com, secretRef: {name: smtp}}}${more === '' ? '' : `\n  ${more}`}`;

const Secret = Type.Object({ name: Type.String(), encrypted: Bytes, digest: Type.String(), version: Type.String() });
async function storedSecret(tenant: string) {
  const row = await database.tenant(tenant, (tx) =>
    tx.maybe(Secret, sql`select name, encrypted, digest, xmin::text as version from accord.tenant_secret`),
  );
  if (row === undefined) return undefined;
  const value = JSON.parse(encrypter.decrypt(row.encrypted, placeOfSecret(tenant, row.name)).toString());
  return { ...row, value };
}
const revisionOf = async (tenant: string) => (await rooms.findTenant(tenant))?.revision;
const auditText = (tenant: string) =>
  database.tenant(tenant, (tx) =>
    tx.one(
      Type.Object({ text: Type.String() }),
      sql`select coalesce(jsonb_agg(to_jsonb(e))::text, '') as text from accord.audit_entry e where tenant = ${tenant}`,
    ),
  );

async function operate(source: MemorySource) {
  const run = world.operateOn(source);
  await run.operator.settled();
  return run;
}
const acceptedOf = (source: MemorySource, tenant: string) => source.condition(`Tenant//${tenant}`, 'Accepted');

describe("a Tenant's Secret", () => {
  test('is waited for by name, told what it lacks, encrypted when it comes, and again when it changes', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('posty', mail()));
    const run = await operate(source);
    expect(acceptedOf(source, 'posty')).toMatchObject({
      ...{ status: 'False', reason: 'SecretNotFound' },
      message: expect.stringContaining('Secret posty/smtp of spec.mail.smtp.secretRef not found'),
    });
    source.putSecret('posty', 'smtp', { username: 'u', password: '' });
    await until(() => acceptedOf(source, 'posty')?.message.includes('Secret posty/smtp has no key password'));
    source.putSecret('posty', 'smtp', { username: 'u', password: 'hunter2', other: 'x' });
    await until(() => acceptedOf(source, 'posty')?.status === 'True');
    const first = await storedSecret('posty');
    expect(first).toMatchObject({ name: 'mail.smtp', value: { username: 'u', password: 'hunter2' } });
    expect(first?.encrypted.toString('latin1')).not.toContain('hunter2');

    const revision = await revisionOf('posty');
    run.operator.resync();
    source.putSecret('posty', 'smtp', { username: 'u', password: 'hunter2', other: 'y' });
    await until(() => run.operator.idle());
    expect((await storedSecret('posty'))?.version).toBe(first?.version);
    expect(await revisionOf('posty')).toBe(revision);

    source.putSecret('posty', 'smtp', { username: 'u', password: 'hunter3' });
    await until(async () => (await storedSecret('posty'))?.value.password === 'hunter3');
    expect(await revisionOf('posty')).toBe((revision as number) + 1);
    expect((await auditText('posty')).text).toContain('tenant_secret');
    expect((await auditText('posty')).text).not.toMatch(/hunter/);

    source.putSecret('posty', 'smtp', undefined);
    await until(() => acceptedOf(source, 'posty')?.reason === 'SecretNotFound');
    expect(acceptedOf(source, 'posty')?.message).toContain('Generation 1 is still served.');
    expect((await storedSecret('posty'))?.value.password).toBe('hunter3');
    source.apply(tenantYaml('posty'));
    await until(async () => (await storedSecret('posty')) === undefined);
  });

  test('is read again when it changes between its reading and the end of the reconcile', async () => {
    const source = new MemorySource();
    const { read } = source.secrets;
    source.secrets.read = async (...of) => {
      const data = await read(...of);
      if (data?.password?.toString() === 'hunter2')
        source.putSecret('hasty', 'smtp', { username: 'u', password: 'hunter3' });
      return data;
    };
    source.putSecret('hasty', 'smtp', { username: 'u', password: 'hunter2' });
    source.apply(tenantYaml('hasty', mail()));
    await operate(source);
    await until(async () => (await storedSecret('hasty'))?.value.password === 'hunter3');
  });

  test('is read in the secretNamespace', async () => {
    const source = new MemorySource();
    source.putSecret('vault', 'smtp', { username: 'u', password: 'p' });
    source.apply(tenantYaml('vaulted', mail('secretNamespace: vault')));
    await operate(source);
    expect(acceptedOf(source, 'vaulted')).toMatchObject({
      ...{ status: 'True', message: 'Valid and stored.' },
    });
  });

  test('that may not be read says so; no answer is no refusal', async () => {
    const source = new MemorySource();
    const forbidden = Object.assign(new Error('secrets "smtp" is forbidden'), { status: 403 });
    source.refusals.set('locked', forbidden);
    source.apply(tenantYaml('locked', mail()));
    await operate(source);
    expect(acceptedOf(source, 'locked')).toMatchObject({
      ...{ reason: 'SecretNotFound', message: expect.stringContaining('"smtp" is forbidden') },
    });
    source.refusals.set('locked', Object.assign(new Error('away'), { status: 0 }));
    source.putSecret('locked', 'smtp', { username: 'u', password: 'p' });
    await until(() => world.observations.some((one) => one.kind === 'reconcile_failed'));
    source.refusals.clear();
    await until(() => acceptedOf(source, 'locked')?.status === 'True');
  });

  test('is bounded: secretValueBytesMax of a key', async () => {
    const source = new MemorySource();
    source.putSecret('long', 'smtp', { username: 'u', password: 'p'.repeat(limits.secretValueBytesMax) });
    source.apply(tenantYaml('long', mail()));
    await operate(source);
    expect(acceptedOf(source, 'long')?.status).toBe('True');
    source.putSecret('long', 'smtp', { username: 'u', password: 'p'.repeat(limits.secretValueBytesMax + 1) });
    await until(() => acceptedOf(source, 'long')?.reason === 'Invalid');
  });

  test('is left alone by a source that has no Secrets', async () => {
    const directory = await world.directory();
    await save(join(directory, 't.yaml'), tenantYaml('filed', mail()));
    const run = world.operate(directory);
    await run.operator.settled();
    expect((await rooms.findTenant('filed'))?.state).toBe('active');
    expect(await storedSecret('filed')).toBeUndefined();
  });
});

const people = 'securityAdmins: [boss@example.com, deputy@example.com]\n  supportDesk: {email: desk@example.com}';
const Row = Type.Object({
  email: Type.String(),
  role: Type.String(),
  delivered: Type.Boolean(),
  version: Type.String(),
});
const invitations = (tenant: string) =>
  database.tenant(tenant, (tx) =>
    tx.many(
      Row,
      sql`select email, role, delivered_at is not null as delivered, xmin::text as version from accord.member_invitation order by id`,
    ),
  );
const tried = (source: MemorySource, tenant: string) => source.condition(`Tenant//${tenant}`, 'InvitationsDelivered');

describe('the first members', () => {
  test('are invited in Secrets of the tenant, once, and nobody again', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('hello', people));
    const run = await operate(source);
    const boss = source.secret('hello', 'hello-security-admin-invitation');
    expect(boss?.labels).toEqual({ 'app.kubernetes.io/managed-by': 'accord' });
    const text = Object.fromEntries(Object.entries(boss?.data ?? {}).map(([key, value]) => [key, value.toString()]));
    expect(text).toEqual({
      email: 'boss@example.com',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8080\/portal\/invitations#hello\.[\w-]{43}$/),
      expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(source.secret('hello', 'hello-support-desk')?.data.email?.toString()).toBe('desk@example.com');
    const digest = createHash('sha256').update('deputy@example.com').digest('hex').slice(0, 8);
    const deputy = source.secret('hello', `hello-security-admin-invitation-${digest}`);
    expect(deputy?.data.email?.toString()).toBe('deputy@example.com');
    const before = await invitations('hello');
    expect(before.map(({ email, role, delivered }) => [email, role, delivered])).toEqual([
      ['boss@example.com', 'security-admin', true],
      ['deputy@example.com', 'security-admin', true],
      ['desk@example.com', 'support', true],
    ]);
    expect((await auditText('hello')).text).not.toContain((text.url as string).split('#')[1]);
    run.operator.resync();
    await until(() => run.operator.idle());
    await run.close();
    const again = await operate(source);
    source.apply(tenantYaml('hello', `${people}\n  limits: {maxPolicies: 9}`));
    await until(async () => ((await rooms.findTenant('hello'))?.spec.limits?.maxPolicies ?? 0) === 9);
    await until(() => again.operator.idle());
    expect(await invitations('hello')).toEqual(before);
    source.apply(tenantYaml('hello', 'securityAdmins: [boss@example.com, third@example.com]'));
    // Those whom it does not name any more are invited no longer.
    const emails = async () => (await invitations('hello')).map(({ email }) => email).join();
    await until(async () => (await emails()) === 'boss@example.com,third@example.com,support-desk@localhost');
    expect(source.secret('hello', 'hello-security-admin-invitation')?.data.email?.toString()).toBe('boss@example.com');
  });

  test('are invited when their namespace lets us; until then the Tenant is accepted and says why', async () => {
    const source = new MemorySource();
    source.refusals.set('shut', new Error('namespaces "shut" not found'));
    source.apply(tenantYaml('shut', people));
    const run = await operate(source);
    expect(acceptedOf(source, 'shut')?.status).toBe('True');
    expect(tried(source, 'shut')).toMatchObject({
      status: 'False',
      message: expect.stringContaining('"shut" not found'),
    });
    expect(source.events.filter(({ reason }) => reason === 'InvitationsWriteFailed')).toHaveLength(1);
    run.operator.resync();
    await until(() => run.operator.idle());
    expect(await invitations('shut')).toHaveLength(3);
    source.refusals.clear();
    run.operator.resync();
    await until(() => tried(source, 'shut')?.status === 'True');
    expect((await invitations('shut')).every(({ delivered }) => delivered)).toBe(true);
    expect(source.secret('shut', 'shut-support-desk')).toBeDefined();
  });

  test('do not overwrite a Secret of somebody else; one that we began is finished', async () => {
    const source = new MemorySource();
    source.putSecret('taken', 'taken-support-desk', { mine: 'x' });
    await source.secrets.create('taken', 'taken-security-admin-invitation', { url: 'of a try before' }, {});
    source.apply(tenantYaml('taken', people));
    await operate(source);
    expect(tried(source, 'taken')?.message).toContain('taken/taken-support-desk');
    expect(tried(source, 'taken')?.message).toContain('exists that Accord did not create');
    expect(source.secret('taken', 'taken-support-desk')?.data).toEqual({ mine: Buffer.from('x') });
    const url = source.secret('taken', 'taken-security-admin-invitation')?.data.url?.toString();
    expect(url).toContain('#taken.');
  });

  test('of an Observe Tenant, and of one that is refused, are not invited', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('looker', `${people}\n  managementPolicy: Observe`));
    source.apply(tenantYaml('halfway', `${people}\n  ${mail()}`));
    const run = await operate(source);
    expect(source.secret('halfway', 'halfway-support-desk')).toBeUndefined();
    source.putSecret('halfway', 'smtp', { username: 'u', password: 'p' });
    await until(() => source.secret('halfway', 'halfway-support-desk'));
    await until(() => run.operator.idle());
    expect(source.secret('looker', 'looker-support-desk')).toBeUndefined();
  });

  test('are invited in a file that only its owner reads, where there are no Secrets', async () => {
    const directory = await world.directory();
    const data = join(await world.directory(), 'invitations');
    const written: [string, MemberInvitationLink, string][] = [];
    await save(join(directory, 't.yaml'), tenantYaml('paper', people));
    const invitations = { directory: data, written: (...one: (typeof written)[number]) => void written.push(one) };
    const run = world.operate(directory, { invitations });
    await run.operator.settled();
    const path = join(data, 'paper.json');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(data)).mode & 0o777).toBe(0o700);
    const entries = JSON.parse(await readFile(path, 'utf8'));
    expect(entries.map(({ email, role }: { email: string; role: string }) => [email, role])).toEqual([
      ['boss@example.com', 'security-admin'],
      ['deputy@example.com', 'security-admin'],
      ['desk@example.com', 'support'],
    ]);
    expect(written.map(([tenant, { url }, at]) => [tenant, url, at])).toEqual(
      entries.map(({ url }: { url: string }) => ['paper', url, path]),
    );
    await run.close();
    await writeFile(path, 'not json');
    await save(join(directory, 't.yaml'), tenantYaml('paper', 'securityAdmins: [boss@example.com, new@example.com]'));
    const again = world.operate(directory, { invitations });
    await again.operator.settled();
    await until(() => written.length === 5);
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject([
      { email: 'new@example.com' },
      { email: 'support-desk@localhost' },
    ]);
  });
});

const Member = Type.Object({ email: Type.String(), role: Type.String() });
const members = (tenant: string) =>
  database.tenant(tenant, (tx) => tx.many(Member, sql`select email, role from accord.member order by email`));
const access = (source: MemorySource, tenant: string) => source.condition(`Tenant//${tenant}`, 'MemberAccess');

describe('the support desk', () => {
  test('of every Tenant gets an account and a link, and the status says where', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('plain'));
    await operate(source);
    expect(await members('plain')).toEqual([{ email: 'support-desk@localhost', role: 'support' }]);
    const secret = source.secret('plain', 'plain-support-desk');
    expect(secret?.data.email?.toString()).toBe('support-desk@localhost');
    expect(secret?.data.url?.toString()).toMatch(/\/portal\/invitations#plain\.[\w-]{43}$/);
    const told = tried(source, 'plain');
    expect(told).toMatchObject({
      status: 'True',
      message: expect.stringContaining('Secrets plain/plain-support-desk'),
    });
    expect(told?.message).not.toContain('@'); // every member of the tenant reads the status
    expect(access(source, 'plain')).toBeUndefined();
  });

  test('may have an address, and is removed when it is not wanted any more; wanted again, it gets another link', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('desk', 'supportDesk: {email: desk@example.com}'));
    const run = await operate(source);
    expect(await members('desk')).toEqual([{ email: 'desk@example.com', role: 'support' }]);
    const link = () => source.secret('desk', 'desk-support-desk')?.data.url?.toString();
    const first = link();
    source.apply(tenantYaml('desk', 'supportDesk: {enabled: false}'));
    await until(async () => (await members('desk')).length === 0);
    await until(() => run.operator.idle());
    expect(await invitations('desk')).toEqual([]);
    source.apply(tenantYaml('desk', 'supportDesk: {enabled: true, email: desk@example.com}'));
    await until(async () => (await members('desk')).length === 1);
    await until(() => link() !== first);
  });

  test('is not removed from whoever was given more since', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('grown', 'supportDesk: {email: desk@example.com}'));
    const run = await operate(source);
    await database.tenant('grown', (tx) => tx.run(sql`update accord.member set role = 'config-editor'`));
    source.apply(tenantYaml('grown', 'supportDesk: {enabled: false}'));
    await until(async () => (await invitations('grown')).length === 0);
    await until(() => run.operator.idle());
    expect(await members('grown')).toEqual([{ email: 'desk@example.com', role: 'config-editor' }]);
  });
});

describe('a Tenant that nobody can enter', () => {
  test('says so, until somebody can', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('closed', 'supportDesk: {enabled: false}'));
    await operate(source);
    expect(access(source, 'closed')).toMatchObject({
      ...{ status: 'False', reason: 'NoMember' },
      message: expect.stringContaining('accord token --tenant closed --role security-admin'),
    });
    expect(acceptedOf(source, 'closed')?.status).toBe('True');
    source.apply(tenantYaml('closed', 'supportDesk: {enabled: false}\n  securityAdmins: [boss@example.com]'));
    await until(() => access(source, 'closed') === undefined);
  });

  test('is one whose links have all expired, and not one where somebody came in before', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('late'));
    source.apply(tenantYaml('lived'));
    const run = await operate(source);
    await database.tenant('lived', (tx) => tx.run(sql`update accord.member_invitation set used_at = now()`));
    for (const tenant of ['late', 'lived']) {
      expect(access(source, tenant)).toBeUndefined();
      await database.tenant(tenant, (tx) =>
        tx.run(sql`update accord.member_invitation set expires_at = now() - interval '1 second'`),
      );
    }
    run.operator.resync();
    await until(() => access(source, 'late')?.status === 'False');
    await until(() => run.operator.idle());
    expect(access(source, 'lived')).toBeUndefined();
    // What the links were is not said any more.
    expect(tried(source, 'late')).toBeUndefined();
  });

  test('is one whose links could not be handed over', async () => {
    const source = new MemorySource();
    source.refusals.set('walled', new Error('secrets is forbidden'));
    source.apply(tenantYaml('walled'));
    await operate(source);
    expect(access(source, 'walled')?.status).toBe('False');
    expect(tried(source, 'walled')?.status).toBe('False');
  });
});
