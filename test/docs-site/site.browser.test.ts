/**
 * The built documentation in a real browser, as a server serves it: wide and narrow, light and dark, the search, and no complaint of
 * the browser about the policy. With ACCORD_TEST_SHOTS=FOLDER pictures of it are kept.
 */
import { AxeBuilder } from '@axe-core/playwright';
import { beforeAll, describe, expect, test } from 'vitest';
import { serve } from '../../docs/site/serve.ts';

import { newContext } from '../helpers/chromium.ts';
import { freePort } from '../helpers/free-port.ts';
import { skipsBrowser } from '../pages/chromium.ts';
import { skipsSite } from './built.ts';

const looks = [
  { width: 1400, colorScheme: 'light' },
  { width: 1400, colorScheme: 'dark' },
  { width: 390, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const;

describe.skipIf(skipsSite() || skipsBrowser())('the site in a browser', () => {
  let address: string;
  beforeAll(async () => {
    const site = await serve(`127.0.0.1:${await freePort()}`);
    address = site.address;
    return site.close;
  });

  async function open({ width, colorScheme }: (typeof looks)[number]) {
    const context = await newContext({ viewport: { width, height: 900 }, colorScheme });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(address) && !/^data:|\/favicon\.ico$/.test(request.url()))
        complaints.push(request.url());
    });
    return { page, complaints, close: () => context.close() };
  }

  test.each(looks)('pages at %o', async (look) => {
    const { page, complaints, close } = await open(look);
    const isDark = look.colorScheme === 'dark';
    for (const name of ['index', 'share-a-car', 'concepts', 'security', 'cli']) {
      await page.goto(`${address}${name === 'index' ? '' : `${name}.html`}`, { waitUntil: 'networkidle' });
      const wider = () => page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      await expect.poll(wider, { message: name }).toBe(0);
      await expect.poll(() => page.evaluate("document.documentElement.classList.contains('dark')")).toBe(isDark);
      const to = process.env.ACCORD_TEST_SHOTS;
      if (to) await page.screenshot({ path: `${to}/${name}-${look.width}-${look.colorScheme}.png` });
    }
    // A drawing follows the theme of the site, which the reader may choose against the system's.
    await page.goto(`${address}concepts.html`, { waitUntil: 'networkidle' });
    const ink = () => page.evaluate("getComputedStyle(document.querySelector('.drawing .t')).fill");
    const before = await ink();
    await page.evaluate("document.documentElement.classList.toggle('dark')");
    await expect.poll(ink).not.toBe(before);
    expect(complaints).toEqual([]);
    await close();
  });

  test('the search finds a page by words of it, without asking anybody else', async () => {
    const { page, complaints, close } = await open(looks[0]);
    await page.goto(address, { waitUntil: 'networkidle' });
    await page.locator('.VPNavBarSearch button').click();
    await page.locator('.search-input').fill('master key');
    await page.locator('.result', { hasText: 'Keys and their rotation' }).first().click();
    await page.waitForURL(/\/docs\/guide\/keys\.html/);
    expect(complaints).toEqual([]);
    await close();
  });

  test.each([looks[0], looks[1]])('axe finds nothing serious in what is written here: %o', async (look) => {
    const { page, close } = await open(look);
    for (const name of ['concepts', 'security']) {
      await page.goto(`${address}${name}.html`, { waitUntil: 'networkidle' });
      const { violations } = await new AxeBuilder({ page }).include('.vp-doc').analyze();
      const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      expect(serious.map(({ id, nodes }) => `${name}: ${id}: ${nodes[0]?.html.slice(0, 120)}`)).toEqual([]);
    }
    await close();
  });
});
