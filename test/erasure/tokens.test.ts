/** What an erased person could still do: its tokens, sessions and grants are worth nothing, and nothing of its account is left. */
import { createHash } from 'node:crypto';
import * as oc from 'openid-client';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { identityProof, linkIdentity, requestPasswordReset, setAccountEnabled } from '../../server/accounts/index.ts';
import { sql } from '../../server/core/db/sql.ts';
import { asAdmin } from '../helpers/admin.ts';
import { begin, createAccount, logIn, webSpec } from '../oidc/logging-in.ts';
import { audience, createOidcServer } from '../oidc/relying-party.ts';
import { search } from './living.ts';

const server = await createOidcServer();
const { services, db } = server;
const tenant = await server.tenant();
const secret = (await server.register(tenant, 'web', { ...webSpec, audiences: [audience] })) as string;
const config = await server.discover(tenant, 'web', oc.ClientSecretBasic(secret));

const ask = async (method: 'GET' | 'POST', url: string, token: string, payload?: object) => {
  const headers = { authorization: `Bearer ${token}` };
  return server.app.inject({ method, url, headers, ...(payload ? { payload } : {}) });
};
const mayRead = async (token: string) => (await ask('GET', `/${tenant}/consents/me`, token)).statusCode;
const admin = await server.client(tenant, 'pg:tenant:admin');
const erase = (id: string) => ask('POST', `/${tenant}/actors/user/${encodeURIComponent(id)}/erase`, admin);

test('tokens of an account, its session and its refresh tokens end, and nothing of it is left', async () => {
  const [email, other] = ['erased@example.org', 'stays@example.org'];
  const id = await createAccount(server, tenant, email);
  await createAccount(server, tenant, other);
  const parameters = { scope: 'openid offline_access', prompt: 'consent', resource: audience };
  const [mine, others] = [
    await logIn(server, config, { email, parameters }),
    await logIn(server, config, { email: other }),
  ];
  const tokens = await mine.grant({ resource: audience });
  const theirs = await logIn(server, config, { email: other, parameters: { resource: audience } });
  const kept = (await theirs.grant({ resource: audience })).access_token;
  const identity = { issuer: 'https://other.example', subject: 'sub-of-the-erased' };
  const { token } = await identityProof(services.accounts, tenant, { account: id, identity });
  await linkIdentity(services.accounts, tenant, { token, account: id, isEnabled: () => true });
  await identityProof(services.accounts, tenant, { account: id, identity });
  await requestPasswordReset(services.accounts, tenant, { email });
  expect([await mayRead(tokens.access_token), await mayRead(kept)]).toEqual([200, 200]);
  const waiting = await begin(server, config);

  const done = await erase(id);
  expect([done.statusCode, done.json().status, done.json().removed.accounts]).toEqual([200, 'erased', 1]);
  expect([await mayRead(tokens.access_token), await mayRead(kept)]).toEqual([401, 200]);
  await expect(oc.refreshTokenGrant(config, tokens.refresh_token as string)).rejects.toThrow();
  const again = await begin(server, config, {}, { jar: mine.browser.jar });
  expect(again.page.text).toContain('name="password"');
  const refused = await waiting.browser.submit(waiting.page, '/log-in', {
    email,
    password: 'correct horse battery staple',
  });
  expect(refused.status).toBe(401);
  expect((await begin(server, config, {}, { jar: others.browser.jar })).page.left).toBeDefined();
  const introspected = await oc.tokenIntrospection(config, tokens.access_token);
  expect(introspected.active).toBe(false);

  for (const trace of [id, email, identity.subject]) expect(await search(db.adminUrl, [trace])).toEqual([]);
  const Count = Type.Object({ table: Type.String(), count: Type.Integer() });
  const tables = ['account', 'account_identity', 'account_credential', 'account_token', 'page_session'];
  for (const table of tables) {
    const [row] = await services.database.system((tx) =>
      tx.many(
        Count,
        sql`select ${table} as table, (xpath('/row/n/text()', query_to_xml('select count(*) as n from accord.' || ${table}
          || ' where tenant = ''' || ${tenant} || '''', true, true, '')))[1]::text::int as count`,
      ),
    );
    expect([table, row?.count]).toEqual([table, table === 'account' ? 1 : 0]);
  }
});

test('a token that the command made is refused, and one that is made afterwards is not: the actor may come back', async () => {
  const id = 'auth0|comes-back';
  const before = await server.user(tenant, id);
  expect(await mayRead(before)).toBe(200);
  expect((await erase(id)).statusCode).toBe(200);
  expect(await mayRead(before)).toBe(401);
  // iat has whole seconds: until the next one it may be one from before.
  await expect.poll(async () => mayRead(await server.user(tenant, id))).toBe(200);
  expect(await mayRead(before)).toBe(401);
});

test('an actor of another type with the same id loses nothing of the user', async () => {
  const id = 'shared-id';
  const token = await server.user(tenant, id);
  const done = await ask('POST', `/${tenant}/actors/robot/${id}/erase`, admin);
  expect([done.statusCode, await mayRead(token)]).toEqual([200, 200]);
});

test('a log-out and a disabling before the erasure leave no id', async () => {
  const email = 'logged-out@example.org';
  const id = await createAccount(server, tenant, email);
  await services.oidc.denySubject(tenant, id);
  for (const enabled of [false, true])
    await setAccountEnabled(services.accounts, tenant, { id, enabled }, { actor: 'member:test' });
  expect(await search(db.adminUrl, [id])).not.toEqual([]);
  await erase(id);
  expect(await search(db.adminUrl, [id])).toEqual([]);
});

test('names of refused tokens in audit and events have no digest that can be made of the id', async () => {
  const id = await createAccount(server, tenant, 'digested@example.org');
  await services.oidc.denySubject(tenant, id);
  await services.oidc.denyGrant(tenant, id, 'web');
  const digest = createHash('sha256').update(id).digest('base64url');
  const tablesWith = async () =>
    (await search(db.adminUrl, [digest])).map((found) => found.replace(/(_\d+)*:.*/s, '')).sort();
  expect(await tablesWith()).toEqual([
    'audit_entry',
    'audit_entry',
    'config_change',
    'config_change',
    'event',
    'event',
  ]);
  await erase(id);
  // Until the last token has expired, which this refuses.
  expect(await tablesWith()).toEqual(['denied_token']);
  const names = await asAdmin<{ name: string }>(
    db.adminUrl,
    `select object_name as name from accord.audit_entry where tenant = '${tenant}' and object_name ~ 'erased:.*'
      and object_kind = 'denied_token' order by at desc limit 3`,
  );
  const [, replacement] = /^erased:(.*)$/.exec(names[0]?.name ?? '') ?? [];
  expect(names.map(({ name }) => name)).toEqual([
    `erased:${replacement}`,
    `grant:${replacement} web`,
    `subject:${replacement}`,
  ]);
});
