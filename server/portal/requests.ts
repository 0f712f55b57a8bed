/** What the portal's pages share: cookies, forms, the session behind a request, and errors as pages. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import { portalTenant } from '../core/portal-tenant.ts';
import type { App } from '../http/fastify.ts';
import {
  chooseLanguage,
  cookieOf,
  csrfToken,
  isOwnForm,
  keepCookie,
  leaveFor,
  type PageContext,
  PageError,
  type Posted,
  sendErrorPage,
} from '../pages/index.ts';
import { returnPathOf } from './return-path.ts';
import { endSession, findSession, type Session, type SessionServices } from './sessions.ts';

export type PortalPageServices = SessionServices & { encrypter: Encrypter; baseUrl: string };

export const basePathOf = (baseUrl: string): string => new URL(baseUrl).pathname.replace(/\/$/, '');

export function contextOf({ baseUrl }: PortalPageServices, request: FastifyRequest): PageContext {
  const language = chooseLanguage({ acceptLanguage: request.headers['accept-language'] });
  return { brand: { name: 'Accord' }, language, basePath: basePathOf(baseUrl) };
}

type CookieName = 'session' | 'log_in' | 'invitation';
const lifetimes: Record<CookieName, number> = {
  session: limits.pageSessionTtlMs,
  log_in: limits.portalLogInMs,
  invitation: limits.portalLogInMs,
};

/** The Config API gets the session, too (caller.ts). */
const cookiePath = (baseUrl: string, name: CookieName) =>
  `${basePathOf(baseUrl)}/${name === 'session' ? '' : 'portal'}`;

/** Browsers take a cookie of the prefix __Host- from this host only, and for all of it. */
function cookieName(baseUrl: string, name: CookieName): string {
  const own = `accord_portal_${name}`;
  if (!baseUrl.startsWith('https:')) return own;
  return cookiePath(baseUrl, name) === '/' ? `__Host-${own}` : `__Secure-${own}`;
}

/** @returns undefined also when there are several, of which one may be planted */
export function readCookie(
  { baseUrl }: Pick<PortalPageServices, 'baseUrl'>,
  request: { headers: Pick<IncomingHttpHeaders, 'cookie'> },
  name: CookieName,
): string | undefined {
  return cookieOf(request.headers.cookie, cookieName(baseUrl, name));
}

/** @param value undefined: the cookie goes */
export function setCookie(
  { baseUrl }: PortalPageServices,
  reply: FastifyReply,
  name: CookieName,
  value: string | undefined,
): void {
  const secure = baseUrl.startsWith('https:');
  const path = cookiePath(baseUrl, name);
  keepCookie(reply, { name: cookieName(baseUrl, name), path, maxAgeMs: lifetimes[name], secure }, value);
}

function csrfKey({ encrypter }: PortalPageServices): Buffer {
  return Buffer.from(encrypter.digest(Buffer.from('portal'), ['portal', 'forms']));
}

/** @param uid what only this browser has: the value of one of its cookies */
export function csrfOf(services: PortalPageServices, uid: string): string {
  return csrfToken(csrfKey(services), uid, 'portal');
}

/** The fields of a form that we showed to this browser. @throws PageError */
export function ownFields(services: PortalPageServices, request: FastifyRequest, uid: string | undefined): Posted {
  const fields = (request.body ?? {}) as Posted;
  const { baseUrl } = services;
  const isOwn = isOwnForm({
    ...{ key: csrfKey(services), uid, place: 'portal', presented: fields.csrf },
    ...{ headers: request.headers, baseUrl },
  });
  if (!isOwn) throw new PageError(403, { kind: 'forged' });
  return fields;
}

/** Whether the browser says that a form is ours, where no cookie goes with a token of the form. */
export function isOwnPost({ baseUrl }: Pick<PortalPageServices, 'baseUrl'>, { headers }: FastifyRequest): boolean {
  const { 'sec-fetch-site': site, origin } = headers;
  return site === undefined ? origin === new URL(baseUrl).origin : site === 'same-origin';
}

/** The browser goes on to a path of the portal. */
export function goTo(services: PortalPageServices, request: FastifyRequest, reply: FastifyReply, path: string) {
  return leaveFor(`${services.baseUrl}${path}`, request, reply, () => contextOf(services, request));
}

/** Who is logged in; undefined: nobody. */
export function sessionOf(
  services: SessionServices & { baseUrl: string },
  request: { headers: Pick<IncomingHttpHeaders, 'cookie'> },
): Promise<Session | undefined> {
  return findSession(services, portalTenant, readCookie(services, request, 'session'));
}

/** Another session begins in the browser: that of before, and what was planted, is not the one that goes on. */
export async function replaceSession(
  services: PortalPageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  value: string,
): Promise<void> {
  const before = readCookie(services, request, 'session');
  if (before !== undefined) await endSession(services.accounts, portalTenant, before);
  setCookie(services, reply, 'session', value);
}

/** Thrown where somebody must log in first. */
class LogInNeeded extends Error {}

export async function requireSession(services: PortalPageServices, request: FastifyRequest): Promise<Session> {
  const session = await sessionOf(services, request);
  if (session === undefined) throw new LogInNeeded();
  return session;
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** A page of the portal. */
export function portalPage(
  app: App,
  services: PortalPageServices,
  [method, url]: readonly ['GET' | 'POST', string],
  handler: Handler,
  { bodyLimit = limits.portalFormBytesMax }: { bodyLimit?: number } = {},
): void {
  app.route({
    method,
    url,
    exposeHeadRoute: false,
    ...(method === 'POST' ? { bodyLimit } : {}),
    config: { access: method === 'POST' ? { api: 'public', scarce: true } : { api: 'public' } },
    schema: { hide: true },
    handler: (request, reply) => handler(request, reply).catch((error) => answerError(services, error, request, reply)),
  });
}

function answerError(services: PortalPageServices, error: unknown, request: FastifyRequest, reply: FastifyReply) {
  if (error instanceof LogInNeeded) {
    const to = request.method === 'GET' ? request.url : '/portal';
    return goTo(services, request, reply, `/portal/log-in?to=${encodeURIComponent(returnPathOf(to))}`);
  }
  return sendErrorPage(error, request, reply, () => contextOf(services, request));
}
