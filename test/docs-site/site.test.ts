/** The built documentation: every page and its search are there, nothing comes from elsewhere, and servers have it at its address. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { guideFolder } from '../../server/http/guide.ts';
import { createTestServer } from '../helpers/server.ts';
import { skipsSite, whyNoSite } from './built.ts';

const docs = join(import.meta.dirname, '../../docs');
const pages = readdirSync(docs)
  .filter((name) => name.endsWith('.md'))
  .map((name) => (name === 'README.md' ? 'index.html' : name.replace(/md$/, 'html')));
const built = (name: string) => readFileSync(join(guideFolder, name), 'utf8');
const server = await createTestServer();
const html = () => readdirSync(guideFolder).filter((name) => name.endsWith('.html'));

describe.skipIf(skipsSite())('the site', () => {
  test('is of the pages as they are', () => {
    expect(whyNoSite()).toBeUndefined();
  });

  test('has each page, the measurements, and each in the navigation of all', () => {
    expect(pages.filter((page) => !existsSync(join(guideFolder, page)))).toEqual([]);
    const first = built('index.html');
    const missing = [...pages, 'results.html'].filter((page) => page !== 'index.html' && !first.includes(`/${page}`));
    expect(missing).toEqual([]);
  });

  test('has a search of its own, which knows all pages', () => {
    const chunks = readdirSync(join(guideFolder, 'assets/chunks'));
    const index = chunks.find((name) => /^@localSearchIndex.*\.js$/.test(name)) ?? '';
    const text = built(join('assets/chunks', index));
    expect(pages.filter((page) => !text.includes(`/docs/guide/${page === 'index.html' ? '#' : page}`))).toEqual([]);
  });

  test('has no script in a page, and nothing of other hosts', () => {
    for (const name of html()) {
      const page = built(name);
      expect(page.match(/<script(?![^>]*\bsrc=)[^>]*>/g) ?? [], name).toEqual([]);
      expect(page.match(/<(?:script|link|img|iframe)[^>]*(?:src|href)="https?:[^"]*"/g) ?? [], name).toEqual([]);
      expect(page.match(/<style/g) ?? [], name).toEqual([]);
    }
  });

  test('has a text for each picture', () => {
    const without = html().flatMap((name) => [
      ...(built(name).match(/<img(?![^>]*\balt="[^"]+")[^>]*>/g) ?? []),
      ...(built(name).match(/<span class="drawing"(?![^>]*aria-label="[^"]+")[^>]*>/g) ?? []),
    ]);
    expect(without).toEqual([]);
    expect(built('concepts.html').match(/<span class="drawing"/g)?.length).toBeGreaterThan(3);
  });

  test('is at its address of a whole server, beside the reference of the API', async () => {
    const [guide, reference, missing] = await Promise.all(
      ['/docs/guide/concepts.html', '/docs', '/docs/guide/nothing.html'].map((url) => server.app.inject(url)),
    );
    expect([guide?.statusCode, reference?.statusCode, missing?.statusCode]).toEqual([200, 200, 404]);
    expect(guide?.body).toContain('<title>Concepts');
    const { paths } = (await server.app.inject('/openapi.json')).json() as { paths: Record<string, unknown> };
    expect(Object.keys(paths).filter((path) => path.includes('guide'))).toEqual([]);
  });

  test('is compressed, and small enough for an image', () => {
    const files = readdirSync(guideFolder, { recursive: true }).map(String);
    expect(files.filter((name) => name.endsWith('.html.br')).length).toBeGreaterThanOrEqual(pages.length);
    const bytes = files
      .filter((name) => /\.\w+$/.test(name))
      .map((name) => readFileSync(join(guideFolder, name)).length);
    expect(bytes.reduce((a, b) => a + b, 0)).toBeLessThan(16 * 1024 * 1024);
  });
});
