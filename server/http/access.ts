/**
 * Access control of routes: every route states who may call it, and the hook here refuses all others before the handler. A
 * token that was verified lately costs a look-up and no promise, because every decision passes here.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest, HookHandlerDoneFunction, RouteOptions } from 'fastify';
import { authorizeCaller } from '../core/auth/authorize-caller.ts';
import type { PresentedProof } from '../core/auth/dpop.ts';
import { invalidToken, missingToken, underDpop } from '../core/auth/problems.ts';
import type { Access, Caller } from '../core/auth/schema.ts';
import type { AccessTokens } from '../core/auth/token-cache.ts';
import type { Observe } from '../core/observe.ts';
import { portalTenant } from '../core/portal-tenant.ts';
import { Problem, problem } from '../core/problems.ts';
import { type App, type RequestTenant, repeatedHeader } from './fastify.ts';
import type { RateLimit } from './rate-limit.ts';

export type AccessServices = {
  /** What this server serves of a tenant, also of a disabled one; it may throw (503) when that is too old. */
  tenantOf: (tenant: string) => RequestTenant | undefined;
  tokens: Pick<AccessTokens, 'cached' | 'verify'>;
  /** The member behind a portal token. @throws Problem unauthenticated */
  authenticateMember: (token: string, tenant: string) => Promise<Caller>;
  /** The member whom the portal's cookie session speaks for in the tenant. @throws Problem unauthenticated */
  authenticatePortal: (headers: IncomingHttpHeaders, tenant: string) => Promise<Caller>;
  /** Each request of the support desk is audited before it is answered. */
  recordSupportUse: (caller: Member, use: { route: string; requestId: string }) => Promise<void>;
  /** @throws Problem unauthenticated for a token that is bound to a key, without a proof of it that is new */
  checkProof: (presented: PresentedProof) => Promise<void>;
  observe: Observe;
};

/** @param rates absent: no limit */
type RouteAccess = AccessServices & { rates?: RateLimit | undefined };

/** Sent by the portal's pages, and by no form or page of another site: browsers ask first, and CORS does not allow it (cors.ts). */
export const portalHeader = 'x-accord-portal';

type Member = Extract<Caller, { kind: 'member' }>;

/** To be called before any plugin is registered: a plugin's requests have what was declared before it. */
export function declareCaller(app: App): void {
  app.decorateRequest('tenant', null);
  app.decorateRequest('caller', null);
}

/**
 * Guards all routes that are registered afterwards. To be called after declareCaller.
 * @throws Error (at registration) for a route without `config.access`, or one that needs a tenant and has none in its path
 */
export function registerAccess(app: App, services: RouteAccess): void {
  app.addHook('onRoute', checkRoute);
  app.addHook('onRequest', (request, _reply, done: HookHandlerDoneFunction) => {
    let checking: Promise<void> | undefined;
    const refuse = (error: unknown) => done(challenging(error, request) as Error);
    try {
      checking = checkAccess(services, request);
    } catch (error) {
      refuse(error);
      return;
    }
    if (checking === undefined) done();
    else checking.then(() => done(), refuse);
  });
}

/** Portal tokens, which the Config API takes, are not bound to keys. */
function challenging(error: unknown, { headers, routeOptions }: FastifyRequest): unknown {
  const isOurs = error instanceof Problem && routeOptions.config.access?.api === 'management';
  return isOurs && isDpop(headers.authorization ?? '') ? underDpop(error) : error;
}

function checkRoute(route: RouteOptions): void {
  const name = `${String(route.method)} ${route.url}`;
  const access = route.config?.access;
  if (access === undefined) throw new Error(`the route ${name} does not state who may call it (config.access)`);
  if (access.api !== 'public' && !/\/:tenant(?=\/|$)/.test(route.url)) {
    throw new Error(`the route ${name} asks for a tenant's caller and names no tenant`);
  }
}

/** Sets request.tenant and request.caller, or throws; a promise only when a token has to be verified. */
function checkAccess(services: RouteAccess, request: FastifyRequest): Promise<void> | undefined {
  const access = request.routeOptions.config.access;
  if (access === undefined) {
    // Only Fastify's own answer to an address without a route gets here; checkRoute refused everything else.
    if (!request.is404) throw problem('internal_error', { cause: new Error('a route without access') });
    services.rates?.countAddress(request.ip);
    return undefined;
  }
  const code = (request.params as { tenant?: string }).tenant;
  const served = code === undefined ? undefined : services.tenantOf(code);
  if (served !== undefined) request.tenant = served;
  const tenant = served?.snapshot;
  const token = access.api === 'public' ? undefined : tokenOf(request);
  const repeated = repeatedHeader(request.raw.rawHeaders);
  if (
    access.api === 'management' &&
    tenant?.active &&
    code !== portalTenant &&
    token !== undefined &&
    repeated === undefined
  ) {
    const known = services.tokens.cached(token, tenant.auth);
    if (known !== undefined) {
      if (!needsProof(known, request)) return admitCaller(services, access, known, request);
      return verified(services, access, proved(services, known, token, request), request);
    }
  }
  // A stranger so far. Nothing below costs more than a look-up before its address was counted.
  services.rates?.countAddress(request.ip, access.api === 'public' && access.scarce);
  if (repeated !== undefined)
    throw problem('invalid_request', { detail: `The request has more than one ${repeated} header.` });
  // Before the token is looked at: an unknown tenant has no issuers that could vouch for anybody.
  if (code !== undefined && !tenant?.active) throw problem('tenant_not_found');
  if (access.api === 'public') return undefined;
  if (code === undefined || tenant === undefined || code === portalTenant) throw problem('tenant_not_found');
  const member = access.api === 'config' ? authenticateMember(services, token, code, request) : undefined;
  if (member !== undefined) return verified(services, access, member, request);
  if (token === undefined) throw noBearer(request);
  const verifying = services.tokens.verify(token, tenant.auth);
  return verified(
    services,
    access,
    verifying.then((caller) => proved(services, caller, token, request)),
    request,
  );
}

/** By a portal token, or as a page of the portal; an Authorization header is never passed over. Undefined: by neither. */
function authenticateMember(
  services: RouteAccess,
  token: string | undefined,
  tenant: string,
  { headers }: FastifyRequest,
): Promise<Caller> | undefined {
  if (token !== undefined) return services.authenticateMember(token, tenant);
  if (headers.authorization !== undefined || headers[portalHeader] === undefined) return undefined;
  return services.authenticatePortal(headers, tenant);
}

/** Whether the token is bound to a key, or presented as if it were. */
function needsProof(caller: Caller, { headers }: FastifyRequest): boolean {
  return (caller.kind !== 'member' && caller.jkt !== undefined) || isDpop(headers.authorization as string);
}

/** @throws Problem unauthenticated */
async function proved(services: RouteAccess, caller: Caller, token: string, request: FastifyRequest): Promise<Caller> {
  if (caller.kind === 'member' || !needsProof(caller, request)) return caller;
  const { method, headers, raw } = request;
  if (caller.jkt === undefined) throw invalidToken('the token is not bound to a key, so the scheme is Bearer');
  if (!isDpop(headers.authorization as string)) throw invalidToken('a sender-constrained token needs its proof');
  const { tenant, jkt } = caller;
  await services.checkProof({ tenant, jkt, token, method, path: raw.url ?? '', proof: headers.dpop });
  return caller;
}

async function verified(
  services: RouteAccess,
  access: Access,
  verifying: Promise<Caller>,
  request: FastifyRequest,
): Promise<void> {
  try {
    const caller = await verifying;
    // Members are looked up at each request, so theirs is no first verification.
    if (caller.kind === 'member') services.rates?.giveBackAddress(request.ip);
    admitCaller(services, access, caller, request);
    if (caller.kind === 'member' && caller.role === 'support') {
      const route = `${request.method} ${request.routeOptions.url}`;
      await services.recordSupportUse(caller, { route, requestId: request.id });
    }
  } catch (error) {
    if (error instanceof Problem && error.status === 401) {
      const { tenant } = request.params as { tenant: string };
      services.observe({ kind: 'token_refused', tenant, reason: error.message });
    }
    throw error;
  }
}

/** Known and counted before it is admitted: what is too much, or what a caller may not do, may be recorded. */
function admitCaller(services: RouteAccess, access: Access, caller: Caller, request: FastifyRequest): undefined {
  request.caller = caller;
  services.rates?.countCaller(caller);
  authorizeCaller(access, caller);
  return undefined;
}

/**
 * The token of RFC 6750 section 2.1 or RFC 9449 section 7.1, and of no other place: not the query, not the body. Undefined:
 * noBearer says why.
 */
function tokenOf(request: FastifyRequest): string | undefined {
  const header = request.headers.authorization;
  if (header === undefined) return undefined;
  if (isBearer(header)) return header.slice(7).trim();
  return isDpop(header) ? header.slice(5).trim() : undefined;
}

function isDpop(header: string): boolean {
  return header[4] === ' ' && header.slice(0, 4).toLowerCase() === 'dpop';
}

function isBearer(header: string): boolean {
  return header.startsWith('Bearer ') || (header[6] === ' ' && header.slice(0, 6).toLowerCase() === 'bearer');
}

function noBearer(request: FastifyRequest): Problem {
  if (request.headers.authorization === undefined) return missingToken();
  return missingToken('The Authorization header must be Bearer or DPoP followed by a token.');
}
