/**
 * A form is taken only from a page that we showed to this browser: its hidden field is an HMAC of what a path-bound cookie holds
 * (of an interaction, its uid), and a browser that says where the request comes from says "same-origin" (Sec-Fetch-Site), or our
 * origin. Its Origin is "null" for our own forms, too, because our pages have the Referrer-Policy no-referrer.
 */
import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export const csrfCookieName = 'accord_form';
const UID_BYTES = 16;

/** A new uid for a browser that has none. */
export const newFormUid = () => randomBytes(UID_BYTES).toString('base64url');

/**
 * @param key of the tenant, for this purpose only
 * @param uid of the interaction, or what csrfCookie holds
 * @param place what the form does or where it is, so that a token of one form does not serve another
 */
export function csrfToken(key: KeyObject | Uint8Array, uid: string, place = ''): string {
  return createHmac('sha256', key)
    .update(JSON.stringify(['accord csrf', uid, place]))
    .digest('base64url');
}

/** The value of Set-Cookie. @param path of the pages that need it: another tenant's do not get it */
export function csrfCookie(uid: string, { path, secure }: { path: string; secure: boolean }): string {
  return `${csrfCookieName}=${uid}; Path=${path}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}

/** @returns the uid of the request's Cookie header; undefined also when there are several, of which one may be planted */
export function formUid(cookies: string | undefined): string | undefined {
  const values = (cookies ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${csrfCookieName}=`))
    .map((pair) => pair.slice(csrfCookieName.length + 1));
  return values.length === 1 && /^[\w-]{22}$/.test(values[0] as string) ? values[0] : undefined;
}

export type PostedForm = Readonly<{
  key: KeyObject | Uint8Array;
  /** Of the cookie; undefined when the browser sent none. */
  uid: string | undefined;
  place?: string;
  /** The field `csrf`. */
  presented: unknown;
  /** Of the request. */
  headers: IncomingHttpHeaders;
  /** ACCORD_BASE_URL. */
  baseUrl: string;
}>;

export function isOwnForm({ key, uid, place, presented, headers, baseUrl }: PostedForm): boolean {
  const { origin, 'sec-fetch-site': fetchSite } = headers;
  if (fetchSite !== undefined && fetchSite !== 'same-origin') return false;
  if (origin !== undefined && origin !== 'null' && origin !== new URL(baseUrl).origin) return false;
  if (uid === undefined || typeof presented !== 'string') return false;
  const [expected, got] = [Buffer.from(csrfToken(key, uid, place)), Buffer.from(presented)];
  return expected.length === got.length && timingSafeEqual(expected, got);
}
