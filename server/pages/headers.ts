/** The headers of a page: what it shows is for one person, runs nothing from elsewhere, and is not framed, stored or told of. */
import type { Brand } from './brand.ts';

export type PageHeaders = Readonly<Record<string, string>>;

const fixed: PageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex, nofollow',
};

type HeadersOf = Readonly<{
  brand: Brand;
  language: string;
  hasScript?: boolean;
  popup?: boolean;
  /** Its form goes to another site. */
  leaves?: boolean;
}>;

/** Where the images of a page may come from. */
function imagesOf({ logo, logoDark }: Brand): string {
  return [...new Set(["'self'", ...[logo, logoDark].flatMap((one) => originOf(one) ?? [])])].join(' ');
}

export function pageHeaders(of: HeadersOf): PageHeaders {
  const { brand, language, hasScript = false, popup = false, leaves = false } = of;
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    `img-src ${imagesOf(brand)}`,
    ...(hasScript ? ["script-src 'self'"] : []),
    ...(leaves ? [] : ["form-action 'self'"]), // and of redirects after it: redirect-page.ts
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
  // An application that opened the log-in in a window of its own loses it to this header.
  const opener = popup ? {} : { 'cross-origin-opener-policy': 'same-origin' };
  return { ...fixed, ...opener, 'content-language': language, 'content-security-policy': policy };
}

/**
 * Those of the portal's web application. Its style elements carry the nonce; what it writes as HTML passes its own policy of
 * Trusted Types, which is named `default`. `frame-src` is for the previews of mails.
 */
export function applicationHeaders(nonce: string): PageHeaders {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ].join('; ');
  return { ...fixed, 'cross-origin-opener-policy': 'same-origin', 'content-security-policy': policy };
}

/** Those of the sharing page of a tenant's users, which is built of the same parts and shows the tenant's logo. */
export function sharingHeaders(nonce: string, { brand, language }: Pick<HeadersOf, 'brand' | 'language'>): PageHeaders {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    `img-src ${imagesOf(brand)} data:`,
    "connect-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ].join('; ');
  return {
    ...fixed,
    'content-language': language,
    'cross-origin-opener-policy': 'same-origin',
    'content-security-policy': policy,
  };
}

/** What the policy would read as its own syntax. A URL takes some of it as part of a host. */
const OF_THE_POLICY = /[;,*'\s]/;

/** The origin of an image of another site; undefined when it is none that a page may load. */
export function originOf(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { protocol, origin, hostname } = new URL(url);
  const loopback = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (OF_THE_POLICY.test(origin)) return undefined;
  return protocol === 'https:' || (protocol === 'http:' && loopback) ? origin : undefined;
}
