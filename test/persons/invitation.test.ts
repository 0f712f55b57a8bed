/** The page of a relationship invitation: from the link of its mail over a log-in or a sign-up to the relationship. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { signUp } from '../../server/accounts/index.ts';
import { limits } from '../../server/core/limits.ts';
import { startOutbox } from '../../server/mail/index.ts';
import { Browser, base, type Page } from '../helpers/browser.ts';
import { createTestServer } from '../helpers/server.ts';
import { invitingTenant, WallClock } from '../invitations/inviting.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const cars = await invitingTenant(server);
const { tenant, backend } = cars;
await server.services.snapshots.refresh(tenant);

const directory = await mkdtemp(join(tmpdir(), 'accord-outbox-'));
afterAll(() => rm(directory, { recursive: true }));

const password = 'correct horse battery staple';
const ANSWER = `/${tenant}/invitation/answer`;
let number = 0;

/** Invites by mail. @returns the address, and the link that its mail has */
async function invited(more: object = {}) {
  const email = `person${number++}@example.com`;
  const to = { type: 'car', id: `car ${number}` };
  const contact = { type: 'email', value: email };
  const made = await cars.invite({ to, invitee: { contact }, delivery: 'mail', ...more });
  return { email, to, made, link: await linkTo(email) };
}

async function linkTo(email: string): Promise<URL> {
  await startOutbox(server.services, directory, () => {})();
  for (const file of (await readdir(directory)).sort().reverse()) {
    const text = (await readFile(join(directory, file), 'utf8')).replaceAll('=\r\n', '').replaceAll('=3D', '=');
    const link = text.includes(email) ? /http:\S+\/invitation#[\w.-]+/.exec(text)?.[0] : undefined;
    if (link !== undefined) return new URL(link);
  }
  throw new Error(`no mail to ${email}`);
}

async function account(email: string): Promise<string> {
  const made = await signUp(server.services.accounts, tenant, { email, password, invitedEmail: email });
  if (made.status !== 'created') throw new Error(made.status);
  return made.account.id;
}

/** As the page's script does it: what stands in the fragment is posted. */
async function open(browser: Browser, link: URL | string): Promise<Page> {
  const page = await browser.get(`/${tenant}/invitation`);
  return browser.submit(page, '/invitation/open', { code: typeof link === 'string' ? link : link.hash.slice(1) });
}

const statusOf = async (id: string) => (await backend('GET', `/sharing/invitations/${id}`)).body.status;

describe('the link of the mail', () => {
  test('leads over a log-in to the relationship, as the person', async () => {
    const { email, link, made, to } = await invited({ redirectUri: 'https://app.example/done?a=1' });
    const id = await account(email);
    const browser = new Browser(server);
    const page = await open(browser, link);
    expect([page.status, page.url]).toEqual([200, ANSWER]);
    expect(page.text).toContain(to.id);
    expect(page.html).not.toContain('value="accept"');
    const form = await browser.get(`/${tenant}/invitation/log-in`);
    expect(form.html).toContain(email);
    const question = await browser.submit(form, '/log-in', { email, password });
    expect([question.url, question.text]).toEqual([ANSWER, expect.stringContaining(email)]);
    const done = await browser.submit(question, ANSWER, { decision: 'accept' });
    expect([done.status, done.text]).toEqual([200, expect.stringContaining('You have access now')]);
    expect(done.html).toContain('https://app.example/done?a=1');
    expect(await cars.relationshipsOf(id)).toMatchObject([{ relationshipType: 'drives', to }]);
    expect(await statusOf(made.invitationId)).toBe('accepted');
    const again = await open(browser, link);
    expect([again.status, again.text]).toEqual([200, expect.stringContaining('You have access now')]);
    expect((await open(new Browser(server), link)).status).toBe(409);
  });

  test('lets its reader sign up without another mail, with that address', async () => {
    const { email, link } = await invited();
    const browser = new Browser(server);
    await open(browser, link);
    const form = await browser.get(`/${tenant}/invitation/sign-up`);
    const weak = await browser.submit(form, '/sign-up', { password: 'password1', email: 'other@example.com' });
    expect([weak.status, weak.text]).toEqual([400, expect.stringContaining('too well known')]);
    const question = await browser.submit(weak, '/sign-up', {
      password,
      displayName: 'Bob',
      email: 'other@example.com',
    });
    expect([question.url, question.text]).toEqual([ANSWER, expect.stringContaining(email)]);
    const done = await browser.submit(question, ANSWER, { decision: 'accept' });
    expect(done.text).toContain('You have access now');
  });

  test('ends the session of before when its reader signs up', async () => {
    const browser = new Browser(server);
    const signedUp = async () => {
      const { link } = await invited();
      await open(browser, link);
      const form = await browser.get(`/${tenant}/invitation/sign-up`);
      return browser.submit(form, '/sign-up', { password, displayName: 'Bob' });
    };
    await signedUp();
    const thief = new Browser(server);
    thief.replaceCookies(browser.cookies.filter(({ name }) => name.endsWith('session')));
    expect((await thief.get(`/${tenant}/account`)).url).toBe(`/${tenant}/account`);
    await signedUp();
    expect((await thief.get(`/${tenant}/account`)).url).toContain(`/${tenant}/oidc/interaction/`);
  });

  test('of somebody who has an account does not replace its password', async () => {
    const { email, link } = await invited();
    await account(email);
    const browser = new Browser(server);
    await open(browser, link);
    const form = await browser.get(`/${tenant}/invitation/sign-up`);
    const asked = await browser.submit(form, '/sign-up', { password: 'another correct horse staple' });
    expect(asked.url).toContain(`/${tenant}/oidc/interaction/`);
    expect((await browser.submit(asked, '/log-in', { email, password: 'another correct horse staple' })).status).toBe(
      401,
    );
  });

  test('is in the language of the invitation, names the invitor as the tenant does, and is sent again', async () => {
    await backend('PUT', '/actors/user/nina', { body: { displayName: 'Nina  N.' } });
    const { email, made } = await invited({ invitor: { type: 'user', id: 'nina' }, language: 'nl' });
    expect(made).not.toHaveProperty('note');
    const files = await readdir(directory);
    clock.advance(limits.invitationResendPauseMs);
    const again = await backend('POST', `/sharing/invitations/${made.invitationId}/resend`);
    expect(again.status).toBe(200);
    const link = await linkTo(email);
    expect((await readdir(directory)).length).toBe(files.length + 1);
    expect((await open(new Browser(server), link)).text).toContain('Nina');
  });
});

test('the page names the invitor by its account, where the tenant has stored no name', async () => {
  const made = await signUp(server.services.accounts, tenant, {
    ...{ email: 'pat@example.com', password, displayName: 'Pat P.', invitedEmail: 'pat@example.com' },
  });
  if (made.status !== 'created') throw new Error(made.status);
  const { link } = await invited({ invitor: { type: 'user', id: made.account.id } });
  expect((await open(new Browser(server), link)).text).toContain('Pat P. wants to share something with you');
  await backend('PUT', `/actors/user/${made.account.id}`, { body: { displayName: 'Patricia' } });
  expect((await open(new Browser(server), link)).text).toContain('Patricia wants to share');
  const unknown = await invited({ invitor: { type: 'user', id: 'nobody' } });
  expect((await open(new Browser(server), unknown.link)).text).toContain('Somebody wants to share');
});

describe('declining', () => {
  test('needs no log-in, and twice is told as over', async () => {
    const { link, made } = await invited();
    const [first, second] = [new Browser(server), new Browser(server)];
    const [page, other] = [await open(first, link), await open(second, link)];
    const done = await first.submit(page, ANSWER, { decision: 'decline' });
    expect([done.status, done.text]).toEqual([200, expect.stringContaining('You declined')]);
    expect(await statusOf(made.invitationId)).toBe('declined');
    expect((await second.submit(other, ANSWER, { decision: 'decline' })).status).toBe(410);
    expect((await open(new Browser(server), link)).status).toBe(410);
  });

  test('one that is bound to an address needs the link of its mail, or that account', async () => {
    const { made, link } = await invited({ relationshipType: 'borrows' });
    const stranger = new Browser(server);
    const page = await open(stranger, made.requestToken);
    expect((await stranger.submit(page, ANSWER, { decision: 'decline' })).status).toBe(403);
    expect(await statusOf(made.invitationId)).toBe('pending');
    const reader = new Browser(server);
    const done = await reader.submit(await open(reader, link), ANSWER, { decision: 'decline' });
    expect(done.status).toBe(200);
    expect(await statusOf(made.invitationId)).toBe('declined');
  });
});

describe('attacks', () => {
  test('a mail scanner that opens the link, and even posts its page, changes nothing', async () => {
    const { link, made } = await invited();
    for (let i = 0; i < 3; i++) {
      const scanner = new Browser(server);
      expect((await scanner.get(link.pathname)).status).toBe(200);
      expect((await open(scanner, link)).status).toBe(200);
      for (const path of ['answer', 'sign-up', 'log-in'])
        expect((await scanner.get(`/${tenant}/invitation/${path}`)).status).toBe(200);
    }
    expect(await statusOf(made.invitationId)).toBe('pending');
  });

  test('the code is in no address that a server sees', async () => {
    const { link } = await invited();
    expect([link.origin, link.pathname, link.search]).toEqual([base, `/${tenant}/invitation`, '']);
    const page = await open(new Browser(server), link);
    expect(page.html + page.url).not.toContain(link.hash.slice(1, 40));
  });

  test('whoever has the requestToken but not the mail gets no account of the address (pre-hijacking)', async () => {
    const { email, made } = await invited();
    const browser = new Browser(server);
    const forged = `${made.requestToken}.${'A'.repeat(43)}`;
    for (const code of [made.requestToken, forged]) {
      await open(browser, code);
      const form = await browser.get(`/${tenant}/invitation/sign-up`);
      expect(form.html).not.toContain(email);
      const asked = await browser.submit(form, '/sign-up', { email, password });
      expect(asked.text).toContain('Check your mail');
      const other = await browser.submit(form, '/sign-up', { email: 'mallory@example.com', password });
      expect(other.status).toBe(403);
    }
    const page = await browser.get(`/${tenant}/invitation/log-in`);
    expect((await browser.submit(page, '/log-in', { email, password })).status).toBe(401);
  });

  test('a form of another site, or without its token, is refused (CSRF)', async () => {
    const { link, made, email } = await invited();
    await account(email);
    const browser = new Browser(server);
    await open(browser, link);
    const page = await browser.submit(await browser.get(`/${tenant}/invitation/log-in`), '/log-in', {
      email,
      password,
    });
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.html)?.[1] ?? '';
    for (const [fields, headers] of [
      [{}, {}],
      [{ csrf: 'x' }, {}],
      [{ csrf }, { 'sec-fetch-site': 'cross-site' }],
      [{ csrf }, { 'sec-fetch-site': 'same-site' }],
      [{ csrf }, { origin: 'https://evil.example' }],
    ] as const)
      for (const decision of ['accept', 'decline'])
        expect((await browser.post(ANSWER, { ...fields, decision }, headers)).status).toBe(403);
    expect(await statusOf(made.invitationId)).toBe('pending');
    const opened = await new Browser(server).post(`/${tenant}/invitation/open`, { code: link.hash.slice(1) });
    expect(opened.status).toBe(403);
  });

  test('a page of one invitation does not accept another that was opened since (another tab)', async () => {
    const [first, second] = [await invited(), await invited()];
    const browser = new Browser(server);
    const page = await open(browser, first.link);
    await open(browser, second.link);
    expect((await browser.submit(page, ANSWER, { decision: 'decline' })).status).toBe(403);
    expect(await statusOf(second.made.invitationId)).toBe('pending');
  });

  test('an answer of the issuer in another browser begins no session (log-in CSRF)', async () => {
    const { link, email } = await invited();
    await account(email);
    const [attacker, victim] = [new Browser(server), new Browser(server)];
    await open(attacker, link);
    await open(victim, link);
    await attacker.get(`/${tenant}/invitation/log-in`);
    await victim.get(`/${tenant}/invitation/log-in`);
    const state = 'code=x&state=y&iss=http%3A%2F%2Faccord.test';
    expect((await victim.get(`/${tenant}/account/log-in/callback?${state}`)).status).toBe(400);
    expect((await new Browser(server).get(`/${tenant}/account/log-in/callback?${state}`)).status).toBe(400);
    expect(victim.cookies.some(({ name }) => name === 'accord_own_session')).toBe(false);
  });

  test("another person's account does not accept what is bound to an address, and a form leads to the right one", async () => {
    const { link, email, made } = await invited({ relationshipType: 'borrows' });
    await account(email);
    await account(`not-${email}`);
    const browser = new Browser(server);
    await open(browser, link);
    const form = await browser.get(`/${tenant}/invitation/log-in`);
    const page = await browser.submit(form, '/log-in', { email: `not-${email}`, password });
    expect(page.html).not.toContain('value="accept"');
    expect((await browser.submit(page, ANSWER, { decision: 'accept' })).status).toBe(403);
    expect(await statusOf(made.invitationId)).toBe('pending');
    const again = await browser.submit(page, '/invitation/other', { other: '1' });
    // The issuer ends the session of the other person first, by a form that a script posts.
    const ending = await browser.submit(again, '/log-in', { email, password });
    const right = await browser.submit(ending, '/end-session/confirm');
    const done = await browser.submit(right, ANSWER, { decision: 'accept' });
    expect(done.status).toBe(200);
    expect(await statusOf(made.invitationId)).toBe('accepted');
  });

  test("another tenant's session, and another tenant's code, are worth nothing", async () => {
    const { link, email } = await invited();
    await account(email);
    const browser = new Browser(server);
    await open(browser, link);
    await browser.submit(await browser.get(`/${tenant}/invitation/log-in`), '/log-in', { email, password });
    const other = await server.tenant();
    const moved = browser.cookies.map((one) => ({ ...one, path: one.path.replace(tenant, other) }));
    const thief = new Browser(server);
    thief.replaceCookies(moved);
    expect((await thief.get(`/${other}/invitation/answer`)).status).toBe(400);
  });

  test('an expired one is told so, also to who had its page open', async () => {
    const { link, email } = await invited({ relationshipType: 'cleans' });
    await account(email);
    const browser = new Browser(server);
    await open(browser, link);
    const page = await browser.submit(await browser.get(`/${tenant}/invitation/log-in`), '/log-in', {
      email,
      password,
    });
    clock.advance(3_600_000);
    expect((await browser.submit(page, ANSWER, { decision: 'accept' })).status).toBe(410);
    expect((await open(new Browser(server), link)).status).toBe(410);
  });

  test.each(['', 'nonsense', 'a.b.c', 'a.b.c.d.e', 'x'.repeat(limits.formBodyBytesMax - 1000)])(
    'the code %.12j is refused with a page',
    async (code) => {
      const page = await open(new Browser(server), code);
      expect(page.status).toBe(400);
      expect(page.text).toContain('This code is not complete.');
      expect(page.html).toContain('name="code"');
    },
  );

  test("members' own tenant has no such pages", async () => {
    expect((await new Browser(server).get('/portal/invitation')).status).toBe(404);
  });
});
