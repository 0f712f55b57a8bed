/** The link by which the first security-admin logs in at an `accord start`. */
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { firstLogIn } from '../../cli/log-in.ts';
import { limits } from '../../server/core/limits.ts';
import { inviteMembersOfManifest, removeMember } from '../../server/members/index.ts';
import { createLogInLink, ensurePortalTenant } from '../../server/portal/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { Browser } from '../helpers/browser.ts';
import { createTestServer } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { makeBundle } from './bundle.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock, {
  directory: makeBundle(),
  logInLinks: true,
  logInCommand: 'npx accord log-in --data /tmp/other',
});
const { services } = server;
await ensurePortalTenant(services);
await services.snapshots.refresh('portal');

const path = '/portal/log-in/link';
const ask = <T>(text: string, values: unknown[] = []) => asAdmin(server.db.adminUrl, text, values) as Promise<T[]>;

let tenant: string;
let email: string;
let people = 0;

beforeEach(async () => {
  tenant = await server.tenant();
  email = `ann${people++}@cars.example`;
  await inviteMembersOfManifest(services.members, tenant, [{ email, role: 'security-admin' }], 'test');
});

async function codeOf(code = tenant): Promise<string> {
  const link = await createLogInLink(services.portal, code);
  const { pathname, hash } = new URL(link?.url as string);
  expect(pathname).toBe(path);
  return hash.slice(1);
}

const members = () =>
  ask<{ email: string; role: string; person: string | null }>(
    `select email, role, person from accord.member where tenant = $1`,
    [tenant],
  );

const linksOf = () => ask<{ token_hash: Buffer }>(`select * from accord.portal_log_in_link where code = $1`, [tenant]);

describe('the link of the first log-in', () => {
  test('is named by the log-in page, to whoever has none', async () => {
    const page = await new Browser(server).get('/portal');
    expect(page.url).toContain('/portal/oidc/interaction/');
    expect(page.text).toContain('npx accord log-in --data /tmp/other');
  });

  test('asks by one button, and then logs in as the security admin, at the overview', async () => {
    const code = await codeOf();
    const browser = new Browser(server);
    const page = await browser.get(`${path}#${code}`);
    expect(page.status).toBe(200);
    expect(page.html.match(/<button/g)).toHaveLength(1);
    const home = await browser.submit(page, path, { code });
    expect([home.status, home.url]).toEqual([200, `/portal/t/${tenant}/overview`]);
    expect(await members()).toEqual([{ email, role: 'security-admin', person: expect.any(String) }]);
    const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const session = await server.app.inject({ url: '/portal/session', headers: { cookie, 'x-accord-portal': '1' } });
    expect(session.json()).toMatchObject({ email, tenants: [{ code: tenant, role: 'security-admin' }] });
    const audited = await ask(`select action, object_kind as kind, actor from accord.audit_entry where tenant = $1`, [
      tenant,
    ]);
    expect(audited).toContainEqual({ action: 'redeem', kind: 'member_invitation', actor: `member:${email}` });
    expect(audited).toContainEqual({ action: 'log_in', kind: 'member', actor: `member:${email}` });
  });

  test('is not used up by opening it, whoever does, and nothing is made by that (mail scanners)', async () => {
    const code = await codeOf();
    const scanner = new Browser(server);
    for (const url of [`${path}#${code}`, `${path}?code=${code}`]) expect((await scanner.get(url)).status).toBe(200);
    const head = await server.app.inject({ method: 'HEAD', url: path });
    expect(head.statusCode).toBe(405);
    expect(scanner.cookies).toEqual([]);
    expect(await members()).toEqual([]);
    expect(await ask(`select from accord.account where tenant = 'portal' and email = $1`, [email])).toEqual([]);
    expect((await new Browser(server).post(path, { code })).url).toBe(`/portal/t/${tenant}/overview`);
  });

  test('works once, also of many at a time', async () => {
    const code = await codeOf();
    const pages = await Promise.all(Array.from({ length: 5 }, () => new Browser(server).post(path, { code })));
    expect(pages.map(({ status }) => status).sort()).toEqual([200, 410, 410, 410, 410]);
    const [gone] = pages.filter(({ status }) => status === 410);
    expect(gone?.text).toContain('npx accord log-in --data /tmp/other');
  });

  test('works for portalLogInLinkMs', async () => {
    const code = await codeOf();
    clock.advance(limits.portalLogInLinkMs - 1000);
    expect((await new Browser(server).post(path, { code })).status).toBe(200);
    const late = await codeOf();
    clock.advance(limits.portalLogInLinkMs);
    expect((await new Browser(server).post(path, { code: late })).status).toBe(410);
  });

  test('is replaced by a newer one', async () => {
    const [first, second] = [await codeOf(), await codeOf()];
    expect((await new Browser(server).post(path, { code: first })).status).toBe(410);
    expect((await new Browser(server).post(path, { code: second })).status).toBe(200);
  });

  test('is kept as a digest', async () => {
    const code = await codeOf();
    const rows = await linksOf();
    expect(rows.map((row) => row.token_hash)).toEqual([createHash('sha256').update(code).digest()]);
    expect(JSON.stringify(rows)).not.toContain(code.split('.')[1]);
  });

  test.each(['', 'nonsense', `t0000.${'x'.repeat(43)}`])('refuses the code %j', async (code) => {
    const browser = new Browser(server);
    expect((await browser.post(path, { code })).status).toBe(410);
    expect(browser.cookies).toEqual([]);
  });

  test('is not taken from a page of another site (log-in CSRF), and stays good', async () => {
    const code = await codeOf();
    const browser = new Browser(server);
    expect((await browser.post(path, { code }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect(browser.cookies).toEqual([]);
    expect((await browser.post(path, { code })).status).toBe(200);
  });

  test('is not known to a server that is not an accord start on loopback', async () => {
    const other = await createTestServer({ ACCORD_MASTER_KEY: server.config.ACCORD_MASTER_KEY as string }, server.db);
    const code = await codeOf();
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
    const posted = await other.app.inject({ method: 'POST', url: path, headers, payload: `code=${code}` });
    expect([posted.statusCode, (await other.app.inject(path)).statusCode]).toEqual([404, 404]);
    expect(await linksOf()).toHaveLength(1);
  });
});

describe('whom the link is for', () => {
  test('the same account at the next start, also when another security admin came later', async () => {
    await new Browser(server).post(path, { code: await codeOf() });
    const before = await members();
    await inviteMembersOfManifest(
      services.members,
      tenant,
      [email, 'ben@cars.example'].map((one) => ({ email: one, role: 'security-admin' as const })),
      'test',
    );
    await new Browser(server).post(path, { code: await codeOf() });
    expect(await members()).toEqual(before);
  });

  test('somebody whose invitation has expired', async () => {
    clock.advance(limits.memberInvitationTtlMs);
    expect((await new Browser(server).post(path, { code: await codeOf() })).status).toBe(200);
  });

  test.each([
    ['was removed', `delete from accord.member where tenant = $1 and email = $2`],
    ['has another role', `update accord.member set role = 'config-editor' where tenant = $1 and email = $2`],
  ])('nobody who %s since', async (_, change) => {
    await new Browser(server).post(path, { code: await codeOf() });
    const code = await codeOf();
    await ask(change, [tenant, email]);
    const browser = new Browser(server);
    expect((await browser.post(path, { code })).status).toBe(410);
    expect(browser.cookies).toEqual([]);
    expect(await createLogInLink(services.portal, tenant)).toBeUndefined();
  });

  test('the next one, when the first was removed', async () => {
    await new Browser(server).post(path, { code: await codeOf() });
    const [{ id }] = (await ask<{ id: string }>(`select id from accord.member where tenant = $1`, [tenant])) as [
      { id: string },
    ];
    await inviteMembersOfManifest(
      services.members,
      tenant,
      [{ email: 'zoe@cars.example', role: 'security-admin' }],
      't',
    );
    await new Browser(server).post(path, { code: await codeOf() });
    await ask(`insert into accord.member (tenant, email, role) values ($1, 'zoe@cars.example', 'security-admin')`, [
      tenant,
    ]);
    const by = { kind: 'member', tenant, id, email, role: 'security-admin', jti: '' } as const;
    await removeMember(services.members, by, id, 'test');
    expect((await createLogInLink(services.portal, tenant))?.email).toBe('zoe@cars.example');
  });

  test('nobody whose account is disabled', async () => {
    await new Browser(server).post(path, { code: await codeOf() });
    await ask(`update accord.account set enabled = false where tenant = 'portal' and email = $1`, [email]);
    expect((await new Browser(server).post(path, { code: await codeOf() })).status).toBe(410);
  });

  test('nobody of a tenant without security admins, nor the member that accord token speaks as', async () => {
    const empty = await server.tenant();
    await server.member(empty, 'security-admin');
    expect(await createLogInLink(services.portal, empty)).toBeUndefined();
    expect(await createLogInLink(services.portal, 'nowhere')).toBeUndefined();
  });
});

describe('the last lines of a start', () => {
  test('are the link on a terminal, and the command elsewhere, where output is kept', async () => {
    const shown = (await firstLogIn(services, '.accord', true))?.lines.join('\n');
    expect(shown).toMatch(/^ {2}http:\/\/accord\.test\/portal\/log-in\/link#t[a-z0-9]+\.[\w-]{43}$/m);
    expect(shown).toContain('within 15 minutes; then npx accord log-in prints another link');
    const kept = (await firstLogIn(services, '/tmp/d', false))?.lines.join('\n');
    expect(kept).toMatch(/^ {2}npx accord log-in --data \/tmp\/d$/m);
    expect(kept).not.toContain('#');
  });
});
