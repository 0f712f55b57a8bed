import { describe, expect, test } from 'vitest';
import { csrfCookie, csrfToken, formUid, isOwnForm, newFormUid } from '../../server/pages/index.ts';

const key = Buffer.alloc(32, 1);
const uid = newFormUid();
const baseUrl = 'https://accord.example/below';
const sameOrigin = { 'sec-fetch-site': 'same-origin', origin: 'https://accord.example' };
const own = { key, uid, baseUrl, presented: csrfToken(key, uid), headers: sameOrigin };

describe('a form', () => {
  test('of a page of ours is taken', () => {
    expect(isOwnForm(own)).toBe(true);
    expect(isOwnForm({ ...own, headers: {} })).toBe(true); // a browser that does not say
    expect(isOwnForm({ ...own, headers: { ...sameOrigin, origin: 'null' } })).toBe(true); // Referrer-Policy: no-referrer
    const token = csrfToken(key, uid, 'delete');
    expect(isOwnForm({ ...own, place: 'delete', presented: token })).toBe(true);
  });
  test.each([
    ['of another site (log-in CSRF)', { headers: { 'sec-fetch-site': 'cross-site' } }],
    ['of another host of the same site', { headers: { 'sec-fetch-site': 'same-site' } }],
    ['with no page before it', { headers: { 'sec-fetch-site': 'none' } }],
    ['with two Sec-Fetch-Site', { headers: { 'sec-fetch-site': ['same-origin', 'cross-site'] as unknown as string } }],
    ['of another origin', { headers: { origin: 'https://evil.example' } }],
    [
      'of another origin by a proxy that changes Sec-Fetch-Site',
      { headers: { ...sameOrigin, origin: 'https://evil.example' } },
    ],
    ['of our host by another scheme', { headers: { origin: 'http://accord.example' } }],
    ['without a token', { presented: undefined }],
    ['with an empty token', { presented: '' }],
    ['with two tokens', { presented: [csrfToken(key, uid), 'x'] }],
    ['with a token cut short', { presented: csrfToken(key, uid).slice(0, -1) }],
    ["with another browser's token (session fixation)", { presented: csrfToken(key, newFormUid()) }],
    ["with another tenant's token", { presented: csrfToken(Buffer.alloc(32, 2), uid) }],
    ["with another form's token", { presented: csrfToken(key, uid, 'delete') }],
    ['without a cookie', { uid: undefined }],
  ])('%s is refused', (_, changed) => {
    expect(isOwnForm({ ...own, ...changed })).toBe(false);
  });
});

describe('the cookie', () => {
  test('is for its path, of this site and not for scripts', () => {
    expect(csrfCookie(uid, { path: '/carshare/oidc', secure: true })).toBe(
      `accord_form=${uid}; Path=/carshare/oidc; HttpOnly; SameSite=Lax; Secure`,
    );
    expect(csrfCookie(uid, { path: '/', secure: false })).not.toContain('Secure');
  });
  test.each([
    [`accord_form=${uid}`, uid],
    [`a=b; accord_form=${uid}; c=d`, uid],
    ['', undefined],
    ['xaccord_form=a', undefined],
    ['accord_form=short', undefined],
    [`accord_form=${uid}; accord_form=${newFormUid()}`, undefined], // one may be planted by a neighbour
  ])('%j', (header, expected) => expect(formUid(header)).toBe(expected));
});
