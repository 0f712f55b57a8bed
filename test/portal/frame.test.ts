/** Documents for a frame of the portal: only for a frame of the portal's own pages, and under a policy that lets them do nothing. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { ensurePortalTenant } from '../../server/portal/index.ts';
import { createTestServer } from '../helpers/server.ts';
import { cookiesOf, enrolling } from './enrolling.ts';

const server = await createTestServer();
await ensurePortalTenant(server.services);
await server.services.snapshots.refresh('portal');
const { browser } = await enrolling(server).enrolled(await server.tenant());

type Headers = Record<string, string>;
const own: Headers = { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'iframe', 'sec-fetch-mode': 'navigate' };

const post = (payload: string, headers: Headers = { ...own, cookie: cookiesOf(browser) }, url = '/portal/frame') =>
  server.app.inject({
    ...{ method: 'POST', url, payload },
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });

test('comes back as it was, and may run, load and reach nothing', async () => {
  const html = '<p style="color:red">é & “quotes”</p><script>alert(1)</script>\r\n';
  const { statusCode, headers, body } = await post(new URLSearchParams({ html }).toString());
  expect([statusCode, body]).toEqual([200, html]);
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy':
      "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
    'referrer-policy': 'no-referrer',
  });
  expect(headers['set-cookie']).toBeUndefined();
});

test.each<[string, Headers]>([
  ['a page of another site', { ...own, 'sec-fetch-site': 'cross-site' }],
  ['a frame with an origin of its own', { ...own, 'sec-fetch-site': 'same-site' }],
  ['a window', { ...own, 'sec-fetch-dest': 'document' }],
  ['a script', { ...own, 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'cors' }],
  ['a browser that does not say what it asks for', {}],
])('is refused to %s', async (_, headers) => {
  const { statusCode, body } = await post('html=hello+there', { ...headers, cookie: cookiesOf(browser) });
  expect(statusCode).toBe(403);
  expect(body).not.toContain('hello there');
});

test('is refused to who is not logged in', async () => {
  expect((await post('html=hello+there', own)).body).not.toContain('hello there');
  const url = '/portal/frame?html=hello';
  const opened = await server.app.inject({ url, headers: { ...own, cookie: cookiesOf(browser) } });
  expect([404, 405]).toContain(opened.statusCode);
});

test('has at most portalFrameBytesMax', async () => {
  const of = (bytes: number) => post(`html=${'x'.repeat(bytes - 'html='.length)}`);
  expect((await of(limits.portalFrameBytesMax)).statusCode).toBe(200);
  expect((await of(limits.portalFrameBytesMax + 1)).statusCode).toBe(413);
});

describe('a log-in page in colours that are not saved', () => {
  const look = (fields: Record<string, string>, headers?: Headers) =>
    post(new URLSearchParams(fields).toString(), headers, '/portal/frame/log-in');

  test('has the name, logo, colours and language that are posted, and its forms send nothing', async () => {
    const posted = { name: 'Cars <b>', logo: 'https://img.example/l.svg', colour: '#123456', background: '#e8f0ff' };
    const { statusCode, headers, body } = await look({ ...posted, language: 'nl', scheme: 'dark' });
    expect(statusCode).toBe(200);
    for (const part of ['Cars &lt;b&gt;', 'src="https://img.example/l.svg"', '-123456-123456-e8f0ff.css', 'lang="nl"'])
      expect(body).toContain(part);
    expect(body).not.toMatch(/<script|autofocus/);
    // It is dark whatever the browser is set to.
    const sheets = [...body.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map(([, url = '']) => url);
    expect(sheets).toHaveLength(2);
    for (const url of sheets) {
      const { body: css } = await server.app.inject({ url });
      expect([url, css.includes('prefers-color-scheme'), css.includes('@media all')]).toEqual([url, false, true]);
    }
    expect(headers).toMatchObject({
      'content-security-policy':
        "sandbox allow-same-origin; default-src 'none'; style-src 'self'; img-src 'self' https://img.example; form-action 'none'; frame-ancestors 'self'; base-uri 'none'",
      'x-frame-options': 'SAMEORIGIN',
      'cache-control': 'no-store',
    });
  });

  test('leaves out what is no colour and no address of a logo', async () => {
    const { statusCode, headers, body } = await look({
      ...{ name: '', logo: "https://x.example/'; script-src *", colour: 'red', background: '</style>', language: 'xx' },
    });
    expect([statusCode, headers['content-language']]).toEqual([200, 'en']);
    expect(headers['content-security-policy']).not.toContain('script-src');
    expect(body).toMatch(/theme-[\w-]{12}-0b5cad-0b5cad\.css/);
  });

  test('is for frames of members only', async () => {
    expect((await look({ name: 'Cars' }, own)).body).not.toContain('Cars');
    const other = { ...own, 'sec-fetch-site': 'cross-site', cookie: cookiesOf(browser) };
    expect((await look({ name: 'Cars' }, other)).statusCode).toBe(403);
  });
});
