/**
 * What axe finds on a page: the rule, and the elements that break it. It runs in the page itself: @axe-core/playwright opens another page for each run and loads axe
 * there, too, which takes as long again. What stands in a frame is a mail, not a page of
 * the portal. A page may be in the midst of drawing: what is wrong with it is so for as long as anything is waited for.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { WAIT_MS_MAX } from '../helpers/wait.ts';

const { resolve } = createRequire(createRequire(import.meta.url).resolve('@axe-core/playwright'));
const source = readFileSync(resolve('axe-core/axe.min.js'), 'utf8');
const run = `axe.run(document, { resultTypes: ['violations'], iframes: false }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`;

/** To be evaluated in a page: what was changed before is on the screen. */
export const drawn = 'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))';

export async function axe(page: Page): Promise<string[]> {
  for (const since = performance.now(); ; ) {
    if (!(await page.evaluate('"axe" in window'))) await page.evaluate(source);
    const found = await page.evaluate<string[]>(run);
    if (found.length === 0 || performance.now() - since > WAIT_MS_MAX) return found;
    await page.evaluate(drawn);
  }
}
