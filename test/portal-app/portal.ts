/**
 * The portal's web application on a real server, with a member who is logged in. It is built once for all test files, in
 * node_modules/.cache; a file that changes below portal/ makes it be built again.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { ensurePortalTenant } from '../../server/portal/index.ts';
import type { TenantSpec } from '../../server/tenants/index.ts';
import { newContext } from '../helpers/chromium.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { freePort } from '../helpers/free-port.ts';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { chromiumPath, howToGetChromium } from '../pages/chromium.ts';
import { enrolling, type Role } from '../portal/enrolling.ts';

export { axe } from './axe.ts';

const root = join(import.meta.dirname, '../..');
export const executablePath = chromiumPath();
if (executablePath === undefined) {
  // biome-ignore lint/suspicious/noConsole: what is not tested is said aloud
  console.warn(`THE PORTAL'S APPLICATION IS NOT TESTED: there is no Chromium. To get it: ${howToGetChromium}`);
}

/** Where it is built: the mode `test` adds the gallery of portal/src/why. */
export async function buildPortal(): Promise<string> {
  const sources = globSync('portal/{*.{ts,html,json},src/**/*}', { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const digest = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  for (const file of sources) digest.update(`${file}\0`).update(readFileSync(file));
  const cache = join(root, 'node_modules/.cache');
  const built = join(cache, `accord-portal-${digest.digest('hex').slice(0, 16)}`);
  if (existsSync(built)) return built;
  mkdirSync(cache, { recursive: true });
  // Built beside it and renamed: two test files may build at the same time.
  const making = `${built}.${process.pid}`;
  const vite = [join(root, 'node_modules/vite/bin/vite.js'), 'build', '--config', 'portal/vite.config.ts'];
  const env = { ...process.env, NODE_ENV: 'production' };
  await promisify(execFile)(process.execPath, [...vite, '--mode', 'test', '--outDir', making], { cwd: root, env });
  try {
    renameSync(making, built);
  } catch {
    rmSync(making, { recursive: true, force: true });
  }
  return built;
}

const kept = globalThis as { __accordPortalPort?: number };

/** The files of a process follow one another at one address: what the browser keeps of the application serves them all. */
async function portOfProcess(): Promise<number> {
  const before = kept.__accordPortalPort;
  const port = (before !== undefined && (await freePort(before).catch(() => undefined))) || (await freePort());
  kept.__accordPortalPort = port;
  return port;
}

type Member = { role: Role; tenant?: Partial<TenantSpec> };

/**
 * A server that serves the application, and somebody who is logged in at the portal and is a member of a tenant. Call it at the top of a
 * file: it is closed after the file's tests.
 * @param environment variables of the server, such as ACCORD_ENVIRONMENT
 */
export async function createPortal({ role, tenant: spec }: Member, environment: Record<string, string> = {}) {
  const directory = await buildPortal();
  const listen = `127.0.0.1:${await portOfProcess()}`;
  const base = `http://${listen}`;
  const own = { ACCORD_BASE_URL: base, ACCORD_LISTEN: listen, ACCORD_OUTBOUND_ALLOW: '127.0.0.0/8' };
  const server = await createTestServer({ ...own, ...environment }, undefined, undefined, { directory });
  const [host, port] = listen.split(':');
  await server.app.listen({ host: host as string, port: Number(port) });
  closeAtEnd(() => server.app.server.closeAllConnections());
  await ensurePortalTenant(server.services);
  await server.services.snapshots.refresh('portal');
  const tenant = await server.tenant({ displayName: 'Cars of Ghent', ...spec });
  const people = enrolling(server);
  const { browser, email } = await people.enrolled(tenant, role);
  const blank = `${base}/portal/${globSync('assets/*.css', { cwd: directory })[0]}`;
  const cookies = browser.cookies.map(({ name, value }) => ({ name, value, url: `${base}/` }));
  /** A page of a browser in which that member, or with `cookies` somebody else, is logged in. */
  const open = (options: BrowserContextOptions = {}, logged = cookies) => openPage(options, logged, blank);
  return { server, tenant, base, directory, email, people, browser, open };
}

type Cookies = { name: string; value: string; url: string }[];
type Tab = { page: Page; context: BrowserContext };

/** Tabs that nobody uses now, by their options: where the application was loaded before, it is there in half the time. */
const idle = new Map<string, Tab[]>();

/** What can be undone is offered for this long; on a busy machine the walk comes to it later. */
const undoMs = 8_000;
const undoStays = `{
  const { setTimeout } = window;
  window.setTimeout = (act, ms, ...more) => (ms === ${undoMs} ? 0 : setTimeout(act, ms, ...more));
}`;

async function newTab(options: BrowserContextOptions): Promise<Tab> {
  const context = await newContext(options);
  await context.addInitScript(undoStays);
  return { page: await context.newPage(), context };
}

/**
 * Nothing of what was on the page stays but the application's files.
 * @param blank a page of the same server without scripts: on the way to one of another site the tab would get another
 * process, which compiles the application again
 */
async function clear({ page, context }: Tab, blank: string): Promise<void> {
  page.removeAllListeners();
  context.removeAllListeners();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await context.unrouteAll({ behavior: 'ignoreErrors' });
  for (const other of context.pages()) if (other !== page) await other.close();
  await page.goto(blank);
  await page.evaluate('sessionStorage.clear()');
  const devTools = await context.newCDPSession(page);
  await devTools.send('Storage.clearDataForOrigin', { origin: new URL(blank).origin, storageTypes: 'all' });
  await devTools.detach();
  await context.clearCookies();
}

/**
 * A page, and what the browser complained of: errors of scripts and violations of the Content-Security-Policy. Disposed of by
 * `await using`.
 */
async function openPage({ viewport, colorScheme, ...asked }: BrowserContextOptions, cookies: Cookies, blank: string) {
  const still = { reducedMotion: 'reduce' } as const; // what moves is neither looked at nor clicked reliably
  const options = { locale: 'en-GB', ...still, ...asked };
  const key = JSON.stringify(options);
  const tab = idle.get(key)?.pop() ?? (await newTab(options));
  const { page, context } = tab;
  await page.setViewportSize(viewport ?? { width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: colorScheme ?? 'light' });
  await context.addCookies(cookies);
  const complaints: string[] = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  const giveBack = async () => {
    await clear(tab, blank);
    idle.set(key, [...(idle.get(key) ?? []), tab]);
  };
  return { page, context, complaints, [Symbol.asyncDispose]: giveBack };
}

/** Opens what Ctrl-K opens, which may listen to keys a moment after the page is seen. @returns where one types */
export async function openPalette(page: Page): Promise<Locator> {
  const field = page.getByRole('dialog').getByRole('combobox');
  await until('the palette', async () => {
    await page.keyboard.press('Control+k');
    return field.isVisible();
  });
  return field;
}

/** What is read again when somebody comes back to the page later than it is thought to be new. */
export async function comeBackLater(page: Page): Promise<void> {
  await page.evaluate(`{
    const now = Date.now;
    Date.now = () => now.call(Date) + 120_000;
    window.dispatchEvent(new Event('visibilitychange'));
  }`);
}

/** Does something when the page sends such a request, before the server gets it. */
export async function whileSent(page: Page, method: string, path: string, act: () => Promise<unknown>): Promise<void> {
  let isDone = false;
  await page.route(`**${path}`, async (route) => {
    if (isDone || route.request().method() !== method) return route.fallback();
    isDone = true;
    await act();
    await route.continue();
  });
}

/** Keeps a picture where ACCORD_TEST_SHOTS says, and holds that nothing is wider than the page. */
export async function look(page: Page, name: string): Promise<void> {
  const to = process.env.ACCORD_TEST_SHOTS;
  if (to) await page.screenshot({ path: `${to}/${name}.png`, fullPage: true });
  const wider = () => page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  await expect.poll(wider, { message: `pixels by which ${name} is wider than the window` }).toBe(0);
}

type Styled = { ownerDocument: { defaultView: { getComputedStyle(of: unknown): Record<string, string> } } };

/** A property of an element as it is drawn, also in a frame. */
export const styleOf = (locator: Locator, name: string) =>
  locator.evaluate(
    (one, name) => (one as unknown as Styled).ownerDocument.defaultView.getComputedStyle(one)[name],
    name,
  );
