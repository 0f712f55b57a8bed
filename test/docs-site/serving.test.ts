/** The documentation as a server serves it: headers, what is compressed, what is not there. On files that this test writes. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import Fastify from 'fastify';
import { afterAll, expect, test } from 'vitest';
import type { App } from '../../server/http/fastify.ts';
import { registerGuide } from '../../server/http/guide.ts';
import { registerGuidePages } from '../../server/http/guide-pages.ts';
import { guides } from '../portal-app/pages.ts';

const folder = mkdtempSync(join(tmpdir(), 'accord-guide-'));
afterAll(() => rmSync(folder, { recursive: true }));
const page = '<!doctype html><title>A page</title>';
mkdirSync(join(folder, 'assets'));
writeFileSync(join(folder, 'index.html'), page);
writeFileSync(join(folder, 'index.html.br'), brotliCompressSync(page));
writeFileSync(join(folder, '404.html'), '<title>not there</title>');
writeFileSync(join(folder, 'assets/app.1a2b.js'), 'export {};');
writeFileSync(join(folder, '.sources'), 'of the build');

const app = Fastify() as unknown as App;
expect(await registerGuide(app, folder)).toBe(true);
const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });

test('a page runs nothing but files of the site, is not framed, and is asked for again', async () => {
  const { statusCode, headers, body } = await get('/docs/guide/');
  expect(statusCode).toBe(200);
  expect(body).toBe(page);
  expect(headers['cache-control']).toBe('no-cache');
  const policy = `${headers['content-security-policy']}`.split(';');
  expect(policy).toEqual(
    expect.arrayContaining(["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"]),
  );
  // Attributes of style alone: nothing of a page is what somebody else wrote.
  expect(policy.filter((one) => one.includes('unsafe'))).toEqual(["style-src-attr 'unsafe-inline'"]);
  expect(policy.filter((one) => /https?:|\*/.test(one))).toEqual([]);
});

test('a file that was compressed when the site was built is served so', async () => {
  const { headers, rawPayload } = await get('/docs/guide/index.html', { 'accept-encoding': 'gzip, br' });
  expect(headers).toMatchObject({ 'content-encoding': 'br', vary: 'accept-encoding' });
  expect(brotliDecompressSync(rawPayload).toString()).toBe(page);
});

test('files whose names have a digest are kept for a year', async () => {
  const { headers } = await get('/docs/guide/assets/app.1a2b.js');
  expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
});

test('the address without a slash leads on, so that links of the page are right', async () => {
  const { statusCode, headers } = await get('/docs/guide');
  expect(statusCode).toBe(302);
  // Also below a base URL with a path.
  expect(headers.location).toBe('guide/');
});

test.each([
  '/docs/guide/nothing.html',
  '/docs/guide/assets',
  '/docs/guide/%2e%2e/serving.test.ts',
  '/docs/guide/..%2fpasswd',
  '/docs/guide/.sources',
])('%s is not there, and nothing is told of the folder', async (url) => {
  const { statusCode, body } = await get(url);
  expect([403, 404]).toContain(statusCode);
  expect(body).not.toContain(folder);
  expect(body).not.toContain('of the build');
});

test('a server without the files has no such address', async () => {
  const bare = Fastify() as unknown as App;
  expect(await registerGuide(bare, join(folder, 'nothing'))).toBe(false);
  expect((await bare.inject('/docs/guide/')).statusCode).toBe(404);
});

const pages = Fastify() as unknown as App;
await registerGuidePages(pages);

test('where nobody built the site, the pages of docs/ are there as they are written, and their links lead on', async () => {
  const first = await pages.inject('/docs/guide/');
  expect(first.statusCode).toBe(200);
  const named = [...first.body.matchAll(/href="([a-z0-9-]+\.html)/g)].map(([, page]) => page as string);
  expect(named.length).toBeGreaterThan(20);
  const answers = await Promise.all(
    named.map(async (page) => [page, (await pages.inject(`/docs/guide/${page}`)).statusCode]),
  );
  expect(answers.filter(([, status]) => status !== 200)).toEqual([]);
  expect((await pages.inject('/docs/guide')).headers.location).toBe('guide/');
});

test('a page that is written is text: nothing of it runs', async () => {
  const written = mkdtempSync(join(tmpdir(), 'accord-pages-'));
  writeFileSync(
    join(written, 'README.md'),
    '# A "b" <c>\n\n<script>x</script> [d](e.md#f-g) [h](https://i.example/?j&k) [l](../m.ts)',
  );
  const own = Fastify() as unknown as App;
  await registerGuidePages(own, written);
  const { body, headers } = await own.inject('/docs/guide/');
  rmSync(written, { recursive: true });
  expect(body).toContain('<b id="a-b-c"># A &quot;b&quot; &lt;c&gt;</b>');
  expect(body).toContain('&lt;script&gt;x&lt;/script&gt; <a href="e.html#f-g">d</a>');
  expect(body).toContain('<a href="https://i.example/?j&amp;k">h</a> l</pre>');
  expect(`${headers['content-security-policy']}`).toContain("script-src 'self'");
});

test.each([
  '/docs/guide/nothing.html',
  '/docs/guide/README.html',
  '/docs/guide/..%2fREADME.html',
  '/docs/guide/policies',
])('the pages as they are written have no %s', async (url) => {
  expect((await pages.inject(url)).statusCode).toBeGreaterThanOrEqual(400);
});

test('each page of the portal links a page of the guide, and a heading, that is there', async () => {
  const all = guides();
  expect(all.filter(({ guide }) => guide === undefined)).toEqual([]);
  expect(all.length).toBeGreaterThan(30);
  for (const { page, guide = '' } of all) {
    const [file = '', anchor] = guide.split('#');
    const { statusCode, body } = await pages.inject(`/docs/guide/${file}`);
    expect([page, guide, statusCode]).toEqual([page, guide, 200]);
    if (anchor !== undefined) expect(body, `${page}: ${guide}`).toContain(`<b id="${anchor}">`);
  }
});
