/** HTML for a frame of the portal: only for a frame of the portal's own pages, and under a policy that lets it do nothing. */
import { expect, test } from 'vitest';
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

const post = (payload: string, headers: Headers = { ...own, cookie: cookiesOf(browser) }) =>
  server.app.inject({
    ...{ method: 'POST', url: '/portal/frame', payload },
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
