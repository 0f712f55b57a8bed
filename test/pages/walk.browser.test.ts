/** Every page in Chromium: wide and narrow, light and dark, by keyboard, and without JavaScript. test/run.ts says when it is skipped. */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { newContext } from '../helpers/chromium.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { keepPicture, type pictures } from '../helpers/pictures.ts';
import { skipsBrowser } from './chromium.ts';
import { samples } from './samples.ts';
import { servePages } from './site.ts';

const inspect = readFileSync(new URL('inspect.js', import.meta.url), 'utf8');
const names = Object.keys(samples);

type Shown = {
  name: string;
  picture: Extract<keyof typeof pictures, `${string}.png`>;
  width: number;
  colorScheme?: 'light' | 'dark';
  from?: string;
  to?: string;
};
const gap = 10;
/** Pages of which docs/ have a picture; of a long one, from one part to another. */
const shown: Shown[] = [
  { name: 'log-in', picture: 'log-in.png', width: 560 },
  { name: 'invitation-account', picture: 'invitation.png', width: 560, colorScheme: 'dark' },
  { name: 'consent', picture: 'consent.png', width: 560 },
  { name: 'account', picture: 'account.png', width: 600, to: 'What you share' },
  {
    ...{ name: 'account', picture: 'account-sessions.png', width: 600, colorScheme: 'dark' },
    ...{ from: 'Applications with access', to: 'Where you are logged in' },
  },
  { name: 'portal-invitation', picture: 'member-invitation.png', width: 480 },
];

describe.skipIf(skipsBrowser())('in a browser', () => {
  let site: Awaited<ReturnType<typeof servePages>>;
  beforeAll(async () => {
    site = await servePages();
  });
  /** Tabs by their options, each used by one test after the other. The pages keep nothing in the browser. */
  const idle = new Map<string, Page>();
  closeAtEnd(async () => {
    for (const page of idle.values()) await page.context().close();
    await site?.close();
  });

  /** A page, and what the browser complained of: errors of scripts, violations of the policy, answers of 400 and more. */
  async function open({ viewport, colorScheme, ...options }: BrowserContextOptions) {
    const key = JSON.stringify(options);
    const page = idle.get(key) ?? (await (await newContext(options)).newPage());
    idle.set(key, page);
    await page.setViewportSize(viewport ?? { width: 1280, height: 720 });
    await page.emulateMedia({ colorScheme: colorScheme ?? 'light' });
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on(
      'response',
      (response) => response.status() >= 400 && complaints.push(`${response.status()} ${response.url()}`),
    );
    return { page, complaints, [Symbol.asyncDispose]: async () => void page.removeAllListeners() };
  }
  const go = (page: Page, name: string, language = 'en') => page.goto(`${site.base}/${language}/${name}`);
  const focused = (page: Page) =>
    page.evaluate('document.activeElement.name || document.activeElement.className || document.activeElement.tagName');
  async function tabs(page: Page, count: number) {
    const seen: unknown[] = [];
    for (let i = 0; i < count; i++) {
      await page.keyboard.press('Tab');
      seen.push(await page.evaluate('document.activeElement.name || document.activeElement.textContent.trim()'));
    }
    return seen;
  }

  test.each([
    { width: 320, colorScheme: 'light', language: 'fr' },
    { width: 320, colorScheme: 'dark', language: 'nl' },
    { width: 1280, colorScheme: 'light', language: 'nl' },
    { width: 1280, colorScheme: 'dark', language: 'en' },
  ] as const)('nothing is wrong with any page: $width pixels, $colorScheme, $language', async (look) => {
    await using opened = await open({ viewport: { width: look.width, height: 800 }, colorScheme: look.colorScheme });
    const { page, complaints } = opened;
    const found: Record<string, unknown> = {};
    for (const name of names) {
      await go(page, name, look.language);
      const wrong = [...((await page.evaluate(inspect)) as string[]), ...complaints.splice(0)];
      if (wrong.length > 0) found[name] = wrong;
    }
    expect(found).toEqual({});
  });

  /** From one part of a page, or from its top, to another part. */
  async function clipOf(page: Page, width: number, to: string, from?: string) {
    const boxOf = (part: string) => page.getByRole('region', { name: part, exact: true }).boundingBox();
    const [first, last] = [from === undefined ? { y: gap } : await boxOf(from), await boxOf(to)];
    if (first === null || last === null) throw new Error(`the page does not show ${from} and ${to}`);
    const y = first.y - gap;
    return { x: 0, y, width, height: last.y + last.height + gap - y };
  }

  test('the pictures of docs/ show pages with which nothing is wrong', async () => {
    await using opened = await open({});
    const { page, complaints } = opened;
    for (const { name, picture, width, colorScheme = 'light', from, to } of shown) {
      await page.setViewportSize({ width, height: 600 });
      await page.emulateMedia({ colorScheme });
      await go(page, name);
      expect([name, await page.evaluate(inspect), complaints]).toEqual([name, [], []]);
      const clip = to === undefined ? {} : { clip: await clipOf(page, width, to, from) };
      await keepPicture(page, picture, { fullPage: true, ...clip });
    }
  });

  test('the inspection finds what is wrong', async () => {
    await using opened = await open({ viewport: { width: 320, height: 800 } });
    await opened.page.goto('about:blank'); // the policy of our own pages would refuse its styles
    await opened.page.setContent(
      '<main><input name="a"><a href="#x">x</a><button style="height: 20px">b</button><p style="color: #999; width: 400px">grey</p></main>',
    );
    const wrong = (await opened.page.evaluate(inspect)) as string[];
    for (const word of [
      'sideways',
      'sticks out',
      'no label',
      'no autocomplete',
      'leads to nothing',
      'too small',
      'contrast',
    ]) {
      expect(wrong.join('\n')).toContain(word);
    }
  });

  test('text can be twice as large at 640 pixels (WCAG 1.4.4)', async () => {
    await using opened = await open({ viewport: { width: 640, height: 800 } });
    const { page } = opened;
    for (const name of names) {
      await go(page, name);
      await page
        .addStyleTag({ content: 'html { font-size: 200% }' })
        .catch(() => page.evaluate("document.documentElement.style.fontSize = '200%'"));
      const wider = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      expect(wider, name).toBeLessThanOrEqual(0);
    }
  });

  test('the keyboard goes through log-in from top to bottom, and is seen', async () => {
    await using opened = await open({});
    const { page } = opened;
    await go(page, 'log-in');
    await expect.poll(() => focused(page)).toBe('email');
    expect(await tabs(page, 7)).toEqual([
      'password',
      'Forgot your password?',
      'Log in',
      'Log in with a passkey',
      'upstream',
      'Create an account',
      'cancel',
    ]);
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outline');
    expect(outline).toMatch(/solid 3px/);
  });

  test('errors have the focus first, and lead to their fields', async () => {
    await using opened = await open({});
    const { page } = opened;
    await go(page, 'log-in-empty');
    expect(await page.title()).toMatch(/^Error: Log in/);
    await expect.poll(() => focused(page)).toBe('notice bad');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => focused(page)).toBe('email');
    const field = page.getByLabel('Email address');
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await field.getAttribute('aria-describedby')).toBe('email-error');
  });

  test('without JavaScript, Enter logs in and does nothing else', async () => {
    await using opened = await open({ javaScriptEnabled: false });
    const { page } = opened;
    await go(page, 'log-in');
    await page.getByLabel('Email address').fill('alice@example.com');
    await page.getByLabel('Password').fill('correct horse');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/send');
    expect(site.posted.splice(0)).toEqual([
      { path: '/send', fields: { csrf: 'c2FtcGxl', email: 'alice@example.com', password: 'correct horse' } },
    ]);
  });

  test.each([
    ['consent', 'Do not allow', '/send', { decision: 'deny' }],
    ['consent', 'Allow', '/send', { decision: 'allow' }],
    ['log-out', 'Log out', '/end', { logout: 'yes' }],
    ['log-out', 'Stay logged in', '/end', { logout: undefined }],
    ['device-confirm', 'Connect', '/device', { abort: undefined, confirm: 'yes', user_code: 'WDJB-MJHT' }],
    ['device-confirm', 'Do not connect', '/device', { abort: 'yes' }],
    ['invitation', 'Decline', '/send', { decision: 'decline' }],
    ['invitation-account', 'Accept', '/send', { decision: 'accept' }],
    ['account', 'Stop sharing: Car 7 (Volvo, 12-AB-34) → Bob de Vries', '/shares', { id: '1' }],
    ['account', 'Log out everywhere else', '/sessions/others', {}],
    ['confirm', 'Stop sharing', '/send', { id: '1', confirmed: '1' }],
    ['verify', 'Confirm address', '/send', { token: 't' }],
    ['portal-invitation-own', 'Accept', '/send', { decision: 'accept' }],
  ])('without JavaScript, %s: %s', async (name, label, path, fields) => {
    await using opened = await open({ javaScriptEnabled: false });
    const { page } = opened;
    await go(page, name);
    await page.getByRole('button', { name: label, exact: true }).click();
    await page.waitForURL(`**${path}`);
    const [posted] = site.posted.splice(0);
    expect(posted?.path).toBe(path);
    for (const [field, value] of Object.entries(fields)) expect(posted?.fields[field], field).toBe(value);
  });

  test('a passkey is made and used; the script posts what the browser gives', async () => {
    await using opened = await open({});
    const { page, complaints } = opened;
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('WebAuthn.enable');
    const capable = { hasResidentKey: true, hasUserVerification: true, isUserVerified: true };
    const options = {
      protocol: 'ctap2',
      transport: 'internal',
      automaticPresenceSimulation: true,
      ...capable,
    } as const;
    await cdp.send('WebAuthn.addVirtualAuthenticator', { options });
    for (const [name, button] of [
      ['passkey-new', 'Create passkey'],
      ['passkey', 'Use passkey'],
    ] as const) {
      await page.goto(`${site.named}/en/${name}`);
      await page.getByRole('button', { name: button }).click();
      await page.waitForURL('**/send');
      const [posted] = site.posted.splice(0);
      expect(posted?.fields.csrf).toBe('c2FtcGxl');
      expect(JSON.parse(posted?.fields.credential ?? '')).toMatchObject({
        type: 'public-key',
        rawId: expect.any(String),
      });
    }
    await cdp.detach();
    expect(complaints).toEqual([]);
  });

  test('a passkey that is refused is told, and another way is there', async () => {
    await using opened = await open({});
    const { page } = opened;
    await go(page, 'passkey'); // at an address, which can have no passkey
    await page.getByRole('button', { name: 'Use passkey' }).click();
    await page.getByRole('alert').filter({ hasText: 'That did not work' }).waitFor();
    await page.getByRole('link', { name: 'Log in another way' }).waitFor();
  });

  test('without JavaScript the passkey page says so', async () => {
    await using opened = await open({ javaScriptEnabled: false });
    await go(opened.page, 'passkey');
    expect(await opened.page.getByText('Passkeys need JavaScript').isVisible()).toBe(true);
    expect(await opened.page.getByRole('button').count()).toBe(0);
  });

  describe('a form that leads to an application', () => {
    let application: Server;
    const origin = (host: string) => `http://${host}:${(application.address() as AddressInfo).port}`;
    beforeAll(async () => {
      application = createServer((request, response) => {
        // Its callback redirects on to a third origin, as many do.
        if (request.url?.startsWith('/callback')) response.writeHead(303, { location: `${origin('localhost')}/home` });
        response.end('<title>Home</title>');
      });
      await new Promise<void>((done) => application.listen(0, done));
    });
    closeAtEnd(() => application?.close());

    test.each([true, false])('arrives, also where that redirects on; JavaScript: %s', async (javaScriptEnabled) => {
      const leading = await servePages(() => `${origin('127.0.0.1')}/callback?code=1&state=x`);
      await using opened = await open({ javaScriptEnabled });
      const { page, complaints } = opened;
      await page.goto(`${leading.base}/en/consent`);
      await page.getByRole('button', { name: 'Allow', exact: true }).click();
      await page.waitForURL('**/home');
      expect(new URL(page.url()).origin).toBe(origin('localhost'));
      expect(complaints).toEqual([]);
      await leading.close();
    });
  });
});
