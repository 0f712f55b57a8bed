/** The page of an invitation in a real browser, wide and narrow. Skipped, with a word, where there is no Chromium. */
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inviteMember } from '../../server/members/index.ts';
import { createTestServer } from '../helpers/server.ts';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = places.find((place) => existsSync(place));
if (executablePath === undefined) {
  // biome-ignore lint/suspicious/noConsole: what is not tested is said aloud
  console.warn(`THE INVITATION PAGE IS NOT TESTED: there is no Chromium (looked at ${places.join(', ')})`);
}

describe.skipIf(executablePath === undefined)('the page of an invitation', async () => {
  const server = await createTestServer();
  const tenant = await server.tenant();
  let base = '';
  let browser: Browser;
  beforeAll(async () => {
    base = await server.app.listen({ port: 0, host: '127.0.0.1' });
    browser = await chromium.launch({ executablePath: executablePath as string, args: ['--no-sandbox'] });
  });
  afterAll(() => browser?.close());

  /** A page, what the browser complained of, and which requests it made. */
  async function open(hash: string, width: number) {
    const context = await browser.newContext({
      viewport: { width, height: 800 },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const page = await context.newPage();
    const seen = { complaints: [] as string[], requests: [] as string[] };
    page.on('console', (message) => message.type() === 'error' && seen.complaints.push(message.text()));
    page.on('pageerror', (error) => seen.complaints.push(error.message));
    page.on('request', (request) => seen.requests.push(`${request.method()} ${request.url()}`));
    await page.goto(`${base}/portal/invitations${hash}`);
    return { page, seen, close: () => context.close() };
  }
  const invite = async (email: string) => {
    const { members: portal } = server.services;
    const { result } = await inviteMember(portal, tenant, { email, role: 'security-admin' }, { actor: 'test' });
    const { url } = result;
    return url.slice(url.indexOf('#'));
  };
  const overflow = (page: Page) =>
    page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  const shot = (page: Page, name: string) =>
    process.env.ACCORD_TEST_SHOTS
      ? page.screenshot({ path: `${process.env.ACCORD_TEST_SHOTS}/${name}.png` })
      : undefined;

  test.each([1280, 400])('accepts once, shows the token and copies it, at %d pixels', async (width) => {
    const { page, seen, close } = await open(await invite(`at-${width}@example.com`), width);
    expect(await page.locator('#tenant').textContent()).toBe(tenant);
    expect(await overflow(page)).toBe(0);
    await shot(page, `ask-${width}`);
    await page.getByRole('button', { name: 'Accept the invitation' }).click();
    const token = page.getByLabel('Your access token');
    await token.waitFor();
    expect(await page.locator(':focus').textContent()).toBe('You are a member');
    expect(await page.locator('#done-role').textContent()).toBe('security-admin');
    expect(Date.parse((await page.locator('#done-expires').getAttribute('datetime')) as string)).toBeGreaterThan(0);
    expect(await overflow(page)).toBe(0);
    await page.getByRole('button', { name: 'Copy the token' }).click();
    await page.getByRole('status').getByText('Copied.').waitFor();
    await shot(page, `done-${width}`);
    const copied = await page.evaluate('navigator.clipboard.readText()');
    expect(copied).toBe(await token.inputValue());
    const answer = await fetch(`${base}/tenants/${tenant}/members`, { headers: { authorization: `Bearer ${copied}` } });
    expect(answer.status).toBe(200);
    expect(page.url()).toBe(`${base}/portal/invitations`);
    expect(seen.complaints).toEqual([]);
    expect(seen.requests.every((request) => request.includes(base) && !request.includes('#'))).toBe(true);
    await close();
  });

  test('says that a link was used, and that one is not complete', async () => {
    const hash = await invite('twice@example.com');
    const first = await open(hash, 400);
    await first.page.getByRole('button', { name: 'Accept the invitation' }).click();
    await first.page.getByLabel('Your access token').waitFor();
    const second = await open(hash, 400);
    await second.page.getByRole('button', { name: 'Accept the invitation' }).click();
    const alert = second.page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toContain('was used, has expired, or was withdrawn');
    await shot(second.page, 'gone-400');
    const third = await open('#half', 1280);
    await third.page.getByRole('alert').waitFor();
    expect(await third.page.getByRole('alert').textContent()).toContain('not complete');
    expect(await third.page.getByRole('button', { name: 'Accept the invitation' }).isVisible()).toBe(false);
    await shot(third.page, 'half-1280');
    for (const one of [first, second, third]) await one.close();
  });

  test('can be tried again when the server does not answer', async () => {
    const { page, close } = await open(await invite('offline@example.com'), 400);
    await page.context().setOffline(true);
    const button = page.getByRole('button', { name: 'Accept the invitation' });
    await button.click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('did not answer');
    await page.context().setOffline(false);
    await button.click();
    await page.getByLabel('Your access token').waitFor();
    await close();
  });
});
