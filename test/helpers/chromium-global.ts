/** Starts one Chromium for the browser walks of the whole run; each of their processes connects to it (chromium.ts). */
import { type BrowserServer, chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { chromiumPath } from '../pages/chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where Chromium is reached, if there is one. */
    chromiumUrl: string | undefined;
  }
}

/** Chromium takes the last list of these, so that what Playwright says of its own accord is said again. */
const disabled = [
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades', 'MediaRouter'],
  ...['AvoidCorsURLLoaderRestartOnRedirect', 'OptimizationHints', 'PaintHolding', 'ThirdPartyStoragePartitioning'],
  // Pages of one site share a process, and none is started for pages that may come: each costs as much as a page.
  ...['site-per-process', 'IsolateSandboxedIframes', 'SpareRendererForSitePerProcess'],
  // Nor is what shows suggestions below the address, two pages for each window.
  ...['AimEnabled', 'PreconnectToSearch', 'WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'],
];
const args = ['--no-sandbox', '--disable-gpu', '--process-per-site', `--disable-features=${disabled.join(',')}`];

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const executablePath = chromiumPath();
  if (executablePath === undefined) return project.provide('chromiumUrl', undefined) as undefined;
  // Who stops the run stops Vitest, which ends what was set up.
  const left = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
  const server: BrowserServer = await chromium.launchServer({ executablePath, args, ...left });
  project.provide('chromiumUrl', server.wsEndpoint());
  return () => server.close();
}
