/**
 * examples/spa in Chromium, at the tenant of examples/carshare: log in with PKCE and DPoP, consents and invitations by CORS, log out.
 * Skipped, with a word, where there is no Chromium.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page, Request } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { startOperation } from '../../cli/operation.ts';
import { createOperatorMetrics } from '../../operator/index.ts';
import { newContext } from '../helpers/chromium.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { freePort } from '../helpers/free-port.ts';
import { nameOfRun } from '../helpers/run-scratch.ts';
import { howToGetChromium, skipsBrowser } from '../pages/chromium.ts';
import { createAccount, password } from './logging-in.ts';
import { createOidcServer } from './relying-party.ts';

if (skipsBrowser()) {
  // biome-ignore lint/suspicious/noConsole: what is not tested is said aloud
  console.warn(`EXAMPLES/SPA IS NOT TESTED IN A BROWSER: there is no Chromium. To get it: ${howToGetChromium}`);
}

const examples = join(import.meta.dirname, '../../examples');

describe.skipIf(skipsBrowser())('examples/spa', async () => {
  const server = await createOidcServer();
  const { services, baseUrl } = server;
  const port = await freePort();
  const [site, email] = [`http://localhost:${port}`, 'dora@example.org'];
  let directory: string;
  let operation: Awaited<ReturnType<typeof startOperation>>;
  let serving: ChildProcess;

  /** The manifests of the example, with the port of this test. */
  async function reconcile(): Promise<void> {
    await cp(join(examples, 'carshare'), join(directory, 'carshare'), { recursive: true });
    for (const name of ['tenant.yaml', 'clients.yaml']) {
      const path = join(directory, 'carshare', name);
      const text = (await readFile(path, 'utf8')).replaceAll('http://localhost:5173', site);
      expect(text).toContain(site);
      await writeFile(path, text);
    }
    const [statusDirectory, invitationsDirectory, secretsDirectory] = ['status', 'invitations', 'secrets'].map((one) =>
      join(directory, `.${one}`),
    ) as [string, string, string];
    operation = await startOperation(
      { kind: 'files', manifests: directory, statusDirectory, invitationsDirectory, secretsDirectory },
      { services, metrics: createOperatorMetrics(services.metrics.registry), exit: () => {} },
    );
    await operation.operator.settled();
    await services.snapshots.refresh('carshare');
  }

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'accord-spa-'));
    await reconcile();
    serving = spawn(process.execPath, [join(examples, 'spa/serve.mjs')], {
      env: { ...nameOfRun(), PORT: String(port), ACCORD_ISSUER: `${baseUrl}/carshare/oidc` },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve, reject) => {
      serving.stdout?.once('data', resolve);
      serving.once('exit', (code) => reject(new Error(`serve.mjs ended with ${code}`)));
    });
  });
  closeAtEnd(async () => {
    serving?.kill();
    await operation?.close();
    await rm(directory, { recursive: true });
  });

  async function open(width: number) {
    const context = await newContext({ viewport: { width, height: 800 }, locale: 'en-GB' });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(`${message.text()} ${message.location().url}`));
    page.on('pageerror', (error) => complaints.push(error.message));
    return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
  }
  async function logIn(page: Page) {
    await page.goto(`${site}/`);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.locator('form[action$="/log-in"] button').first().click();
  }
  /** What only this test can know: which key the token is bound to, and what another sender of it is told. */
  async function stolen(request: Request) {
    const authorization = (await request.headerValue('authorization')) ?? '';
    const token = authorization.replace(/^DPoP /, '');
    const bearer = await fetch(request.url(), { headers: { authorization: `Bearer ${token}` } });
    const replayed = await fetch(request.url(), {
      headers: { authorization, dpop: (await request.headerValue('dpop')) ?? '' },
    });
    return [authorization.slice(0, 5), bearer.status, replayed.status];
  }

  test('logs in, agrees, invites and logs out, and the browser complains of nothing', async () => {
    const id = await createAccount(server, 'carshare', email);
    const backend = await server.client('carshare', 'relationships:write');
    const made = await fetch(`${baseUrl}/carshare/actors/user/${id}/relationships`, {
      method: 'POST',
      headers: { authorization: `Bearer ${backend}`, 'content-type': 'application/json' },
      body: JSON.stringify({ relationshipType: 'may_use', to: { type: 'car', id: 'car-7' } }),
    });
    expect(made.status).toBe(201);

    await using opened = await open(1280);
    const { page, complaints } = opened;
    const asked = page.waitForRequest((one) => one.method() === 'GET' && one.url().includes('/consents/active'));
    await logIn(page);
    await page.getByText(`Logged in as ${email}, user ${id}`).waitFor();
    await expect.poll(() => page.url()).toBe(`${site}/`); // no code in the address
    const terms = page.locator('li[data-name="trip-data"]');
    await page.locator('li[data-name="trip-data"]', { hasText: 'you have not agreed yet' }).waitFor();
    expect(await terms.getByRole('link', { name: 'Trip data' }).getAttribute('href')).toContain('/consents/documents/');
    expect(await stolen(await asked)).toEqual(['DPoP ', 401, 401]);
    await terms.getByRole('button', { name: 'I agree' }).click();
    await page.locator('li[data-name="trip-data"]', { hasText: 'you agreed' }).waitFor();

    await page.getByLabel('Email address').fill('erik@example.org');
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByText('Give this to erik@example.org').waitFor();
    await page.locator('#invitations li', { hasText: /^car-7 with e\*\*\*@example\.orgpending$/ }).waitFor();
    expect(await page.evaluate('Object.keys(localStorage).length + Object.keys(sessionStorage).length')).toBe(0);
    expect(complaints).toEqual([]);

    await page.getByRole('button', { name: 'Log out' }).click();
    await page.locator('button[name="logout"]').click();
    await page.waitForURL(`${site}/`);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByLabel('Password').waitFor(); // the session is over
    expect(complaints).toEqual([]);
  });

  test('fits a narrow screen, and says what went wrong', async () => {
    await using opened = await open(320);
    const { page } = opened;
    await logIn(page);
    await page.getByText(`Logged in as ${email}`).waitFor();
    await page.getByLabel('Email address').fill('erik@example.org');
    await page.getByRole('textbox', { name: 'Car' }).fill('car-8');
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('alert').filter({ hasText: 'user:may_use:car:invitation:create' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
  });

  test('log-in CSRF: a code that somebody plants in the address is not redeemed', async () => {
    await using opened = await open(1280);
    const { page } = opened;
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.url()));
    await page.goto(`${site}/?code=planted&state=x&iss=${encodeURIComponent(`${baseUrl}/carshare/oidc`)}`);
    await page.getByRole('alert').filter({ hasText: 'not begun here' }).waitFor();
    expect(sent.filter((url) => url.startsWith(baseUrl))).toEqual([]);
  });

  test('its policy lets no other script and no other address in', async () => {
    await using opened = await open(1280);
    const { page, complaints } = opened;
    const response = await page.goto(`${site}/`);
    expect(response?.headers()['content-security-policy']).toBe("frame-ancestors 'none'");
    expect(
      await page.evaluate(`fetch('${baseUrl.replace('127.0.0.1', 'localhost')}/').then(() => 'sent', () => 'kept')`),
    ).toBe('kept');
    await expect.poll(() => complaints.join()).toContain('connect-src');
  });
});
