/**
 * The library's endpoints below /{tenant}/oidc, one route for each address: its own router takes other spellings of them, and
 * answers in its own words. It makes every URL of the request's host and scheme, so it is told those of the base URL.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { limits } from '../core/limits.ts';
import { type App, tenantOf } from '../http/fastify.ts';
import { PageError } from '../pages/index.ts';
import { routes, shownUserCode } from './configuration.ts';
import { answerError } from './forms.ts';
import { library } from './library.ts';
import { tooLong } from './parameters.ts';
import type { Providers } from './providers.ts';

type MountServices = { baseUrl: string; providers: Providers };
/** `base`: the base URL, and its path without a slash at the end. */
type Mounted = MountServices & { base: URL; basePath: string };

const FORM = 'application/x-www-form-urlencoded';
const { authorization, token, userinfo, introspection, revocation, end_session: endSession } = routes;
const {
  pushed_authorization_request: par,
  device_authorization: deviceAuthorization,
  code_verification: device,
} = routes;

/** For applications: pages of the tenant's allowedOrigins may call them. */
const endpoints = [
  ['POST', token, 'Token endpoint (RFC 6749 section 3.2)'],
  ['POST', par, 'Pushed authorization requests (RFC 9126)'],
  ['POST', introspection, 'Token introspection (RFC 7662)'],
  ['POST', revocation, 'Token revocation (RFC 7009)'],
  ['POST', deviceAuthorization, 'Device authorization (RFC 8628)'],
  ['GET', userinfo, 'Claims about the user (OpenID Connect Core section 5.3)'],
  ['POST', userinfo, 'Claims about the user'],
] as const;

/** Where the parameters are kept until somebody has logged in. */
const keeping = new Set<string>([authorization, par, deviceAuthorization]);

/** For browsers that are sent there. */
const visited = [
  ['GET', authorization],
  ['GET', `${authorization}/:uid`],
  ['GET', endSession],
  ['POST', `${endSession}/confirm`],
  ['GET', `${endSession}/success`],
  ['GET', device],
  ['POST', device],
  ['GET', `${device}/:uid`],
] as const;

export function mount(app: App, given: MountServices): void {
  const base = new URL(given.baseUrl);
  const services: Mounted = { ...given, base, basePath: base.pathname.replace(/\/$/, '') };
  loadWhenIdle(app);
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // Others are the library's, which refuses them.
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    const parseAs = 'string';
    scope.addContentTypeParser(FORM, { parseAs }, (_request, text, done) => done(null, { ok: true, text }));
    scope.addContentTypeParser('application/json', { parseAs }, (_request, body, done) =>
      done(null, formOf(body as string)),
    );
    scope.setErrorHandler(answerTooLarge);
    const own = scope as unknown as App;
    for (const [method, path, summary] of endpoints) route(own, services, { method, path, summary });
    for (const [method, path] of visited) route(own, services, { method, path });
    route(own, services, { method: 'POST', path: token, url: '/:tenant/oauth/token' });
    discovery(own, services);
  });
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(FORM, { parseAs: 'string' }, (_request, body, done) => done(null, body));
    for (const path of [authorization, endSession]) byGet(scope as unknown as App, services, path);
  });
}

type Mounting = { method: 'GET' | 'POST'; path: string; url?: string; summary?: string; anyOrigin?: true };

/** @param path what the library knows the address as; `url`: where it is, if that is not below the issuer */
function route(app: App, services: Mounted, { method, path, url, summary, anyOrigin }: Mounting): void {
  app.route({
    method,
    url: url ?? `/:tenant/oidc${path}`,
    bodyLimit: limits.oidcBodyBytesMax,
    exposeHeadRoute: false,
    config: { access: { api: 'public' }, ...(anyOrigin ? { anyOrigin } : {}) },
    schema: method === 'POST' || summary === undefined ? { hide: true } : { summary, tags: ['Authorization server'] },
    handler: (request, reply) => handle(services, request, reply, path),
  });
}

function discovery(app: App, services: Mounted): void {
  for (const form of ['openid-configuration', 'oauth-authorization-server']) {
    const path = `/.well-known/${form}`;
    const summary = "Metadata of the tenant's authorization server (RFC 8414, OpenID Connect Discovery)";
    route(app, services, { method: 'GET', path, summary, anyOrigin: true });
    route(app, services, { method: 'GET', path, url: `${path}/:tenant/oidc`, anyOrigin: true });
  }
}

async function handle(
  mounted: Mounted,
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
): Promise<FastifyReply | undefined> {
  const { providers, base, basePath } = mounted;
  const tenant = tenantOf(request).snapshot;
  const { raw } = request;
  const form = request.body as Form | undefined;
  if (form !== undefined && !form.ok) return refuse(reply, 400, form.detail);
  const search = searchOf(raw, path);
  const detail = tooLong(form?.text ?? search, keeping.has(path));
  if (detail !== undefined)
    return raw.method === 'GET' ? showTooLong(mounted, request, reply, detail) : refuse(reply, 400, detail);
  const { callback } = await providers.of(tenant);
  say(raw, base, request.ip);
  const { uid } = request.params as { uid?: string };
  raw.url = (uid === undefined ? path : path.replace(':uid', encodeURIComponent(uid))) + search;
  (raw as { baseUrl?: string }).baseUrl = `${basePath}/${tenant.tenant}/oidc`;
  if (form !== undefined) giveForm(raw, form.text);
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  // Its pages are ours and bring their own.
  if (!reply.raw.hasHeader('content-security-policy'))
    reply.raw.setHeader('content-security-policy', "frame-ancestors 'none'");
  reply.hijack();
  await callback(raw, reply.raw);
  return undefined;
}

/** RFC 6749 section 5.2. */
function refuse(reply: FastifyReply, status: number, detail: string): FastifyReply {
  return reply.status(status).send({ error: 'invalid_request', error_description: detail });
}

/** Nothing of such a request is sent back to where it says that it comes from. */
function showTooLong({ baseUrl }: Mounted, request: FastifyRequest, reply: FastifyReply, description: string) {
  const error = new PageError(400, { kind: 'invalid_request', code: 'invalid_request', description });
  return answerError(baseUrl, request, reply)(error);
}

function answerTooLarge(error: FastifyError, _request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error.code !== 'FST_ERR_CTP_BODY_TOO_LARGE') throw error;
  return refuse(reply, 413, `the body must have at most ${limits.oidcBodyBytesMax} bytes`);
}

/** The library answers a GET with a code by a page of its own, which runs a script: ours shows the code in its field instead. */
function searchOf({ method, url = '' }: IncomingMessage, path: string): string {
  const search = /\?.*/s.exec(url)?.[0] ?? '';
  if (method !== 'GET' || path !== device || search === '') return search;
  const query = new URLSearchParams(search);
  const codes = query.getAll('user_code');
  query.delete('user_code');
  for (const code of codes) query.append(shownUserCode, code);
  return `?${query}`;
}

/** What a client or a proxy said of host and scheme is replaced. */
function say(raw: IncomingMessage, base: URL, ip: string): void {
  const { headers } = raw;
  headers.host = base.host;
  headers['x-forwarded-proto'] = base.protocol.slice(0, -1);
  headers['x-forwarded-for'] = ip;
  delete headers['x-forwarded-host'];
  delete headers.forwarded;
}

type Form = { ok: true; text: string } | { ok: false; detail: string };

const texts = /"(?:[^"\\]|\\.)*"/g;

/** An object with members that are no texts says nothing that a form could. */
function formOf(json: string): Form {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return { ok: false, detail: 'the body is not JSON' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { ok: false, detail: 'the body must be a JSON object or a form' };
  const wrong = Object.entries(value).find(([, one]) => typeof one !== 'string');
  if (wrong !== undefined) return { ok: false, detail: `${JSON.stringify(wrong[0])} of the body must be a text` };
  // A member that is there twice says two things: which of them counts must not depend on who reads it.
  if ((json.match(texts)?.length ?? 0) > 2 * Object.keys(value).length)
    return { ok: false, detail: 'a member of the body is there twice' };
  return { ok: true, text: new URLSearchParams(value as Record<string, string>).toString() };
}

/** The stream is read already: the library reads the form in its place. */
function giveForm(raw: IncomingMessage, form: string): void {
  const bytes = Buffer.from(form);
  raw.headers['content-type'] = FORM;
  raw.headers['content-length'] = String(bytes.length);
  Object.defineProperties(raw, {
    readable: { value: true },
    iterator: {
      value: async function* read() {
        yield bytes;
      },
    },
  });
}

/**
 * OpenID Connect wants POST at these, too (Core section 3.1.2.1, RP-Initiated Logout section 2). A GET of the same parameters
 * brings the cookies, which a POST of another site does not: they stay SameSite=Lax.
 */
function byGet(app: App, { baseUrl }: MountServices, path: string): void {
  app.route({
    method: 'POST',
    url: `/:tenant/oidc${path}`,
    bodyLimit: limits.smallBodyBytesMax, // it becomes an address
    config: { access: { api: 'public' } },
    schema: { hide: true },
    handler: async (request, reply) => {
      const { tenant } = request.params as { tenant: string };
      const query = new URLSearchParams(typeof request.body === 'string' ? request.body : '');
      return reply.redirect(`${baseUrl}/${tenant}/oidc${path}?${query}`, 303);
    },
  });
}

/** Loading the library holds everything up: decisions that wait for the start come first. */
function loadWhenIdle(app: App): void {
  let timer: NodeJS.Timeout | undefined;
  app.addHook('onListen', (done) => {
    timer = setTimeout(() => void library(), limits.oidcImportAfterMs).unref();
    done();
  });
  app.addHook('onClose', (_app, done) => {
    clearTimeout(timer);
    done();
  });
}
