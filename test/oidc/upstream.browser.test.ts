/**
 * Logging in by another issuer, of another site, in a real browser: the cookies, the Content-Security-Policy and the redirects that a
 * person meets. Skipped, with a word, where there is no Chromium.
 */
import { createServer, type Server } from 'node:http';
import * as oc from 'openid-client';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { listIdentities } from '../../server/accounts/index.ts';
import { newContext } from '../helpers/chromium.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { freePort } from '../helpers/free-port.ts';
import { howToGetChromium, skipsBrowser } from '../pages/chromium.ts';
import { createAccount, password, webSpec } from './logging-in.ts';
import { createOidcServer } from './relying-party.ts';
import { startUpstream } from './upstreams.ts';

if (skipsBrowser()) {
  // biome-ignore lint/suspicious/noConsole: what is not tested is said aloud
  console.warn(`UPSTREAM LOG-IN IS NOT TESTED IN A BROWSER: there is no Chromium. To get it: ${howToGetChromium}`);
}

type Opening = { parameters?: Record<string, string>; javaScriptEnabled?: boolean };

describe.skipIf(skipsBrowser())('logging in by another issuer', async () => {
  const server = await createOidcServer();
  const { services, baseUrl } = server;
  const idp = await startUpstream({ pages: true, host: 'localhost' });
  const tenant = await server.tenant({ displayName: 'Cars of Ghent', login: { selfRegistration: 'open' } });
  await idp.trust(server, tenant, 'idp', { displayName: 'City of Ghent' });
  const redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
  const secret = (await server.register(tenant, 'web', { ...webSpec, redirectUris: [redirectUri] })) as string;
  const config = await server.discover(tenant, 'web', oc.ClientSecretBasic(secret));
  /** Answers by form. */
  const posted: { origin: string | undefined; form: URLSearchParams }[] = [];
  let site: Server;
  beforeAll(async () => {
    site = createServer((request, response) => {
      if (request.method !== 'POST') return void response.end('the application');
      let body = '';
      request.on('data', (chunk) => (body += chunk));
      request.on('end', () => {
        posted.push({ origin: request.headers.origin, form: new URLSearchParams(body) });
        // To another site, as applications do.
        response.writeHead(303, { location: `http://localhost:${new URL(redirectUri).port}/after` }).end();
      });
    });
    await new Promise<void>((done) => site.listen(Number(new URL(redirectUri).port), '127.0.0.1', done));
  });
  closeAtEnd(async () => {
    site?.closeAllConnections();
    site?.close();
  });

  /** An application sends a new browser to log in. */
  async function open(width: number, { parameters = {}, ...options }: Opening = {}) {
    const context = await newContext({ viewport: { width, height: 800 }, locale: 'en-GB', ...options });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' && message.location().url.startsWith(baseUrl)) complaints.push(message.text());
    });
    const verifier = oc.randomPKCECodeVerifier();
    const [state, nonce] = [oc.randomState(), oc.randomNonce()];
    const challenge = await oc.calculatePKCECodeChallenge(verifier);
    const url = oc.buildAuthorizationUrl(config, {
      ...{ redirect_uri: redirectUri, scope: 'openid', state, nonce },
      ...{ code_challenge: challenge, code_challenge_method: 'S256' },
      ...parameters,
    });
    await page.goto(url.href);
    const subject = async () => {
      await page.getByText('the application').waitFor();
      const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
      return (await oc.authorizationCodeGrant(config, new URL(page.url()), checks)).claims()?.sub as string;
    };
    return { page, complaints, subject, close: () => context.close() };
  }

  async function look(page: Page, name: string) {
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect([name, await page.evaluate(overflow)]).toEqual([name, 0]);
    const to = process.env.ACCORD_TEST_SHOTS;
    if (to) await page.screenshot({ path: `${to}/${name}.png`, fullPage: true });
  }

  /** Its own pages: who it is, and that Accord may know. */
  async function logInThere(page: Page, user: string) {
    await page.getByRole('button', { name: 'Continue with City of Ghent' }).click();
    await page.locator('input[name=login]').fill(user);
    await page.locator('input[name=password]').fill('anything');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
  }

  test.each([1280, 320])(
    'a new person gets an account, and leads back to the application, at %d pixels',
    async (width) => {
      const user = `new-${width}`;
      idp.persons.set(user, { email: `${user}@example.org`, email_verified: true, name: 'Ann' });
      const { page, complaints, subject, close } = await open(width);
      await look(page, `upstream-log-in-${width}`);
      await logInThere(page, user);
      const account = await subject();
      expect(await listIdentities(services.accounts, tenant, account)).toMatchObject([{ subject: user }]);
      expect(complaints).toEqual([]);
      await close();
    },
  );

  test.each([true, false])(
    'an answer by form (form_post) reaches the application; JavaScript: %j',
    async (hasScripts) => {
      const email = `form-${hasScripts}@example.org`;
      await createAccount(server, tenant, email);
      const options = { javaScriptEnabled: hasScripts, parameters: { response_mode: 'form_post', ui_locales: 'nl' } };
      const { page, complaints, close } = await open(320, options);
      await page.locator('input[name=email]').fill(email);
      await page.locator('input[name=password]').fill(password);
      posted.length = 0;
      await page.locator('form:has(input[name=password]) button.first').click();
      if (!hasScripts) {
        await page.getByText('Cars of Ghent').first().waitFor();
        await look(page, 'form-post-320');
        await page.getByRole('button', { name: 'Verder' }).click();
      }
      await page.waitForURL(/\/after$/);
      expect(posted).toMatchObject([{ origin: baseUrl }]);
      expect(posted[0]?.form.get('code')).toBeTruthy();
      expect(complaints).toEqual([]);
      await close();
    },
  );

  test.each([1280, 320])('who has an account with the address logs in to it once, at %d pixels', async (width) => {
    const user = `old-${width}`;
    const email = `${user}@example.org`;
    const id = await createAccount(server, tenant, email);
    idp.persons.set(user, { email, email_verified: true });
    const first = await open(width);
    await logInThere(first.page, user);
    await first.page.getByText('There is an account with your email address').waitFor();
    await look(first.page, `upstream-link-${width}`);
    expect(await first.page.getByLabel('Email address').inputValue()).toBe(email);
    await first.page.getByLabel('Password', { exact: true }).fill(password);
    await first.page.getByRole('button', { name: 'Log in', exact: true }).click();
    expect(await first.subject()).toBe(id);
    expect(first.complaints).toEqual([]);
    await first.close();
    const again = await open(width);
    await logInThere(again.page, user);
    expect(await again.subject()).toBe(id);
    await again.close();
  });

  test('the page of the own account links another log-in, and ends the link', async () => {
    const email = 'linking@example.org';
    const id = await createAccount(server, tenant, email);
    idp.persons.set('linked', { email: 'another-address@example.org', email_verified: false });
    const { page, complaints, close } = await open(1280);
    await page.goto(`${baseUrl}/${tenant}/account`);
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByRole('button', { name: 'Link City of Ghent' }).click();
    await page.locator('input[name=login]').fill('linked');
    await page.locator('input[name=password]').fill('anything');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('The log-in was linked.').waitFor();
    await look(page, 'upstream-account');
    expect(await listIdentities(services.accounts, tenant, id)).toMatchObject([{ subject: 'linked' }]);
    await page.locator('form[action$="/log-ins/end"] button').click();
    await page.locator('button[name=confirmed]').click();
    await page.getByText('The log-in is not linked any more.').waitFor();
    expect(await listIdentities(services.accounts, tenant, id)).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });

  test('who cancels there is told so, and can go on otherwise', async () => {
    const { page, complaints, close } = await open(1280);
    await page.getByRole('button', { name: 'Continue with City of Ghent' }).click();
    await page.getByText('Cancel').click();
    await page.getByText('You did not log in there').waitFor();
    await look(page, 'upstream-cancelled');
    expect(await page.getByLabel('Password', { exact: true }).isVisible()).toBe(true);
    // The page is a 400, which Chromium tells of itself.
    expect(complaints.filter((one) => !/status of 400/.test(one))).toEqual([]);
    await close();
  });
});
