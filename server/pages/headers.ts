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

export function pageHeaders(of: HeadersOf): PageHeaders {
  const { brand, language, hasScript = false, popup = false, leaves = false } = of;
  const images = new Set(["'self'", ...[brand.logo, brand.logoDark].flatMap((logo) => originOf(logo) ?? [])]);
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    `img-src ${[...images].join(' ')}`,
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

/** The origin of an image of another site; undefined when it is none that a page may load. */
export function originOf(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { protocol, origin, hostname } = new URL(url);
  const loopback = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  return protocol === 'https:' || (protocol === 'http:' && loopback) ? origin : undefined;
}
