/**
 * Every page with sample data, for looking at and for the browser's test: `node test/pages/preview.ts DIR [PAGE…]` writes each in each
 * language to DIR, and pictures of them (wide and narrow, light and dark) where there is Chromium.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { type Language, languages } from '../../server/pages/index.ts';
import { chromiumPath } from './chromium.ts';
import { samples } from './samples.ts';
import { servePages } from './site.ts';

const [directory, ...words] = process.argv.slice(2);
if (directory === undefined) {
  process.stderr.write('node test/pages/preview.ts DIR [PAGE…]\n');
  process.exit(2);
}
const chosen = Object.keys(samples).filter((name) => words.length === 0 || words.some((word) => name.includes(word)));
mkdirSync(directory, { recursive: true });
for (const name of chosen) {
  for (const language of languages) {
    writeFileSync(join(directory, `${name}.${language}.html`), samples[name]?.(language).body ?? '');
  }
}
const executablePath = chromiumPath();
if (executablePath !== undefined) {
  const site = await servePages();
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const looks = [
    { width: 1280, scheme: 'light', language: 'en' },
    { width: 360, scheme: 'light', language: 'fr' },
    { width: 1280, scheme: 'dark', language: 'nl' },
    { width: 360, scheme: 'dark', language: 'en' },
  ] as const satisfies { width: number; scheme: 'light' | 'dark'; language: Language }[];
  for (const { width, scheme, language } of looks) {
    const context = await browser.newContext({ viewport: { width, height: 820 }, colorScheme: scheme });
    const page = await context.newPage();
    for (const name of chosen) {
      await page.goto(`${site.base}/${language}/${name}`);
      const path = join(directory, `${name}.${width < 600 ? 'narrow' : 'wide'}.${scheme}.png`);
      await page.screenshot({ path, fullPage: true });
    }
    await context.close();
  }
  await browser.close();
  await site.close();
}
