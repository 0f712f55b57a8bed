import { type CryptoKey, generateKeyPair, SignJWT } from 'jose';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import type { Role } from '../../server/core/auth/schema.ts';
import { sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { removeMember } from '../../server/members/actions.ts';
import { ensureLocalMember, mintPortalToken } from '../../server/members/index.ts';
import { baseUrl, createTestApp, send } from '../access/test-app.ts';
import { createTestDatabase } from '../helpers/database.ts';

const server = await createTestApp(await createTestDatabase());
const { app, clock, keyed } = server;

let count = 0;
async function tenant(): Promise<string> {
  const name = `t${count++}-members`;
  await server.tenant(name);
  return name;
}
async function mint(name: string, role: Role) {
  return mintPortalToken(keyed, name, await ensureLocalMember(keyed, name, role), 'cli');
}
const list = (name: string, token: string, query = '') =>
  send(app, 'GET', `/tenants/${name}/portal-tokens${query}`, { token });

describe('portal tokens', () => {
  test('live 24 hours, to the second', async () => {
    const name = await tenant();
    const { token, expiresAt } = await mint(name, 'config-viewer');
    expect(Date.parse(expiresAt) - clock.seconds() * 1000).toBe(limits.portalTokenTtlMs);
    clock.advance(limits.portalTokenTtlMs - 1000);
    expect((await list(name, token)).status).toBe(200);
    clock.advance(1000);
    const late = await list(name, token);
    const where = `${baseUrl}/portal/t/${name}/settings/token`;
    expect([late.status, late.body.detail]).toEqual([
      401,
      expect.stringContaining(`has expired; create another at ${where}`),
    ]);
  });

  test('are listed for their owner, and all of them for a security-admin', async () => {
    const name = await tenant();
    const admin = await mint(name, 'security-admin');
    const viewer = await mint(name, 'config-viewer');
    const own = await list(name, viewer.token);
    expect(own.body.portalTokens).toEqual([
      {
        jti: viewer.jti,
        member: { id: expect.any(String), email: 'config-viewer@localhost', role: 'config-viewer' },
        createdAt: expect.any(String),
        expiresAt: viewer.expiresAt,
        current: true,
      },
    ]);
    const all = (await list(name, admin.token)).body.portalTokens as { jti: string; current: boolean }[];
    expect(all.map(({ jti, current }) => [jti, current])).toEqual([
      [viewer.jti, false],
      [admin.jti, true],
    ]);
  });

  test('are paged', async () => {
    const name = await tenant();
    const made = [];
    for (let i = 0; i < 3; i++) made.unshift(await mint(name, 'config-viewer'));
    const token = made[0]!.token;
    const first = (await list(name, token, '?limit=2')).body;
    const second = (await list(name, token, `?limit=2&cursor=${first.cursor}`)).body;
    expect([...first.portalTokens, ...second.portalTokens].map((one: { jti: string }) => one.jti)).toEqual(
      made.map((one) => one.jti),
    );
    expect(second).not.toHaveProperty('cursor');
    expect((await list(name, token, '?limit=0')).status).toBe(400);
    expect((await list(name, token, '?limit=201')).status).toBe(400);
  });

  test('are revoked by their owner, and are worth nothing from then on', async () => {
    const name = await tenant();
    const viewer = await mint(name, 'config-viewer');
    const revoke = (token: string, jti: string) =>
      send(app, 'DELETE', `/tenants/${name}/portal-tokens/${jti}`, { token });
    expect(await revoke(viewer.token, viewer.jti)).toMatchObject({ status: 200, body: {} });
    const after = await list(name, viewer.token);
    expect(after.status).toBe(401);
    expect(after.headers['www-authenticate']).toContain('invalid_token');
  });

  test("of others are a security-admin's to revoke, and nobody else's to know of", async () => {
    const name = await tenant();
    const admin = await mint(name, 'security-admin');
    const editor = await mint(name, 'config-editor');
    const viewer = await mint(name, 'config-viewer');
    const revoke = (token: string, jti: string) =>
      send(app, 'DELETE', `/tenants/${name}/portal-tokens/${jti}`, { token });
    expect(await revoke(editor.token, viewer.jti)).toMatchObject({
      status: 404,
      body: { code: 'portal_token_not_found' },
    });
    expect((await list(name, viewer.token)).status).toBe(200);
    expect((await revoke(admin.token, viewer.jti)).status).toBe(200);
    expect((await revoke(admin.token, viewer.jti)).status).toBe(200);
    expect((await list(name, viewer.token)).status).toBe(401);
    const tokens = (await list(name, admin.token)).body.portalTokens as { jti: string; revokedAt?: string }[];
    expect(tokens.find((one) => one.jti === viewer.jti)?.revokedAt).toEqual(expect.any(String));
    const unknown = '0199a0b0-0000-7000-8000-000000000000';
    expect((await revoke(admin.token, unknown)).status).toBe(404);
    expect((await revoke(admin.token, 'x')).status).toBe(400);
  });

  test('of one tenant are unknown to another', async () => {
    const [one, two] = [await tenant(), await tenant()];
    const admin = await mint(one, 'security-admin');
    const other = await mint(two, 'security-admin');
    expect((await list(two, admin.token)).status).toBe(401);
    expect(
      (await send(app, 'DELETE', `/tenants/${two}/portal-tokens/${admin.jti}`, { token: other.token })).status,
    ).toBe(404);
  });

  test('cannot mint another', async () => {
    const name = await tenant();
    for (const role of ['security-admin', 'support'] as const) {
      const { token } = await mint(name, role);
      const answer = await send(app, 'POST', `/tenants/${name}/portal-tokens`, { token, body: {} });
      expect(answer).toMatchObject({ status: 403, body: { code: 'portal_token_cannot_mint' } });
    }
  });

  test("follow their member's role at once", async () => {
    const name = await tenant();
    const { token } = await mint(name, 'security-admin');
    const members = () => send(app, 'GET', `/tenants/${name}/members`, { token });
    expect((await members()).status).toBe(200);
    await keyed.database.tenant(name, (tx) =>
      tx.run(sql`update accord.member set role = 'support' where tenant = ${name}`),
    );
    expect((await members()).status).toBe(403);
    await keyed.database.tenant(name, (tx) => tx.run(sql`delete from accord.member where tenant = ${name}`));
    expect((await members()).status).toBe(401);
  });

  test('expired ones are forgotten when the next is made', async () => {
    const name = await tenant();
    await mint(name, 'config-viewer');
    clock.advance(limits.portalTokenTtlMs);
    await mint(name, 'config-viewer');
    const { n } = await keyed.database.tenant(name, (tx) =>
      tx.one(Type.Object({ n: Type.Integer() }), sql`select count(*)::int as n from accord.portal_token`),
    );
    expect(n).toBe(1);
  });
});

describe('forged portal tokens', () => {
  const forge = async (
    name: string,
    change: { header?: object; claims?: object; key?: CryptoKey; issuer?: string; audience?: string } = {},
  ) => {
    const real = await mint(name, 'security-admin');
    const key = keyed.installationKey;
    return new SignJWT({ tenant: name, ...change.claims })
      .setProtectedHeader({ alg: 'ES256', typ: 'accord-portal+jwt', kid: key.kid, ...change.header })
      .setIssuer(change.issuer ?? `${baseUrl}/portal`)
      .setAudience(change.audience ?? 'accord-portal')
      .setSubject('x')
      .setJti(real.jti)
      .setIssuedAt(clock.seconds())
      .setExpirationTime(clock.seconds() + 60)
      .sign(change.key ?? key.privateKey);
  };

  test('the forge itself makes tokens that are accepted', async () => {
    const name = await tenant();
    expect((await list(name, await forge(name))).status).toBe(200);
  });

  test.each([
    ['another type', { header: { typ: 'at+jwt' } }],
    ['no type', { header: { typ: undefined } }],
    ['another tenant', { claims: { tenant: 'other' } }],
    ['no tenant', { claims: { tenant: undefined } }],
    ['another issuer', { issuer: `${baseUrl}/demo/oidc` }],
    ['another audience', { audience: 'https://api.demo.example' }],
  ])('%s', async (_, change) => {
    const name = await tenant();
    expect((await list(name, await forge(name, change))).status).toBe(401);
  });

  test.each([
    ['7Fjfp0ZBr1KtDRbnfVdmIw', 'the token is not a JWT'],
    ['a.b.c', 'the token is malformed'],
    ['at+jwt', 'not a portal token, but an access token'],
    ['accord-invitation+jwt', 'not a portal token'],
  ])('what is sent in its place is named, with where to get one: %s', async (sent, said) => {
    const name = await tenant();
    const token = sent.endsWith('+jwt') ? await forge(name, { header: { typ: sent } }) : sent;
    const { status, body } = await list(name, token);
    const where = `; the Config API takes portal tokens: create one at ${baseUrl}/portal/t/${name}/settings/token.`;
    expect(status).toBe(401);
    expect(String(body.detail).startsWith(`The access token was refused: ${said}`)).toBe(true);
    expect(String(body.detail).endsWith(where)).toBe(true);
  });

  test('another key', async () => {
    const name = await tenant();
    const { privateKey } = await generateKeyPair('ES256');
    expect((await list(name, await forge(name, { key: privateKey }))).status).toBe(401);
  });

  test('garbage, and too much of it', async () => {
    const name = await tenant();
    const { token } = await mint(name, 'security-admin');
    for (const bad of ['x', 'a.b.c', `${token}x`, token.padEnd(limits.tokenBytesMax + 1, 'A')]) {
      expect((await list(name, bad)).status).toBe(401);
    }
  });
});

describe('members', () => {
  test('are listed for a security-admin, by page', async () => {
    const name = await tenant();
    const { token } = await mint(name, 'security-admin');
    await mint(name, 'support');
    await mint(name, 'config-editor');
    const get = (query = '') => send(app, 'GET', `/tenants/${name}/members${query}`, { token });
    const emails = ['config-editor@localhost', 'security-admin@localhost', 'support@localhost'];
    expect((await get()).body.members.map((member: { email: string }) => member.email)).toEqual(emails);
    const first = (await get('?limit=1')).body;
    expect(first.members[0]).toEqual({
      id: expect.any(String),
      email: emails[0],
      role: 'config-editor',
      createdAt: expect.any(String),
    });
    expect((await get(`?limit=2&cursor=${first.cursor}`)).body.members).toHaveLength(2);
  });

  test('a local member is made once for each role', async () => {
    const name = await tenant();
    const one = await ensureLocalMember(keyed, name, 'support');
    expect(await ensureLocalMember(keyed, name, 'support')).toEqual(one);
    await expect(ensureLocalMember(keyed, 'nobody', 'support')).rejects.toMatchObject({ code: 'tenant_not_found' });
  });
});

describe('removing a member', () => {
  const remove = (name: string, token: string, id: string) =>
    send(app, 'DELETE', `/tenants/${name}/members/${id}`, { token });
  const idOf = async (name: string, role: Role) => (await ensureLocalMember(keyed, name, role)).id;
  const rolesOf = async (name: string, token: string) =>
    (await send(app, 'GET', `/tenants/${name}/members`, { token })).body.members.map(
      (one: { role: string }) => one.role,
    );

  test('ends every token of the member with the next request, and withdraws what would let it back in', async () => {
    const name = await tenant();
    const admin = await mint(name, 'security-admin');
    const editors = [await mint(name, 'config-editor'), await mint(name, 'config-editor')];
    for (const { token } of editors) expect((await list(name, token)).status).toBe(200);
    const body = { email: 'config-editor@localhost', role: 'security-admin' };
    const invited = await send(app, 'POST', `/tenants/${name}/members/invitations`, { token: admin.token, body });
    const id = await idOf(name, 'config-editor');
    expect(await remove(name, admin.token, id)).toMatchObject({ status: 200, body: {} });
    for (const { token } of editors) {
      const answer = await list(name, token);
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toContain('invalid_token');
    }
    const secret = invited.body.url.split('#')[1];
    const again = await send(app, 'POST', '/portal/invitations/redeem', { body: { token: secret } });
    expect(again).toMatchObject({ status: 410, body: { code: 'member_invitation_gone' } });
    expect(await rolesOf(name, admin.token)).toEqual(['security-admin']);
    expect(await remove(name, admin.token, id)).toMatchObject({ status: 404, body: { code: 'member_not_found' } });
    const Entry = Type.Object({
      actor: Type.String(),
      action: Type.String(),
      kind: Type.String(),
      name: Type.String(),
    });
    const entries = await keyed.database.tenant(name, (tx) =>
      tx.many(
        Entry,
        sql`select actor #>> '{}' as actor, action, object_kind as kind, object_name as name from accord.audit_entry
          where action in ('delete', 'revoke') order by id`,
      ),
    );
    const actor = 'member:security-admin@localhost';
    expect(entries).toEqual([
      { actor, action: 'revoke', kind: 'member_invitation', name: invited.body.id },
      { actor, action: 'delete', kind: 'member', name: id },
    ]);
  });

  test('leaves the last security-admin, also to itself', async () => {
    const name = await tenant();
    const { token } = await mint(name, 'security-admin');
    await mint(name, 'support');
    const own = await idOf(name, 'security-admin');
    expect(await remove(name, token, own)).toMatchObject({ status: 409, body: { code: 'last_security_admin' } });
    expect((await list(name, token)).status).toBe(200);
    await keyed.database.tenant(name, (tx) =>
      tx.run(
        sql`insert into accord.member (tenant, email, role) values (${name}, 'second@example.com', 'security-admin')`,
      ),
    );
    expect((await remove(name, token, own)).status).toBe(200);
    expect((await list(name, token)).status).toBe(401);
  });

  test('leaves the last person who is security-admin, whatever the machine is', async () => {
    const name = await tenant();
    const { token } = await mint(name, 'security-admin');
    const add = (email: string) =>
      keyed.database.tenant(name, (tx) =>
        tx.one(
          Type.Object({ id: Type.String() }),
          sql`insert into accord.member (tenant, email, role) values (${name}, ${email}, 'security-admin') returning id`,
        ),
      );
    const [one, two] = [await add('one@example.com'), await add('two@example.com')];
    expect((await remove(name, token, one.id)).status).toBe(200);
    expect(await remove(name, token, two.id)).toMatchObject({ status: 409, body: { code: 'last_security_admin' } });
    const body = { email: 'two@example.com', role: 'config-viewer' };
    const invited = await send(app, 'POST', `/tenants/${name}/members/invitations`, { token, body });
    const secret = invited.body.url.split('#')[1];
    const demoted = await send(app, 'POST', '/portal/invitations/redeem', { body: { token: secret } });
    expect(demoted).toMatchObject({ status: 409, body: { code: 'last_security_admin' } });
    expect((await remove(name, token, await idOf(name, 'security-admin'))).status).toBe(200);
  });

  test('leaves one of two security-admins who remove one another at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      const name = await tenant();
      const one = await mint(name, 'security-admin');
      await keyed.database.tenant(name, (tx) =>
        tx.run(
          sql`insert into accord.member (tenant, email, role) values (${name}, 'b@example.com', 'security-admin'),
            (${name}, 'c@example.com', 'security-admin')`,
        ),
      );
      const listed = (await send(app, 'GET', `/tenants/${name}/members`, { token: one.token })).body.members;
      const persons = listed.filter(({ email }: { email: string }) => email.endsWith('@example.com'));
      const ids: string[] = persons.map(({ id }: { id: string }) => id);
      const by = { kind: 'member', tenant: name, id: 'x', email: 'x', role: 'security-admin', jti: 'x' } as const;
      const done = await Promise.allSettled(ids.map((id) => removeMember(keyed, by, id, 'r')));
      expect(done.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(done.find((each) => each.status === 'rejected')?.reason).toMatchObject({ code: 'last_security_admin' });
    }
  });

  test.each(['config-editor', 'config-viewer', 'support'] as const)('is not for a %s', async (role) => {
    const name = await tenant();
    const { token } = await mint(name, role);
    expect((await remove(name, token, await idOf(name, role))).status).toBe(403);
  });

  test("finds nobody of another tenant's, and no id that is none", async () => {
    const [name, other] = [await tenant(), await tenant()];
    const { token } = await mint(name, 'security-admin');
    expect((await remove(name, token, await idOf(other, 'support'))).status).toBe(404);
    expect((await remove(name, token, 'x')).status).toBe(400);
  });
});
