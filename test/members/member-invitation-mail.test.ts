/** The mail of a member invitation: whoever is invited gets the link, in the language of the page that invites. */
import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { ensurePortalTenant } from '../../server/portal/index.ts';
import { createAccountsServer } from '../accounts/accounts.ts';
import { Browser } from '../helpers/browser.ts';
import { configClient } from '../policies/config-client.ts';

const server = await createAccountsServer();
await ensurePortalTenant(server.services);
await server.services.snapshots.refresh('portal');

const PATH = '/members/invitations';
const linkIn = (text: string) => /http:\S+\/portal\/invitations#[\w.-]+/.exec(text.replaceAll('=\r\n', ''))?.[0];

test('has the link of the answer and leads to a member', async () => {
  const tenant = await server.tenant({ displayName: 'Team & Sons' });
  const call = await configClient(server, tenant, 'security-admin');
  const made = await call('POST', PATH, { body: { email: 'Ben@team.example', role: 'config-editor' } });
  expect(made.status).toBe(201);
  const [mail, ...more] = await server.mails();
  expect(more).toEqual([]);
  expect(mail).toMatchObject({ tenant, to: 'Ben@team.example', subject: 'You are invited to administer Team & Sons' });
  expect(linkIn(mail?.text ?? '')).toBe(made.body.url);
  const token = made.body.url.split('#')[1];
  const used = await server.app.inject({ method: 'POST', url: '/portal/invitations/redeem', payload: { token } });
  expect(used.json()).toMatchObject({ email: 'ben@team.example', role: 'config-editor' });
});

test('expires with its link', async () => {
  const tenant = await server.tenant();
  const call = await configClient(server, tenant, 'security-admin');
  await call('POST', PATH, { body: { email: 'late@team.example', role: 'support' } });
  server.clock.advance(limits.memberInvitationTtlMs);
  expect(await server.mails()).toEqual([]);
});

test('there is none where there is no invitation', async () => {
  const tenant = await server.tenant();
  const call = await configClient(server, tenant, 'security-admin');
  const invite = (email: string) => call('POST', PATH, { body: { email, role: 'support' } });
  expect((await invite('twice@team.example')).status).toBe(201);
  expect(await server.mails()).toHaveLength(1);
  expect((await invite('twice@team.example')).body.code).toBe('member_invitation_exists');
  const refused = await invite('nobody@10.0.0.1');
  expect([refused.status, refused.body.errors]).toEqual([
    400,
    [{ pointer: '/email', detail: 'Must have a domain name after the @, not an IP address.' }],
  ]);
  expect(await server.mails()).toEqual([]);
});

test('is in the language of the page that invites, which shows the same link', async () => {
  const tenant = await server.tenant();
  const call = await configClient(server, tenant, 'security-admin');
  const first = await call('POST', PATH, { body: { email: 'ann@team.example', role: 'security-admin' } });
  const browser = new Browser(server);
  await browser.post('/portal/invitations/open', { token: first.body.url.split('#')[1] });
  const enrolment = await browser.get('/portal/invitations/enrol');
  await browser.submit(enrolment, '/portal/invitations/enrol', {
    displayName: 'Ann',
    password: 'correct horse battery',
  });
  await server.mails();
  const form = await browser.get(`/portal/tenants/${tenant}/invitations/new`);
  const csrf = /name="csrf" value="([^"]*)"/.exec(form.html)?.[1] ?? '';
  const sent = await server.app.inject({
    method: 'POST',
    url: `/portal/tenants/${tenant}/invitations`,
    headers: { 'accept-language': 'nl', 'content-type': 'application/x-www-form-urlencoded' },
    cookies: Object.fromEntries(browser.cookies.map(({ name, value }) => [name, value])),
    payload: new URLSearchParams({ csrf, email: 'bob@team.example', role: 'config-editor' }).toString(),
  });
  const [mail] = await server.mails();
  expect(mail).toMatchObject({ to: 'bob@team.example', subject: 'Je bent uitgenodigd om Test te beheren' });
  const link = linkIn(mail?.text ?? '');
  expect(link).toBeDefined();
  expect(sent.body).toContain(link);
});
