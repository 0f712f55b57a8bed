/** The mail of a member invitation: whoever is invited gets the link, in the language that is asked for. */
import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { createAccountsServer } from '../accounts/accounts.ts';
import { configClient } from '../policies/config-client.ts';

const server = await createAccountsServer();

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

test('is in the language that is asked for', async () => {
  const tenant = await server.tenant();
  const call = await configClient(server, tenant, 'security-admin');
  const body = { email: 'bob@team.example', role: 'config-editor', language: 'nl-BE' };
  const made = await call('POST', PATH, { body });
  const [mail] = await server.mails();
  expect(mail).toMatchObject({ to: 'bob@team.example', subject: 'Je bent uitgenodigd om Test te beheren' });
  expect(linkIn(mail?.text ?? '')).toBe(made.body.url);
  const wrong = await call('POST', PATH, { body: { ...body, email: 'eve@team.example', language: 'no language' } });
  expect([wrong.status, wrong.body.errors?.[0]?.pointer]).toEqual([400, '/language']);
});
