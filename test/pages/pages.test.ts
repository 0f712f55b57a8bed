/** What holds for every page, and its parts, without a browser. */
import { describe, expect, test } from 'vitest';
import { themeAddress } from '../../server/pages/assets.ts';
import {
  chooseLanguage,
  formPostPage,
  languages,
  logInPage,
  pageHeaders,
  redirectPage,
} from '../../server/pages/index.ts';
import { createTestServer } from '../helpers/server.ts';
import { contextOf } from './sample-context.ts';
import { samples } from './samples.ts';

const context = contextOf('en');
/** Pages whose script puts the code of the address's fragment into the form. */
const opened = ['invitation-open', 'portal-log-in-link'];
/** Forms that no cookie goes with yet: the browser has to say that they are ours (test/portal/log-in-link.test.ts). */
const withoutCookie = ['portal-log-in-link'];

const csp = (headers: Readonly<Record<string, string>>) => headers['content-security-policy'];

describe.each(Object.keys(samples))('%s', (name) => {
  test.each(languages)('in %s', (language) => {
    const { headers, body } = (samples[name] as (typeof samples)[string])(language);
    expect(body).toMatch(new RegExp(`^<!doctype html>\\n<html lang="${language}">`));
    expect(body).not.toMatch(/undefined|\[object|about:invalid|<script>|\sstyle="|\son\w+="/);
    expect(body.match(/<h1/g)).toHaveLength(1);
    expect([...body.matchAll(/<form method="(\w+)"/g)].every(([, method]) => method === 'post')).toBe(true);
    expect(csp(headers)).toMatch(
      /^default-src 'none'; style-src 'self'; img-src 'self'; (script-src 'self'; )?form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
    );
    expect(csp(headers)?.includes('script-src')).toBe(name.startsWith('passkey') || opened.includes(name));
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-language': language,
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
  });
  test('every form has its token, and every field that is posted a name', () => {
    const { body } = (samples[name] as (typeof samples)[string])('en');
    for (const [form] of body.matchAll(/<form[\s\S]*?<\/form>/g))
      expect(/name="(csrf|xsrf)" value="[^"]+"/.test(form)).toBe(!withoutCookie.includes(name));
    expect(body).not.toMatch(/<(input|select|textarea)(?![^>]*\sname=")/);
  });
});

describe('the logo', () => {
  const headersOf = (logo: string) => csp(pageHeaders({ brand: { name: 'a', logo }, language: 'en' }));
  test('is allowed from its origin only', () => {
    expect(headersOf('https://cdn.example:8443/a/logo.svg')).toContain("img-src 'self' https://cdn.example:8443;");
  });
  test.each([
    'http://cdn.example/logo.svg',
    "https:// 'unsafe-inline'",
    'javascript:alert(1)',
    'data:image/svg+xml,x',
    'https://a;sandbox/x',
    'https://a,b.example/x',
    'https://*.example/x',
    "https://a'self'/x",
    '/logo.svg',
  ])('%s adds nothing to the policy', (logo) => expect(headersOf(logo)).toContain("img-src 'self';"));
  test('that cannot be shown is a letter', () => {
    const brand = { name: 'élan', logo: 'javascript:alert(1)' };
    expect(logInPage({ ...context, brand }, { action: '/', csrf: 'x' }).body).toContain('aria-hidden="true">É</span>');
  });
});

describe('a colour', () => {
  test.each([undefined, '#fff', 'red', '#12345g', '#0a7a3c; } body { display: none'])('%s is the default', (colour) => {
    const brand = colour === undefined ? { name: 'a' } : { name: 'a', colour };
    expect(themeAddress(brand)).toMatch(/^\/assets\/theme-[\w-]{12}-0b5cad-0b5cad\.css$/);
    expect(themeAddress({ name: 'a', ...(colour === undefined ? {} : { background: colour }) })).toBe(
      themeAddress({ name: 'a' }),
    );
  });
  test('behind the page is in the address of the style sheet, too', () =>
    expect(themeAddress({ name: 'a', background: '#ABCDEF' })).toMatch(/-0b5cad-0b5cad-abcdef\.css$/));
});

describe('the language', () => {
  test.each([
    [{ uiLocales: 'fr-CA nl', acceptLanguage: 'en' }, 'fr'],
    [{ uiLocales: 'de xx NL-be', acceptLanguage: 'en' }, 'nl'],
    [{ uiLocales: 'de', acceptLanguage: 'en;q=0.5, fr;q=0.9' }, 'fr'],
    [{ acceptLanguage: 'nl-BE,nl;q=0.8' }, 'nl'],
    [{ acceptLanguage: 'de', tenant: ['nl', 'en'] }, 'nl'],
    [{ acceptLanguage: '*', tenant: ['fr-FR', 'en'] }, 'fr'],
    [{ uiLocales: 'fr', acceptLanguage: 'fr', tenant: ['nl', 'en'] }, 'nl'],
    [{ tenant: ['de'] }, 'en'],
    [{}, 'en'],
    [{ uiLocales: '__proto__ constructor' }, 'en'],
  ])('%j', (wishes, language) => expect(chooseLanguage(wishes)).toBe(language));
});

describe('redirectPage', () => {
  test('leads on by a header and a link, and keeps form-action', () => {
    const { headers, body } = redirectPage(context, 'https://app.example/cb?code=a&state="b"');
    expect(headers.refresh).toBe('0; url=https://app.example/cb?code=a&state=%22b%22');
    expect(body).toContain('href="https://app.example/cb?code=a&amp;state=%22b%22"');
    expect(csp(headers)).toContain("form-action 'self'");
    expect(redirectPage(context, 'com.example.app:/cb?code=a').headers.refresh).toBe(
      '0; url=com.example.app:/cb?code=a',
    );
  });
  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    '/relative',
    '//evil.example',
    'https://a.example/\r\nset-cookie: a=b',
    '',
  ])('%j is refused', (url) => expect(() => redirectPage(context, url)).toThrow(TypeError));
});

describe('formPostPage', () => {
  const fields = { code: 'c"1', state: '<s>' };
  test.each(languages)('sends a form by a script of ours or a button, in %s', (language) => {
    const { headers, body } = formPostPage(contextOf(language), 'https://app.example/cb?a=1&b=2', fields);
    expect(body).toMatch(new RegExp(`^<!doctype html>\\n<html lang="${language}">`));
    expect(body).toContain('<form method="post" action="https://app.example/cb?a=1&amp;b=2">');
    expect(body).toContain('name="code" value="c&quot;1"');
    expect(body).toContain('name="state" value="&lt;s&gt;"');
    expect(body).toMatch(/<button class="first">\p{L}/u);
    expect(body).toMatch(/<script src="[^"]*\/assets\/form-post-[\w-]{12}\.js" defer>/);
    expect(csp(headers)).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'strict-origin' });
    // A window that the application opened hears of the answer from it.
    expect(headers).not.toHaveProperty('cross-origin-opener-policy');
  });
  test('leads nowhere by what is no address of a page', () => {
    expect(formPostPage(context, 'javascript:alert(1)', fields).body).toContain('action="about:invalid"');
  });
});

test('a window that an application opened keeps its opener', () => {
  const { headers } = logInPage({ ...context, popup: true }, { action: '/', csrf: 'x' });
  expect(headers).not.toHaveProperty('cross-origin-opener-policy');
});

test('assets are served for a year, at the addresses that pages name and no others', async () => {
  const { app } = await createTestServer();
  const { body } = logInPage(context, { action: '/', csrf: 'x' });
  const addresses = [...body.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, address = '']) => address);
  expect(addresses).toHaveLength(2);
  for (const url of addresses) {
    const { statusCode, headers } = await app.inject({ url });
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    });
  }
  const [, theme = ''] = addresses;
  const strange = [
    theme.replace('0a7a3c', 'x'),
    theme.replace(/theme-\w/, 'theme-!'),
    '/assets/style.css',
    '/assets/..%2fhtml.ts',
  ];
  for (const url of strange) expect((await app.inject({ url })).statusCode, url).toBe(404);
});

test.each([
  [1, 'Try again in 1 second.'],
  [59, 'Try again in 59 seconds.'],
  [60, 'Try again in 1 minute.'],
  [61, 'Try again in 2 minutes.'],
])('after %i seconds somebody is told when to try again', (retryAfterSeconds, text) => {
  const props = { action: '/', csrf: 'x', problem: 'credentials', retryAfterSeconds } as const;
  expect(logInPage({ ...context }, props).body).toContain(text);
});
