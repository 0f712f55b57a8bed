/** C/accounts: what members see of accounts, and do with them; erasing a person. */
import { describe, expect, test } from 'vitest';
import { logIn, readAccount, requestPasswordReset, resetPassword } from '../../server/accounts/index.ts';
import { sweepAccounts } from '../../server/accounts/sweep.ts';
import { Count } from '../../server/core/db/rows.ts';
import { sql } from '../../server/core/db/sql.ts';
import { utc } from '../../server/core/instants.ts';
import { limits } from '../../server/core/limits.ts';
import { eraseActor } from '../../server/erasure/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createAccountsServer, password, tokenOf } from './accounts.ts';

const server = await createAccountsServer();
const { services, clock } = server;
const { accounts } = services;

async function setting() {
  const tenant = await server.tenant();
  const send = async (
    role: 'security-admin' | 'config-editor' | 'config-viewer' | 'support',
    path: string,
    method: 'GET' | 'PUT' | 'DELETE' | 'POST' = 'GET',
    payload?: object,
  ) => {
    const token = await server.member(tenant, role);
    const response = await server.app.inject({
      ...{ method, url: `/tenants/${tenant}/accounts${path}`, headers: { authorization: `Bearer ${token}` } },
      ...(payload ? { payload } : {}),
    });
    return { status: response.statusCode, body: response.json(), headers: response.headers };
  };
  return { tenant, send };
}

describe('GET C/accounts', () => {
  test('is paged by address, and searched by its beginning', async () => {
    const { tenant, send } = await setting();
    for (const one of ['bob', 'alice', 'alf', 'al_x']) await server.account(tenant, `${one}@example.org`);
    const emails = (body: { accounts: { email: string }[] }) => body.accounts.map(({ email }) => email.split('@')[0]);
    const first = await send('security-admin', '?limit=3');
    expect(emails(first.body)).toEqual(['al_x', 'alf', 'alice']);
    const second = await send('security-admin', `?limit=3&cursor=${first.body.cursor}`);
    expect(emails(second.body)).toEqual(['bob']);
    expect(second.body).not.toHaveProperty('cursor');
    expect(emails((await send('config-editor', '?prefix=AL')).body)).toEqual(['al_x', 'alf', 'alice']);
    expect(emails((await send('security-admin', '?prefix=al_')).body)).toEqual(['al_x']);
    expect((await send('security-admin', '?prefix=%25')).body.accounts).toEqual([]);
    expect((await send('security-admin', `?cursor=${'x'.repeat(40)}`)).status).toBe(400);
    const most = 'x'.repeat(limits.accountPrefixCharsMax);
    expect((await send('security-admin', `?prefix=${most}`)).status).toBe(200);
    expect((await send('security-admin', `?prefix=${most}x`)).status).toBe(400);
  });

  test('shows no secret, and to the support desk neither ids nor addresses', async () => {
    const { tenant, send } = await setting();
    const alice = await server.account(tenant, 'alice@example.org');
    await server.account(tenant, 'bob@example.org');
    const { epoch: _, ...shown } = alice;
    expect((await send('security-admin', `/${alice.id}`)).body).toEqual(shown);
    const masked = await send('support', '?limit=1');
    const all = (await send('support', '')).body.accounts;
    expect(all).toContainEqual({ ...shown, id: '***', email: 'a***@example.org' });
    expect(masked.body.accounts).toEqual(all.slice(0, 1));
    const cursor = Buffer.from(masked.body.cursor, 'base64url').toString();
    const inside = Buffer.from(JSON.parse(cursor)[1], 'base64url').toString();
    expect(cursor + inside).not.toContain('alice');
    expect((await send('support', `?cursor=${masked.body.cursor}`)).body.accounts).toEqual(all.slice(1));
    expect((await send('security-admin', `?cursor=${masked.body.cursor}`)).body.code).toBe('invalid_request');
    const ofAdmin = (await send('security-admin', '?limit=1')).body.cursor;
    expect((await send('support', `?cursor=${ofAdmin}`)).body.code).toBe('invalid_request');
    expect((await send('support', '?prefix=a')).status).toBe(403);
    expect((await send('support', `/${alice.id}`)).status).toBe(403);
    expect((await send('config-viewer', '')).status).toBe(403);
  });

  test('has for the support desk no order that tells addresses', async () => {
    const { tenant, send } = await setting();
    const made: { id: string; email: string }[] = [];
    for (let n = 0; n < 12; n++)
      made.push(await server.account(tenant, `user${n % 2 ? 20 - n : n + 20}@t${n}.example`));
    const domains = (of: { email: string }[]) => of.map(({ email }) => email.split('@')[1]);
    const shown = domains((await send('support', '')).body.accounts);
    expect(shown).toEqual(domains(made.toSorted((a, b) => (a.id < b.id ? -1 : 1))));
    expect(shown).not.toEqual(domains((await send('security-admin', '')).body.accounts));
  });

  test('is of one tenant', async () => {
    const [one, two] = [await setting(), await setting()];
    const { id } = await server.account(one.tenant, 'alice@example.org');
    expect((await two.send('security-admin', '')).body).toEqual({ accounts: [] });
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const payload = method === 'PUT' ? { enabled: false } : undefined;
      const answer = await two.send('security-admin', `/${id}`, method, payload);
      expect(answer).toMatchObject({ status: 404, body: { code: 'account_not_found' } });
    }
    expect((await one.send('security-admin', '/not-a-uuid')).status).toBe(404);
  });
});

describe('changing', () => {
  test('disables, enables and deletes, and the audit tells of it', async () => {
    const { tenant, send } = await setting();
    const { id, email } = await server.account(tenant, 'alice@example.org');
    expect((await send('config-editor', `/${id}`, 'PUT', { enabled: false })).status).toBe(403);
    const disabled = await send('security-admin', `/${id}`, 'PUT', { enabled: false });
    expect(disabled).toMatchObject({
      status: 200,
      body: {},
      headers: { 'accord-revision': expect.stringMatching(/^c\d+$/) },
    });
    expect(await readAccount(accounts, tenant, id)).toBeUndefined();
    expect(await logIn(accounts, tenant, { email, password })).toEqual({ refused: 'credentials' });
    await send('security-admin', `/${id}`, 'PUT', { enabled: false });
    await send('security-admin', `/${id}`, 'PUT', { enabled: true });
    expect(await logIn(accounts, tenant, { email, password })).toMatchObject({ account: { id, epoch: 3 } });
    expect((await send('security-admin', `/${id}`, 'DELETE')).status).toBe(200);
    expect(await logIn(accounts, tenant, { email, password })).toEqual({ refused: 'credentials' });
    expect((await send('security-admin', `/${id}`, 'DELETE')).status).toBe(404);
    const entries = await asAdmin<{ action: string; actor: string }>(
      server.db.adminUrl,
      `select action, actor #>> '{}' as actor from accord.audit_entry where object_kind = 'account' and object_name = 'user/${id}' order by at, id`,
    );
    expect(entries).toEqual([
      { action: 'create', actor: `user:user:${id}` },
      { action: 'disable', actor: 'member:security-admin@localhost' },
      { action: 'enable', actor: 'member:security-admin@localhost' },
      { action: 'delete', actor: 'member:security-admin@localhost' },
    ]);
  });

  test('mails a link for a new password', async () => {
    const { tenant, send } = await setting();
    const { id } = await server.account(tenant, 'alice@example.org');
    expect((await send('support', `/${id}/reset`, 'POST')).status).toBe(403);
    expect((await send('security-admin', `/${id}/reset`, 'POST')).status).toBe(200);
    expect(await server.mails()).toMatchObject([
      { to: 'alice@example.org', subject: 'Choose a new password for Test' },
    ]);
  });
});

describe('erasing', () => {
  const rows = async (tenant: string, table: string) =>
    (
      await asAdmin<{ count: number }>(
        server.db.adminUrl,
        `select count(*)::int as count from accord.${table} where tenant = '${tenant}'`,
      )
    )[0]?.count;

  test('a person removes the account, its mails and its attempts, and the id from the audit', async () => {
    const { tenant, send } = await setting();
    const { id, email } = await server.account(tenant, 'alice@example.org');
    const bob = await server.account(tenant, 'bob@example.org');
    await send('security-admin', `/${id}/reset`, 'POST');
    await logIn(accounts, tenant, { email, password: 'wrong' });
    // One more than a portion removes, to the same address.
    await asAdmin(
      server.db.adminUrl,
      `insert into accord.mail_message (tenant, id, template, language, transactional, recipient_digest, recipient_mask,
          content_encrypted, next_at, created_at, expires_at, kept_until)
        select tenant, gen_random_uuid(), template, language, transactional, recipient_digest, recipient_mask, content_encrypted,
          next_at, created_at, expires_at, kept_until
        from accord.mail_message, generate_series(1, ${limits.erasePageItemsMax}) where tenant = '${tenant}'`,
    );
    const by = { actor: { type: 'user', id }, name: 'test', requestId: 'r' };
    const report = await eraseActor(services.erasure, tenant, by, { type: 'user', id, contacts: [] });
    expect(report).toMatchObject({ status: 'erased', removed: { accounts: 1, mails: limits.erasePageItemsMax + 1 } });
    expect(await readAccount(accounts, tenant, id)).toBeUndefined();
    expect(await readAccount(accounts, tenant, bob.id)).toEqual(bob);
    for (const table of ['login_attempt', 'mail_message', 'account_token']) expect(await rows(tenant, table)).toBe(0);
    const [named] = await asAdmin<{ count: number }>(
      server.db.adminUrl,
      `select count(*)::int as count from accord.audit_entry where tenant = '${tenant}' and (object_name || actor::text || coalesce(detail::text, '')) like '%${id}%'`,
    );
    expect(named?.count).toBe(0);
  });

  test('an actor of another id keeps the account with one of its addresses, and says so', async () => {
    const { tenant } = await setting();
    const alice = await server.account(tenant, 'alice@example.org');
    const by = { actor: { type: 'user', id: 'x' }, name: 'test', requestId: 'r' };
    const wanted = { type: 'user', id: 'auth0|1', contacts: ['alice@example.org'] };
    const report = await eraseActor(services.erasure, tenant, by, wanted);
    expect(report.kept).toContainEqual(expect.objectContaining({ what: expect.stringContaining('another id') }));
    expect(await readAccount(accounts, tenant, alice.id)).toEqual(alice);
  });
});

test('what has expired is swept, and nothing else', async () => {
  const { tenant, send } = await setting();
  const { id } = await server.account(tenant, 'alice@example.org');
  await send('security-admin', `/${id}/reset`, 'POST');
  await logIn(accounts, tenant, { email: 'alice@example.org', password: 'wrong' });
  const counts = () =>
    services.database.tenantSnapshot(tenant, (tx) =>
      tx.one(
        Count,
        sql`select ((select count(*) from accord.account_token) + (select count(*) from accord.login_attempt))::int as count`,
      ),
    );
  const sweep = () =>
    sweepAccounts(services.database, { now: utc(clock.now()), forget: utc(clock.now() - limits.loginForgetMs) });
  await sweep();
  expect((await counts()).count).toBe(2);
  clock.advance(limits.loginForgetMs);
  await sweep();
  expect((await counts()).count).toBe(0);
});

describe("an account's access tokens", () => {
  async function calling() {
    const { tenant, send } = await setting();
    const { id, email } = await server.account(tenant, 'alice@example.org');
    const call = async (token: string) => {
      const url = `/${tenant}/consents/me`;
      return (await server.app.inject({ url, headers: { authorization: `Bearer ${token}` } })).statusCode;
    };
    return { tenant, send, id, email, call, mint: () => server.user(tenant, id, email) };
  }

  test('are refused from the next request on that follows disabling: Z CVE-2023-22492', async () => {
    const { send, id, call, mint } = await calling();
    const token = await mint();
    expect(await call(token)).toBe(200);
    await send('security-admin', `/${id}`, 'PUT', { enabled: false });
    expect(await call(token)).toBe(401);
    clock.advance(2000);
    expect(await call(await mint())).toBe(401);
    await send('security-admin', `/${id}`, 'PUT', { enabled: true });
    clock.advance(2000);
    expect([await call(token), await call(await mint())]).toEqual([401, 200]);
  });

  test('are refused after a reset, and later ones are not', async () => {
    const { tenant, id, email, call, mint } = await calling();
    const token = await mint();
    await server.mails();
    await requestPasswordReset(accounts, tenant, { email });
    const link = tokenOf((await server.mails())[0]!.link);
    await resetPassword(accounts, tenant, { token: link, password: 'another good password' });
    await services.snapshots.refresh(tenant);
    expect(await call(token)).toBe(401);
    clock.advance(2000);
    expect([await call(await mint()), (await readAccount(accounts, tenant, id))?.epoch]).toEqual([200, 2]);
  });
});
