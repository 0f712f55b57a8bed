/**
 * CORS by tenant (the Fetch standard): a page of one of the tenant's allowedOrigins may read answers and send a token of its
 * user. Another origin gets its answer without CORS headers, and the browser keeps it from the page. Credentials of the
 * browser (cookies) are never allowed: callers have Bearer tokens. The Config API has no CORS. What is public by itself
 * (`anyOrigin` of a route) any page may read.
 *
 * Not @fastify/cors: its delegator and its Vary header are for every request, where a decision without an Origin pays one
 * look at a header here, and its preflight route does not know the tenant.
 */
import type { FastifyReply, FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify';
import type { TenantSpec } from '../../crds/index.ts';
import type { App, RequestTenant } from './fastify.ts';

type TenantOf = (tenant: string) => RequestTenant | undefined;
type Headers = Readonly<Record<string, string>>;

const requestHeaders = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Accord-Min-Revision',
  'DPoP',
  'X-Request-ID',
  'traceparent',
  'tracestate',
].join(', ');
const exposedHeaders = [
  'ETag',
  'Location',
  'Link',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'Accord-Revision',
  'Idempotency-Replayed',
  'WWW-Authenticate',
  'DPoP-Nonce',
  'X-Request-ID',
].join(', ');
const anyOriginHeaders: Headers = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': `${exposedHeaders}, Repr-Digest`,
};
const PREFLIGHT_VARY = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';
/** A browser may send what it was allowed for so long without asking again; whether it reads an answer is decided by the answer. */
const PREFLIGHT_SECONDS = '600';

/** Whether pages of the origin may call the tenant. */
function allowsOrigin({ allowedOrigins }: Pick<TenantSpec, 'allowedOrigins'>, origin: string): boolean {
  return allowedOrigins?.includes(origin) ?? false;
}

/** The headers of an answer to a page of the origin; undefined: its browser keeps the answer from it. */
function corsHeaders(tenant: RequestTenant | undefined, origin: string): Headers | undefined {
  const newest = tenant?.newest;
  if (!newest?.active || !allowsOrigin(newest.spec, origin)) return undefined;
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': exposedHeaders };
}

/** The headers that the answer to a request with an Origin has, whatever the answer is: to be called before anything may refuse it. */
export function addCors(tenantOf: TenantOf, request: FastifyRequest, reply: FastifyReply): void {
  if (request.headers.origin === undefined || !isOpenToPages(request.routeOptions)) return;
  if (!request.routeOptions.config.anyOrigin) reply.header('vary', 'Origin');
  const headers = corsOf(tenantOf, request);
  if (headers !== undefined) reply.headers(headers);
}

function corsOf(tenantOf: TenantOf, request: FastifyRequest): Headers | undefined {
  const { origin } = request.headers;
  if (origin === undefined) return undefined;
  return request.routeOptions.config.anyOrigin ? anyOriginHeaders : corsHeaders(servedOf(tenantOf, request), origin);
}

/** Answers OPTIONS at each address of a route that pages may call. To be called after access.ts. */
export function registerPreflights(app: App, tenantOf: TenantOf): void {
  const methods = new Map<string, Set<string>>();
  app.addHook('onRoute', (route) => {
    if (route.method === 'OPTIONS' || route.config?.wrongMethod || !isOpenToPages(route)) return;
    // Caches may keep these, also the answer to a request without an Origin.
    const always = route.config?.anyOrigin ? forAnyOrigin : varyByOrigin;
    if (route.config?.access?.api === 'public') route.onRequest = [always, ...[route.onRequest ?? []].flat()];
    const known = methods.get(route.url);
    for (const method of [route.method].flat()) (known ?? added(route)).add(method);
  });
  const added = ({ url, config }: RouteOptions): Set<string> => {
    const known = methods.get(url);
    if (known !== undefined) return known;
    const of = new Set<string>();
    methods.set(url, of);
    app.route({
      method: 'OPTIONS',
      url,
      config: { access: { api: 'public' }, ...(config?.anyOrigin ? { anyOrigin: true } : {}) },
      schema: { hide: true },
      handler: (request, reply) => answerPreflight(request, reply, [...of].join(', '), tenantOf),
    });
    return of;
  };
}

const varyByOrigin: onRequestHookHandler = (_request, reply, done) => {
  reply.header('vary', 'Origin');
  done();
};

const forAnyOrigin: onRequestHookHandler = (_request, reply, done) => {
  reply.headers(anyOriginHeaders);
  done();
};

function answerPreflight(request: FastifyRequest, reply: FastifyReply, methods: string, tenantOf: TenantOf) {
  reply.status(204).header('allow', methods).header('vary', PREFLIGHT_VARY);
  if (corsOf(tenantOf, request) !== undefined)
    reply.headers({
      'access-control-allow-methods': methods,
      'access-control-allow-headers': requestHeaders,
      'access-control-max-age': PREFLIGHT_SECONDS,
    });
  return reply.send();
}

/** What belongs to one tenant and is not of the Config API, whose members have no page of another origin. */
function isOpenToPages({ url, config }: Pick<RouteOptions, 'config'> & { url?: string | undefined }): boolean {
  const api = config?.access?.api;
  if (config?.anyOrigin) return true;
  return api !== undefined && api !== 'config' && url !== undefined && /^(\/authz)?\/:tenant(\/|$)/.test(url);
}

function servedOf(tenantOf: TenantOf, request: FastifyRequest): RequestTenant | undefined {
  const { tenant } = request.params as { tenant?: string };
  try {
    return tenant === undefined ? undefined : tenantOf(tenant);
  } catch {
    return undefined; // the answer says that the state is too old
  }
}
