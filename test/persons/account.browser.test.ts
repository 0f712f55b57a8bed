/**
 * The page of one's own account in a real browser with a virtual authenticator, wide and narrow, light and dark. Skipped, with a word,
 * where there is no Chromium.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { newContext } from '../helpers/chromium.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { createAccount, password, webSpec } from '../oidc/logging-in.ts';
import { audience, createOidcServer } from '../oidc/relying-party.ts';
import { chromiumPath, howToGetChromium } from '../pages/chromium.ts';
import { configClient } from '../policies/config-client.ts';

const executablePath = chromiumPath();
if (executablePath === undefined) {
  // biome-ignore lint/suspicious/noConsole: what is not tested is said aloud
  console.warn(`THE ACCOUNT PAGE IS NOT TESTED IN A BROWSER: there is no Chromium. To get it: ${howToGetChromium}`);
}
const inspect = readFileSync(new URL('../pages/inspect.js', import.meta.url), 'utf8');

describe.skipIf(executablePath === undefined)('the account page', async () => {
  const server = await createOidcServer({}, { host: 'localhost' });
  const { services, baseUrl, register } = server;
  const tenant = await server.tenant({
    displayName: 'Cars of Ghent',
    login: { selfRegistration: 'invitation', brand: { colours: { primary: '#0a7a3c' } } },
  });
  const account = `${baseUrl}/${tenant}/account`;
  const application = createServer((_request, response) => response.end('the application'));
  await new Promise<void>((done) => {
    application.listen(0, '127.0.0.1', done);
  });
  const callback = `http://127.0.0.1:${(application.address() as AddressInfo).port}/cb`;
  await register(tenant, 'trips', {
    ...{ ...webSpec, firstParty: false, displayName: 'Trip Planner' },
    redirectUris: [callback],
  });
  await describeConsent();
  closeAtEnd(async () => {
    application.closeAllConnections();
    application.close();
  });

  /** A definition with a text, in effect. */
  async function describeConsent() {
    const config = await configClient(server, tenant, 'config-editor');
    const put = async (path: string, body: object) =>
      expect((await config('PUT', `/consent-definitions/trip-data${path}`, { body })).status).toBe(200);
    await put('', {});
    await put('/versions/1', { optInConfig: { type: 'direct' } });
    const effectiveDate = new Date(Date.now() + 3000).toISOString();
    const content = { title: 'Use of trip data', mediaType: 'text/plain', body: 'We use it.' };
    await put('/versions/1/documents/en/1.0', { effectiveDate, content });
    await services.snapshots.refresh(tenant);
  }
  async function consents(id: string) {
    const item = { name: 'trip-data', version: '1', document: { version: '1.0', language: 'en' } };
    const headers = { authorization: `Bearer ${await server.user(tenant, id)}`, 'content-type': 'application/json' };
    const give = async () =>
      (await fetch(`${baseUrl}/${tenant}/consents`, { method: 'POST', headers, body: JSON.stringify(item) })).status;
    await expect.poll(give).toBe(201);
  }

  async function open(options: BrowserContextOptions) {
    const context = await newContext({ locale: 'en-GB', ...options });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    return { page, context, complaints, [Symbol.asyncDispose]: () => context.close() };
  }
  async function look(page: Page, name: string) {
    await page.waitForLoadState('load'); // its texts are there before its style
    const wrong = (await page.evaluate(inspect)) as string[];
    expect([name, wrong]).toEqual([name, []]);
    const to = process.env.ACCORD_TEST_SHOTS;
    if (to) await page.screenshot({ path: `${to}/${name}.png`, fullPage: true });
  }
  async function logIn(page: Page, email: string) {
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.locator('form[action$="/log-in"] button').first().click();
  }
  const answer = (page: Page, name: string) => page.locator('main').getByRole('button', { name, exact: true }).click();
  const section = (page: Page, title: string) => page.getByRole('region', { name: title, exact: true });

  test.each([
    { width: 1280, colorScheme: 'light' },
    { width: 320, colorScheme: 'dark' },
  ] as const)('from a passkey to the last consent: $width pixels, $colorScheme', async ({ width, colorScheme }) => {
    const email = `ann-${width}@example.com`;
    const id = await createAccount(server, tenant, email);
    await consents(id);
    await using opened = await open({ viewport: { width, height: 800 }, colorScheme });
    const { page, context, complaints } = opened;
    const cdp = await context.newCDPSession(page);
    await cdp.send('WebAuthn.enable');
    await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
        ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
      },
    });
    const name = (what: string) => `account-${what}-${width}-${colorScheme}`;

    // An application that the person allows.
    const url = new URL(`${baseUrl}/${tenant}/oidc/authorize`);
    url.search = new URLSearchParams({
      ...{ client_id: 'trips', response_type: 'code', redirect_uri: callback, audience },
      ...{
        scope: 'openid email offline_access',
        prompt: 'consent',
        state: 's',
        nonce: 'n',
        code_challenge_method: 'S256',
      },
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    }).toString();
    await page.goto(url.href);
    await logIn(page, email);
    await answer(page, 'Allow');
    await page.waitForURL((at) => at.href.startsWith(callback));

    // The same browser is logged in at the issuer: nothing is asked.
    await page.goto(account);
    await page.waitForURL(account);
    await look(page, name('first'));
    expect(await section(page, 'Where you are logged in').textContent()).toMatch(/Chrome on Linux\s+This device/);
    await page.getByRole('link', { name: 'Add a passkey' }).click();
    await page.getByLabel('Name of the passkey').fill('My laptop');
    await look(page, name('passkey'));
    await page.getByRole('button', { name: 'Create passkey' }).click();
    await page.waitForURL('**/account?notice=passkey_added');
    expect(await page.getByRole('status').textContent()).toContain('Your passkey was added.');
    expect(await section(page, 'Passkeys').textContent()).toContain('My laptop');

    // Out, and in by the passkey.
    await page.getByRole('banner').getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('link', { name: 'Log in again' }).click();
    await page.getByRole('link', { name: 'Log in with a passkey' }).click();
    await page.getByRole('button', { name: 'Use passkey' }).click();
    await page.waitForURL(account);

    // A log-in elsewhere is ended.
    await using elsewhere = await open({ viewport: { width: 800, height: 600 } });
    await elsewhere.page.goto(account);
    await logIn(elsewhere.page, email);
    await elsewhere.page.waitForURL(account);
    await page.reload();
    await look(page, name('full'));
    await section(page, 'Where you are logged in')
      .getByRole('button', { name: /^Log out: / })
      .click();
    await page.waitForURL('**/account?notice=ended');
    expect(await page.getByRole('status').textContent()).toContain('It was ended.');
    await elsewhere.page.goto(account);
    await elsewhere.page.waitForURL('**/oidc/interaction/**');

    // An application, and a consent.
    await section(page, 'Applications with access')
      .getByRole('button', { name: 'Remove access: Trip Planner' })
      .click();
    await page.getByRole('link', { name: 'Cancel' }).waitFor();
    await look(page, name('confirm'));
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.waitForURL(account);
    await page.getByRole('button', { name: 'Remove access: Trip Planner' }).click();
    await answer(page, 'Remove access');
    await page.waitForURL('**/account?notice=ended');
    expect(await section(page, 'Applications with access').textContent()).toContain('No application has access.');
    await page.getByRole('button', { name: 'Take back: Use of trip data' }).click();
    await answer(page, 'Take back');
    await page.waitForURL('**/account?notice=ended');
    expect(await section(page, 'What you agreed to').textContent()).toContain('You have agreed to nothing.');

    // What is wrong is read out: it has the focus.
    await page.getByLabel('Current password').fill('not the password');
    await page.getByLabel('New password').fill('another good pass phrase');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByRole('alert').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.getAttribute("role")')).toBe('alert');
    expect(await page.title()).toContain('Error: ');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('currentPassword');
    await look(page, name('wrong'));
    expect(complaints.filter((text) => !text.includes('status of 400'))).toEqual([]);
  });

  test('works without JavaScript, but for passkeys, whose page says so', async () => {
    const email = 'bea@example.com';
    const id = await createAccount(server, tenant, email);
    await consents(id);
    await using opened = await open({ javaScriptEnabled: false, viewport: { width: 400, height: 800 }, locale: 'fr' });
    const { page } = opened;
    await page.goto(account);
    await page.getByLabel('Adresse e-mail').fill(email);
    await page.getByLabel('Mot de passe').fill(password);
    await page.locator('form[action$="/log-in"] button').first().click();
    await page.waitForURL(account);
    await page.getByRole('button', { name: 'Retirer: Use of trip data' }).click();
    await page.locator('button[name="confirmed"]').click();
    await page.waitForURL('**/account?notice=ended');
    await page.getByRole('link', { name: /Ajouter une clé/ }).click();
    expect(await page.locator('#waiting').textContent()).toContain('JavaScript');
    expect(await page.locator('#ready').isVisible()).toBe(false);
  });
});
