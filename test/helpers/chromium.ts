/** The Chromium of the run, as a test file uses it. */
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Download,
} from 'playwright-core';
import { inject } from 'vitest';
import { howToGetChromium } from '../pages/chromium.ts';
import { WAIT_MS_MAX } from './wait.ts';

// The files of a process are of one connection: a module is loaded again where they do not share it.
const kept = globalThis as { __accordChromium?: Promise<Browser> };

/** A window of its own, without cookies and with the patience of every test. Who opens it closes it. */
export async function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const url = inject('chromiumUrl');
  if (url === undefined) throw new Error(`there is no Chromium: ${howToGetChromium}`);
  kept.__accordChromium ??= chromium.connect(url);
  const context = await (await kept.__accordChromium).newContext(options);
  context.setDefaultTimeout(WAIT_MS_MAX);
  return context;
}

/** What a page saved. */
export async function savedText(download: Download): Promise<string> {
  const parts = await (await download.createReadStream()).toArray();
  return Buffer.concat(parts).toString();
}
