/** The portal in Chromium, measured by the page's own clock: what a person waits for, from the click to the frame that shows it. */
import { type Browser, chromium, type Page } from 'playwright-core';
import { chromiumPath, howToGetChromium } from '../test/pages/chromium.ts';

const VIEWPORT = { width: 1440, height: 900 };
const WAIT_MS = 60_000;

export type Site = { base: string; session: string };

export function launch(): Promise<Browser> {
  const executablePath = chromiumPath();
  if (executablePath === undefined) throw new Error(`There is no Chromium. To get it: ${howToGetChromium}`);
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** An empty page of somebody who is logged in. @param cache false: nothing of HTTP is cached */
export async function openPage(browser: Browser, { base, session }: Site, cache = true): Promise<Page> {
  const context = await browser.newContext({ viewport: VIEWPORT, locale: 'en-GB' });
  await context.addCookies([{ name: 'accord_portal_session', value: session, url: `${base}/` }]);
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  page.on('pageerror', (error) => console.log(`  (the page: ${error.message})`));
  if (!cache) {
    const client = await context.newCDPSession(page);
    await client.send('Network.enable');
    await client.send('Network.setCacheDisabled', { cacheDisabled: true });
  }
  return page;
}

/** Is run in the page: waits, frame by frame, until all that is named is there and nothing is loading, and then for that frame. */
const untilShown = `async (shown) => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const isShown = () => shown.every((one) => document.querySelector('main ' + one) !== null)
    && document.querySelector('main [aria-busy="true"], main .skeleton') === null;
  const until = performance.now() + ${WAIT_MS};
  while (!isShown()) {
    if (performance.now() > until) throw new Error('not shown: ' + shown.join() + ' but ' + document.body.innerText.slice(0, 500));
    await frame();
  }
  await frame();
}`;

type Seen = { ms: number; slowest: { path: string; ms: number }; requests: number };
/** `cpuMs`: of the page's main thread. */
export type Visit = Seen & { cpuMs: number };

/** Seconds that the page's main thread has worked. */
async function watch(page: Page): Promise<() => Promise<number>> {
  const client = await page.context().newCDPSession(page);
  await client.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await client.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
  };
}

/** Goes to the address as a link of the page does, and waits until it is shown. @param shown selectors within the page's main part */
export async function change(page: Page, path: string, shown: readonly string[]): Promise<Visit> {
  const worked = await watch(page);
  const before = await worked();
  const seen = await go(page, path, shown);
  return { ...seen, cpuMs: ((await worked()) - before) * 1000 };
}

function go(page: Page, path: string, shown: readonly string[]): Promise<Seen> {
  return page.evaluate(`(async () => {
    performance.clearResourceTimings();
    const heading = document.querySelector('main h1');
    const started = performance.now();
    history.pushState({}, '', ${JSON.stringify(path)});
    // What was shown before stays until the new page is loaded.
    while (document.querySelector('main h1') === heading) {
      if (performance.now() > started + ${WAIT_MS}) throw new Error('the page stays as it was: ' + location.href);
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    await (${untilShown})(${JSON.stringify(shown)});
    const ms = performance.now() - started;
    const asked = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/tenants/'))
      .map(({ name, duration }) => ({ path: new URL(name).pathname, ms: duration }));
    const slowest = asked.sort((one, other) => other.ms - one.ms)[0] ?? { path: '', ms: 0 };
    return { ms, slowest, requests: asked.length };
  })()`);
}

/** Opens an address anew. @returns ms from the beginning of the navigation until it is shown, and what was loaded until then */
export async function open(
  page: Page,
  url: string,
  shown: readonly string[],
): Promise<{ ms: number; files: string[] }> {
  await page.goto(url, { waitUntil: 'commit' });
  return page.evaluate(`(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    while (document.querySelector('main') === null) await frame();
    await (${untilShown})(${JSON.stringify(shown)});
    const ms = performance.now();
    const files = performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname);
    return { ms, files };
  })()`);
}

/** Milliseconds of each frame while something is dragged over the page, and what the page's main thread did for a frame. */
export type Drag = { frames: number[]; cpuMs: number };

const MOVES = 120;

/** @param from where the mouse takes hold, in the window */
export async function drag(page: Page, from: { x: number; y: number }): Promise<Drag> {
  const busy = await watch(page);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.evaluate(`(() => {
    globalThis.frames_ = [];
    let last = performance.now();
    const next = (now) => {
      globalThis.frames_.push(now - last);
      last = now;
      globalThis.asked_ = requestAnimationFrame(next);
    };
    globalThis.asked_ = requestAnimationFrame(next);
  })()`);
  const before = await busy();
  for (let i = 1; i <= MOVES; i++)
    await page.mouse.move(from.x + 150 * Math.sin(i / 10), from.y + 100 * Math.sin(i / 7));
  const cpuSeconds = (await busy()) - before;
  const frames = (await page.evaluate(`(cancelAnimationFrame(globalThis.asked_), globalThis.frames_)`)) as number[];
  await page.mouse.up();
  return { frames: frames.slice(1), cpuMs: (cpuSeconds * 1000) / Math.max(1, frames.length) };
}
