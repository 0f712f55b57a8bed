/** Invitations: who may make them, who may use them, and exactly how often. */
import pg from 'pg';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { type Role, roles } from '../../server/core/auth/schema.ts';
import { Json } from '../../server/core/db/rows.ts';
import { sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { mintClientToken, mintUserToken } from '../../server/keys/index.ts';
import {
  createMemberInvitationLink,
  ensureLocalMember,
  inviteMembersOfManifest,
  mintPortalToken,
  recordMemberInvitationDelivered,
} from '../../server/members/index.ts';
import { baseUrl, createTestApp, send } from '../access/test-app.ts';
import { waitingForLock } from '../helpers/admin.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { until } from '../helpers/wait.ts';

const db = await createTestDatabase();
const server = await createTestApp(db);
const { app, clock, keyed } = server;
const { database } = keyed;

let count = 0;
async function tenant(): Promise<string> {
  const name = `i${count++}-invitations`;
  await server.tenant(name);
  return name;
}
const tokenOf = async (name: string, role: Role) =>
  (await mintPortalToken(keyed, name, await ensureLocalMember(keyed, name, role), 'cli')).token;
const path = (name: string, rest = '') => `/tenants/${name}/members/invitations${rest}`;
const redeem = (token: unknown) => send(app, 'POST', '/portal/invitations/redeem', { body: { token } });
const secretOf = (url: string) => url.slice(url.indexOf('#') + 1);

async function admin(name: string) {
  const token = await tokenOf(name, 'security-admin');
  return {
    invite: (email: string, role = 'config-editor') => send(app, 'POST', path(name), { token, body: { email, role } }),
    list: (query = '') => send(app, 'GET', path(name, query), { token }),
    withdraw: (id: string) => send(app, 'DELETE', path(name, `/${id}`), { token }),
  };
}
const Audit = Type.Object({
  actor: Type.String(),
  action: Type.String(),
  kind: Type.String(),
  detail: Json<unknown>(),
});
const audit = (name: string) =>
  database.tenant(name, (tx) =>
    tx.many(
      Audit,
      sql`select actor #>> '{}' as actor, action, object_kind as kind, detail from accord.audit_entry
        where object_kind = 'member_invitation' order by at, id`,
    ),
  );

describe('an invitation', () => {
  test('is made, shown once, used once, and gives a portal token of the new member', async () => {
    const name = await tenant();
    const { invite, list } = await admin(name);
    const made = await invite('Ada@Example.com');
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.any(String),
      email: 'ada@example.com',
      role: 'config-editor',
      expiresAt: new Date(clock.now() + limits.memberInvitationTtlMs).toISOString(),
      url: expect.stringMatching(`^${baseUrl}/portal/invitations#${name}\\.[A-Za-z0-9_-]{43}$`),
    });
    const answer = await redeem(secretOf(made.body.url));
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ tenant: name, email: 'ada@example.com', role: 'config-editor' });
    expect(Date.parse(answer.body.expiresAt) - clock.seconds() * 1000).toBe(limits.portalTokenTtlMs);
    const token = answer.body.token as string;
    expect((await send(app, 'GET', `/tenants/${name}/portal-tokens`, { token })).status).toBe(200);
    expect(await redeem(secretOf(made.body.url))).toMatchObject({
      status: 410,
      body: { code: 'member_invitation_gone' },
    });
    expect((await list()).body.invitations).toMatchObject([{ status: 'used', email: 'ada@example.com' }]);
    const text = JSON.stringify([await list(), await audit(name)]);
    expect(text).not.toContain(secretOf(made.body.url));
    expect((await audit(name)).map(({ actor, action }) => [actor, action])).toEqual([
      ['member:security-admin@localhost', 'create'],
      ['member:ada@example.com', 'redeem'],
    ]);
  });

  test('is used exactly once by fifty at the same time', async () => {
    const name = await tenant();
    const { invite } = await admin(name);
    const secret = secretOf((await invite('race@example.com')).body.url);
    const answers = await Promise.all(Array.from({ length: 50 }, () => redeem(secret)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 410)).toHaveLength(49);
    const { n } = await database.tenant(name, (tx) =>
      tx.one(
        Type.Object({ n: Type.Integer() }),
        sql`select count(*)::int as n from accord.portal_token t join accord.member m on m.id = t.member and m.tenant = t.tenant
          where m.email = 'race@example.com'`,
      ),
    );
    expect(n).toBe(1);
  });

  test('is worth nothing after a week, to the millisecond, and the address may be invited again', async () => {
    const name = await tenant();
    const { invite, list } = await admin(name);
    const [one, two] = [await invite('late@example.com'), await invite('just@example.com')];
    clock.advance(limits.memberInvitationTtlMs - 1);
    expect((await redeem(secretOf(two.body.url))).status).toBe(200);
    clock.advance(1);
    expect((await redeem(secretOf(one.body.url))).status).toBe(410);
    const fresh = await admin(name);
    expect((await fresh.invite('late@example.com')).status).toBe(201);
    expect((await (await admin(name)).list()).body.invitations.map((each: { status: string }) => each.status)).toEqual([
      'pending',
      'used',
      'expired',
    ]);
    expect(list).toBeDefined();
  });

  test('is one at a time for an address, withdrawn for good, and 404 when there is none', async () => {
    const name = await tenant();
    const { invite, list, withdraw } = await admin(name);
    const first = await invite('one@example.com');
    expect(await invite('ONE@example.com', 'support')).toMatchObject({
      status: 409,
      body: { code: 'member_invitation_exists' },
    });
    expect((await withdraw(first.body.id)).status).toBe(200);
    expect((await withdraw(first.body.id)).status).toBe(200);
    expect((await redeem(secretOf(first.body.url))).status).toBe(410);
    expect((await invite('one@example.com')).status).toBe(201);
    expect(await withdraw('0199a0b0-0000-7000-8000-000000000000')).toMatchObject({
      status: 404,
      body: { code: 'member_invitation_not_found' },
    });
    expect((await withdraw('x')).status).toBe(400);
    const pages = [await list('?limit=1')];
    pages.push(await list(`?limit=1&cursor=${pages[0]?.body.cursor}`));
    expect(pages.map(({ body }) => body.invitations[0].status)).toEqual(['pending', 'withdrawn']);
    expect(pages[1]?.body).not.toHaveProperty('cursor');
  });

  test('gives an existing member the role that it names', async () => {
    const name = await tenant();
    const { invite } = await admin(name);
    for (const role of ['config-viewer', 'config-editor']) {
      const made = await invite('grows@example.com', role);
      expect((await redeem(secretOf(made.body.url))).body.role).toBe(role);
    }
    const members = await send(app, 'GET', `/tenants/${name}/members`, {
      token: await tokenOf(name, 'security-admin'),
    });
    expect(members.body.members.filter((one: { email: string }) => one.email === 'grows@example.com')).toMatchObject([
      { role: 'config-editor' },
    ]);
  });

  test('does not take the role from the last security-admin, and stays good', async () => {
    const name = await tenant();
    const { invite } = await admin(name);
    const made = await invite('security-admin@localhost', 'config-viewer');
    const refused = await redeem(secretOf(made.body.url));
    expect(refused).toMatchObject({ status: 409, body: { code: 'last_security_admin' } });
    const second = await invite('second@example.com', 'security-admin');
    expect((await redeem(secretOf(second.body.url))).status).toBe(200);
    expect((await redeem(secretOf(made.body.url))).body.role).toBe('config-viewer');
  });

  test('is bounded: memberInvitationsMax open ones of a tenant', async () => {
    const name = await tenant();
    const { invite, list, withdraw } = await admin(name);
    await database.tenant(name, (tx) =>
      tx.run(sql`insert into accord.member_invitation (tenant, email, role, token_hash, of_manifest, created_at, created_by, expires_at)
        select ${name}, n || '@example.com', 'support', sha256(n::text::bytea), false, ${new Date(clock.now()).toISOString()}, 'test',
          ${new Date(clock.now() + 1000).toISOString()} from generate_series(2, ${limits.memberInvitationsMax}) n`),
    );
    const last = await invite('last@example.com');
    expect(last.status).toBe(201);
    expect(await invite('more@example.com')).toMatchObject({
      status: 409,
      body: { code: 'member_invitation_quota_reached' },
    });
    await withdraw(last.body.id);
    expect((await invite('more@example.com')).status).toBe(201);
    expect((await list('?limit=1')).status).toBe(200);
  });
});

describe('who may', async () => {
  const name = await tenant();
  const other = await tenant();
  // Made at each test: the clock moves between them.
  const callers = new Map<string, () => Promise<string | undefined>>([
    ['nobody', async () => undefined],
    ...roles.map((role) => [role, () => tokenOf(name, role)] as const),
    [
      'a back end',
      async () => (await mintClientToken(keyed, name, { clientId: 'app', scopes: ['pg:tenant:admin'] })).token,
    ],
    ['a user', async () => (await mintUserToken(keyed, name, { userId: 'alice' })).token],
    ["another tenant's security-admin", () => tokenOf(other, 'security-admin')],
  ]);
  const id = '0199a0b0-0000-7000-8000-000000000000';
  const cells = [...callers].flatMap(([who, tokenFor], at) =>
    [
      ['GET', path(name), undefined, 200],
      ['POST', path(name), { email: `x${at}@example.com`, role: 'support' }, 201],
      ['DELETE', path(name, `/${id}`), undefined, 404],
    ].map(([method, url, body, granted]) => ({ who, tokenFor, method, url, body, granted })),
  );

  test.each(cells)('$who $method', async ({ who, tokenFor, method, url, body, granted }) => {
    const token = await tokenFor();
    const answer = await send(app, method as 'GET', url as string, {
      ...(token === undefined ? {} : { token }),
      ...(body === undefined ? {} : { body }),
    });
    if (who === 'security-admin') expect(answer.status).toBe(granted);
    else expect(answer.status).toBe((roles as readonly string[]).includes(who) ? 403 : 401);
  });

  test.each([...callers])('%s uses a link and sees its page', async (_, tokenFor) => {
    const token = await tokenFor();
    const given = token === undefined ? {} : { token };
    const answer = await send(app, 'POST', '/portal/invitations/redeem', {
      ...given,
      body: { token: `${name}.${'A'.repeat(43)}` },
    });
    expect(answer.status).toBe(410);
    expect((await app.inject({ url: '/portal/invitations' })).statusCode).toBe(200);
  });

  test('a disabled and an unknown tenant are 404', async () => {
    const closing = await tenant();
    const made = await (await admin(closing)).invite('x@example.com');
    await server.disable(closing);
    expect(await redeem(secretOf(made.body.url))).toMatchObject({ status: 404, body: { code: 'tenant_not_found' } });
    await server.tenant(closing);
    expect((await redeem(secretOf(made.body.url))).status).toBe(200);
    expect((await redeem(`nobody.${'A'.repeat(43)}`)).status).toBe(404);
  });

  test("one tenant's secret does not open another", async () => {
    const [one, two] = [await tenant(), await tenant()];
    const secret = secretOf((await (await admin(one)).invite('x@example.com')).body.url);
    expect((await redeem(secret.replace(one, two))).status).toBe(410);
    expect((await redeem(secret)).status).toBe(200);
  });
});

test('links are tried at the rate of an address, and no faster', async () => {
  const limited = await createTestApp(await createTestDatabase(), () => {}, 5);
  const body = { token: `demo.${'A'.repeat(43)}` };
  const statuses = [];
  for (let i = 0; i < 6; i++) {
    statuses.push((await send(limited.app, 'POST', '/portal/invitations/redeem', { body })).status);
  }
  expect(statuses).toEqual([404, 404, 404, 404, 404, 429]);
});

describe('bad input', () => {
  test.each([
    ['x'],
    [''],
    ['a.b.c'],
    [`Demo.${'A'.repeat(43)}`],
    [`demo.${'A'.repeat(42)}`],
    [`demo.${'A'.repeat(44)}`],
    [7],
    [null],
  ])('the token %j is 400', async (token) => expect((await redeem(token)).status).toBe(400));
  test('an unknown field, no body, and a very long token are 400', async () => {
    const post = (body: unknown) => send(app, 'POST', '/portal/invitations/redeem', { body });
    expect((await post({ token: `demo.${'A'.repeat(43)}`, extra: 1 })).status).toBe(400);
    expect((await post(undefined)).status).toBe(400);
    expect((await redeem(`demo.${'A'.repeat(200)}`)).status).toBe(400);
  });
  test.each([
    [{ email: 'nobody', role: 'support' }],
    [{ email: 'a@example.com', role: 'owner' }],
    [{ email: 'a@example.com' }],
    [{ email: 'a@example.com', role: 'support', note: 'x' }],
    [{ email: `${'a'.repeat(250)}@example.com`, role: 'support' }],
    [{ email: 'a@10.0.0.1', role: 'support' }],
  ])('inviting %j is 400', async (body) => {
    const name = await tenant();
    const answer = await send(app, 'POST', path(name), { token: await tokenOf(name, 'security-admin'), body });
    expect(answer.status).toBe(400);
  });
});

describe('invitations that a manifest asks for', () => {
  const services = { ...keyed, baseUrl };
  const wanted = [
    { email: 'Boss@example.com', role: 'security-admin' as const },
    { email: 'deputy@example.com', role: 'security-admin' as const },
    { email: 'desk@example.com', role: 'support' as const },
  ];
  const ask = (name: string, list = wanted) => inviteMembersOfManifest(services, name, list, 'operator:test');
  const writes = (name: string) =>
    database.tenant(name, (tx) =>
      tx.many(
        Type.Object({ x: Type.String() }),
        sql`select xmin::text || id as x from accord.member_invitation union all select xmin::text || id from accord.member
          union all select count(*)::text from accord.audit_entry order by 1`,
      ),
    );

  test('are made once, with the account of the support desk, and repeated without a write', async () => {
    const name = await tenant();
    const first = await ask(name);
    expect(first.map(({ email, role, place }) => [email, role, place])).toEqual([
      ['boss@example.com', 'security-admin', 0],
      ['deputy@example.com', 'security-admin', 1],
      ['desk@example.com', 'support', 0],
    ]);
    const before = await writes(name);
    expect(await ask(name)).toEqual(first);
    expect(await writes(name)).toEqual(before);
    const members = await send(app, 'GET', `/tenants/${name}/members`, {
      token: await tokenOf(name, 'security-admin'),
    });
    expect(members.body.members).toContainEqual(
      expect.objectContaining({ email: 'desk@example.com', role: 'support' }),
    );
  });

  test('are handed over to nobody whom the manifest does not name any more', async () => {
    const name = await tenant();
    expect(await ask(name)).toHaveLength(3);
    expect((await ask(name, wanted.slice(1))).map(({ email }) => email)).toEqual([
      'deputy@example.com',
      'desk@example.com',
    ]);
    expect((await ask(name)).map(({ email, place }) => [email, place])).toContainEqual(['boss@example.com', 0]);
  });

  test('that were handed over are over when the manifest does not name their people any more', async () => {
    const name = await tenant();
    const [boss] = await ask(name);
    const link = await createMemberInvitationLink(services, name, boss?.id as string);
    await recordMemberInvitationDelivered(services, name, boss?.id as string, { actor: 'operator:test', to: 'a file' });
    await ask(name, wanted.slice(1));
    expect((await redeem(secretOf(link?.url as string))).status).toBe(410);
    expect((await audit(name)).at(-1)).toMatchObject({ action: 'revoke', detail: { email: 'boss@example.com' } });
    // Named again, the person is invited again, by another link.
    const again = (await ask(name)).find(({ email }) => email === 'boss@example.com');
    expect(again?.id).not.toBe(boss?.id);
    const other = await createMemberInvitationLink(services, name, again?.id as string);
    expect((await redeem(secretOf(other?.url as string))).status).toBe(200);
    // Whoever has used it is a member; the manifest says no more about that.
    await ask(name, wanted.slice(1));
    expect((await redeem(secretOf(other?.url as string))).status).toBe(410);
  });

  test('have a link that each try makes anew until one is reported; then it stays', async () => {
    const name = await tenant();
    const [one] = await ask(name);
    const id = one?.id as string;
    const links = [
      await createMemberInvitationLink(services, name, id),
      await createMemberInvitationLink(services, name, id),
    ];
    await recordMemberInvitationDelivered(services, name, id, { actor: 'operator:test', to: 'a file' });
    expect(await createMemberInvitationLink(services, name, id)).toBeUndefined();
    expect((await ask(name)).map(({ email }) => email)).toEqual(['deputy@example.com', 'desk@example.com']);
    expect((await redeem(secretOf(links[0]?.url as string))).status).toBe(410);
    expect((await redeem(secretOf(links[1]?.url as string))).status).toBe(200);
    expect((await ask(name)).map(({ email }) => email)).toEqual(['deputy@example.com', 'desk@example.com']);
  });

  test('are not made again when they were used, have expired or were withdrawn', async () => {
    const name = await tenant();
    for (const { id } of await ask(name)) {
      await createMemberInvitationLink(services, name, id);
      await recordMemberInvitationDelivered(services, name, id, { actor: 'operator:test', to: 'a file' });
    }
    clock.advance(limits.memberInvitationTtlMs);
    expect(await ask(name)).toEqual([]);
    const token = await tokenOf(name, 'security-admin');
    const { body } = await send(app, 'GET', path(name), { token });
    for (const { id } of body.invitations) await send(app, 'DELETE', path(name, `/${id}`), { token });
    expect(await ask(name)).toEqual([]);
  });

  test('lower nobody: an admin who is named as support desk stays one', async () => {
    const name = await tenant();
    const both = [
      { email: 'same@example.com', role: 'security-admin' as const },
      { email: 'same@example.com', role: 'support' as const },
      { email: 'security-admin@localhost', role: 'support' as const },
    ];
    await ensureLocalMember(keyed, name, 'security-admin');
    expect((await ask(name, both)).map(({ email, role }) => [email, role])).toEqual([
      ['same@example.com', 'security-admin'],
    ]);
  });
});

test('no more than redeemingsMax are redeemed at once: the route is open to everybody', async () => {
  const name = await tenant();
  const { invite } = await admin(name);
  const secret = secretOf((await invite('crowd@example.com')).body.url);
  const client = new pg.Client({ connectionString: db.adminUrl });
  await client.connect();
  const waiting = () => waitingForLock(db.adminUrl);
  await client.query('begin; lock table accord.member_invitation in access exclusive mode');
  const answers = Array.from({ length: limits.redeemingsMax + 3 }, () => redeem(secret));
  await until('as many as may be', async () => (await waiting()) === limits.redeemingsMax);
  for (let i = 0; i < 5; i++) expect(await waiting()).toBe(limits.redeemingsMax);
  await client.query('rollback');
  await client.end();
  const statuses = (await Promise.all(answers)).map(({ status }) => status).sort();
  expect(statuses).toEqual([200, ...Array(limits.redeemingsMax + 2).fill(410)]);
});

describe('the page', () => {
  test.each(['/portal/invitations', '/portal/invitations.js', '/portal/invitations.css'])(
    '%s keeps to itself',
    async (url) => {
      const { statusCode, headers, body } = await app.inject({ url });
      expect(statusCode).toBe(200);
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'referrer-policy': 'same-origin',
        'x-robots-tag': 'noindex, nofollow',
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
      });
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/);
      expect(headers['content-security-policy']).not.toContain('unsafe');
      expect(body).not.toMatch(/https?:\/\//);
      expect(body).not.toMatch(/<script>|<style>| on\w+=/);
    },
  );
});
