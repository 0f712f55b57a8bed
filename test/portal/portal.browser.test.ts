/**
 * The portal in a real browser, wide and narrow: from an invitation's link to the web application, out and in again. Skipped, with a word,
 * where there is no Chromium.
 */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { inviteMember, inviteMembersOfManifest } from '../../server/members/index.ts';
import { createLogInLink, ensurePortalTenant } from '../../server/portal/index.ts';
import { newContext } from '../helpers/chromium.ts';
import { createOidcServer } from '../oidc/relying-party.ts';
import { chromiumPath, howToGetChromium } from '../pages/chromium.ts';
import { makeBundle } from './bundle.ts';

const executablePath = chromiumPath();
if (executablePath === undefined) {
  // biome-ignore lint/suspicious/noConsole: what is not tested is said aloud
  console.warn(`THE PORTAL IS NOT TESTED IN A BROWSER: there is no Chromium. To get it: ${howToGetChromium}`);
}

describe.skipIf(executablePath === undefined)('the portal', async () => {
  const server = await createOidcServer({}, { portal: { directory: makeBundle(), logInLinks: true } });
  const { services, baseUrl } = server;
  await ensurePortalTenant(services);
  await services.snapshots.refresh('portal');
  const tenant = await server.tenant({ displayName: 'Cars of Ghent' });
  const password = 'correct horse battery staple';

  async function open(width: number) {
    const context = await newContext({ viewport: { width, height: 800 }, locale: 'en-GB' });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    return { page, complaints, close: () => context.close() };
  }
  async function linkFor(email: string) {
    const invited = { email, role: 'security-admin' } as const;
    return (await inviteMember(services.members, tenant, invited, { actor: 'test' })).result.url;
  }
  async function look(page: Page, name: string) {
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect([name, await page.evaluate(overflow)]).toEqual([name, 0]);
    const to = process.env.ACCORD_TEST_SHOTS;
    if (to) await page.screenshot({ path: `${to}/${name}.png` });
  }

  test.each([1280, 320])('leads from a link to the application at %d pixels', async (width) => {
    const { page, complaints, close } = await open(width);
    const email = `ann-${width}@example.com`;
    await page.goto(await linkFor(email));
    await expect.poll(() => page.locator('#tenant strong').textContent()).toBe(tenant);
    await look(page, `portal-link-${width}`);
    await page.getByRole('button', { name: 'See the invitation' }).click();
    await page.getByText('Cars of Ghent').first().waitFor();
    await look(page, `portal-invitation-${width}`);
    await page.locator('a[href$="/portal/invitations/enrol"]').click();
    await page.getByLabel('Your name').fill('Ann');
    await page.getByLabel('Password').fill(password);
    await look(page, `portal-enrol-${width}`);
    await page.locator('main button').first().click();
    await page.waitForURL(`**/portal/t/${tenant}`);
    const ended = await page.evaluate(
      `fetch('/portal/session/end', { method: 'POST', headers: { 'x-accord-portal': '1' } }).then((answer) => answer.json())`,
    );
    // Who chose a password here has no session at the issuer that would have to be ended, too.
    await page.goto((ended as { location: string }).location);
    await page.waitForURL('**/portal/oidc/interaction/**');
    await look(page, `portal-log-in-${width}`);
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.locator('form[action$="/log-in"] button').first().click();
    await page.waitForURL('**/portal');
    await expect.poll(() => page.title()).toBe('Accord'); // set by its script
    expect(complaints).toEqual([]);
    await close();
  });

  test('logs the first security admin in by one click, once', async () => {
    const own = await server.tenant();
    await inviteMembersOfManifest(
      services.members,
      own,
      [{ email: 'first@example.com', role: 'security-admin' }],
      'test',
    );
    const url = (await createLogInLink(services.portal, own))?.url as string;
    const { page, complaints, close } = await open(390);
    await page.goto(url);
    await look(page, 'portal-log-in-link');
    expect(await page.getByRole('textbox').count()).toBe(0);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL(`**/portal/t/${own}/overview`);
    expect(complaints).toEqual([]);
    await page.goto(url);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('npx accord log-in').waitFor();
    await look(page, 'portal-log-in-link-used');
    await close();
  });

  test('says that a link was used, and that one is not complete', async () => {
    const url = await linkFor('once@example.com');
    const { page, close } = await open(400);
    await page.goto(`${baseUrl}/portal/invitations#half`);
    await page.getByRole('alert').filter({ hasText: 'not complete' }).waitFor();
    await page.goto(url);
    await page.getByRole('button', { name: 'See the invitation' }).click();
    await page.locator('a[href$="/portal/invitations/enrol"]').click();
    await page.getByLabel('Password').fill(password);
    await page.locator('main button').first().click();
    await page.waitForURL(`**/portal/t/${tenant}`);
    await page.goto(url);
    await page.getByRole('button', { name: 'See the invitation' }).click();
    await page.getByRole('heading', { level: 1, name: /link/i }).waitFor();
    await close();
  });
});
