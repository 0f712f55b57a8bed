/** A page in both widths and both themes, and pages that follow each other, without loading anything again. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { until } from '../helpers/wait.ts';
import { axe, drawn } from './axe.ts';
import { look } from './portal.ts';

const looks = [
  { width: 1440, height: 900, colorScheme: 'light', isChecked: true },
  { width: 1440, height: 900, colorScheme: 'dark', isChecked: false },
  { width: 390, height: 844, colorScheme: 'light', isChecked: false },
  { width: 390, height: 844, colorScheme: 'dark', isChecked: true },
] as const;

/** Without a request for so long, and for so many pictures of the page, it has asked for all that it shows. */
const QUIET_MS = 100;
const QUIET_FRAMES = 6;

/** Axe once in each theme and in each width; the other two are looked at where pictures are kept. The page is then light and as wide as before. */
export async function lookAround(page: Page, name: string): Promise<void> {
  const before = page.viewportSize();
  for (const { width, height, colorScheme, isChecked } of looks) {
    if (!isChecked && !process.env.ACCORD_TEST_SHOTS) continue;
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    await page.evaluate(drawn);
    if (isChecked) expect([name, width, await axe(page)]).toEqual([name, width, []]);
    await look(page, `${name}-${width}-${colorScheme}`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  if (before) await page.setViewportSize(before);
}

/**
 * Goes from page to page as a link does, and waits until what the page asks is answered and drawn: a document that is loaded again
 * takes much longer.
 * @returns goes to an address below the server
 */
export function walker(page: Page): (path: string) => Promise<void> {
  let open = 0;
  let last = Date.now();
  const ends = () => {
    open--;
    last = Date.now();
  };
  page.on('request', () => open++);
  page.on('requestfinished', ends);
  page.on('requestfailed', ends);
  return async (path) => {
    last = Date.now();
    await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
    await until('quiet', async () => {
      // By the page's turns, of which a busy machine has fewer: what it draws first asks for what it needs.
      for (let n = 0; n < QUIET_FRAMES / 2; n++) await page.evaluate(drawn);
      return open === 0 && Date.now() - last > QUIET_MS;
    });
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1 }).first().waitFor();
  };
}
