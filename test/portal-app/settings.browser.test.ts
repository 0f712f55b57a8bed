/** The settings of the portal in a browser: members, clients, issuers, the access token, the audit log. */
import { describe, expect, test } from 'vitest';
import { axe, createPortal, executablePath, look } from './portal.ts';

describe.skipIf(executablePath === undefined)('the settings', async () => {
  if (executablePath === undefined) return;
  const site = await createPortal({ role: 'security-admin' });
  const { tenant, open } = site;
  const at = (path: string) => `${site.base}/portal/t/${tenant}/settings${path}`;

  test('invites a member, whose link is shown once, and withdraws it', { timeout: 120_000 }, async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at(''));
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
    await page.getByRole('button', { name: 'Invite a member' }).click();
    await page.getByLabel('E-mail address').fill('ben@team.example');
    await page.getByRole('radio', { name: /^Config viewer/ }).check();
    await page.getByRole('button', { name: 'Send the invitation' }).click();
    await page.getByText('ben@team.example is invited.').waitFor();
    expect(await page.locator('pre.code').innerText()).toContain(`/portal/invitations#${tenant}.`);
    expect(await axe(page)).toEqual([]);
    await look(page, 'settings-members');
    await page.reload();
    expect(await page.locator('pre.code').count()).toBe(0);
    await page.getByRole('button', { name: 'Withdraw' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
    await page.getByRole('cell', { name: 'withdrawn' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('the last security admin is not removed, and the page says why', { timeout: 120_000 }, async () => {
    await using opened = await open();
    const { page } = opened;
    await page.goto(at('/members'));
    await page.getByRole('button', { name: 'Remove' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page
      .getByRole('dialog')
      .getByText(/last security admin/i)
      .first()
      .waitFor();
  });

  test('makes a client with a secret, which is shown once, and disables it', { timeout: 120_000 }, async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/clients'));
    await page.getByRole('button', { name: 'New client' }).click();
    await page.getByLabel('Client id').fill('garage');
    await page.getByRole('checkbox', { name: 'authz:evaluate' }).check();
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'garage' }).waitFor();
    await page.getByRole('button', { name: 'Generate a secret' }).click();
    await page.getByText('This is the only time that the secret is shown').waitFor();
    const secret = await page.locator('pre.code').innerText();
    expect(secret.length).toBeGreaterThan(30);
    expect(await axe(page)).toEqual([]);
    await look(page, 'settings-client');
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'garage' }).waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Disabled', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('makes an access token, shows it once, and revokes it', { timeout: 120_000 }, async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/token'));
    await page.getByRole('button', { name: 'Create a token' }).click();
    await page.getByText('This is the only time that the token is shown').waitFor();
    const token = await page.locator('pre.code').nth(1).innerText();
    const asked = () =>
      site.server.app.inject({ url: `/tenants/${tenant}/policies`, headers: { authorization: `Bearer ${token}` } });
    expect((await asked()).statusCode).toBe(200);
    expect(await axe(page)).toEqual([]);
    await look(page, 'settings-token');
    await page.getByRole('button', { name: 'Revoke' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('cell', { name: 'revoked' }).waitFor();
    expect((await asked()).statusCode).toBe(401);
    expect(complaints).toEqual([]);
  });

  test('the audit log is filtered by its address, and narrow pages hold', { timeout: 120_000 }, async () => {
    await using opened = await open({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    const { page, complaints } = opened;
    await page.goto(`${at('/audit')}?kind=portal_token`);
    await page.getByRole('cell', { name: 'portal_token' }).first().waitFor();
    expect(await page.getByRole('cell', { name: 'oauth_client' }).count()).toBe(0);
    expect(await axe(page)).toEqual([]);
    for (const place of ['members', 'clients', 'issuers', 'token', 'audit']) {
      await page.goto(at(`/${place}`));
      await page.getByRole('heading', { level: 1 }).waitFor();
      await look(page, `settings-${place}-narrow`);
    }
    expect(complaints).toEqual([]);
  });
});
