/** What the pages of persons share: a visit with its cookies, forms and session, and errors as pages. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { portalTenant } from '../core/portal-tenant.ts';
import { problem } from '../core/problems.ts';
import { type Device, deviceOf } from '../http/device.ts';
import { type App, type RequestTenant, tenantOf } from '../http/fastify.ts';
import {
  answerError,
  csrfKey,
  type OfAccountServices,
  ownPagesCallback,
  ownPagesClient,
  ownPagesCookie,
  pageContext,
} from '../oidc/index.ts';
import {
  cookieOf,
  csrfToken,
  isOwnForm,
  keepCookie,
  leaveFor,
  type PageContext,
  PageError,
  type Posted,
  type RenderedPage,
  sendPage,
} from '../pages/index.ts';
import { findSession, type LogInServices, type RelyingParty, type Session } from '../portal/index.ts';
import { callerOf } from './caller.ts';

export type PersonServices = LogInServices & { oidc: OfAccountServices };

type CookieName = 'session' | 'log_in' | 'invitation';
const lifetimes: Record<CookieName, number> = {
  session: limits.pageSessionTtlMs,
  log_in: limits.portalLogInMs,
  invitation: limits.portalLogInMs,
};

/** A request for a page of a tenant. */
export class Visit {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly tenant: RequestTenant;
  /** Its code. */
  readonly code: string;
  readonly context: PageContext;
  readonly #services: PersonServices;

  constructor(services: PersonServices, request: FastifyRequest, reply: FastifyReply) {
    this.#services = services;
    this.request = request;
    this.reply = reply;
    this.tenant = tenantOf(request);
    this.code = this.tenant.code;
    const acceptLanguage = request.headers['accept-language'];
    this.context = pageContext(services.baseUrl, this.tenant.snapshot, { acceptLanguage });
  }

  get party(): RelyingParty {
    return { tenant: this.code, clientId: ownPagesClient, callbackPath: ownPagesCallback(this.code) };
  }

  /** @param path below the tenant */
  address(path: string): string {
    return `${this.#services.baseUrl}/${this.code}${path}`;
  }

  #cookie(name: CookieName) {
    const { baseUrl } = this.#services;
    const secure = baseUrl.startsWith('https:');
    const path = `${this.context.basePath}/${this.code}`;
    return { name: ownPagesCookie(baseUrl, name), path, maxAgeMs: lifetimes[name], secure };
  }

  readCookie(name: CookieName): string | undefined {
    return cookieOf(this.request.headers.cookie, this.#cookie(name).name);
  }

  /** @param value undefined: the cookie goes */
  setCookie(name: CookieName, value: string | undefined): void {
    keepCookie(this.reply, this.#cookie(name), value);
  }

  /** Who is logged in; undefined: nobody, also when the log-in at the issuer that the session came from has ended. */
  session(): Promise<Session | undefined> {
    return findSession(this.#services, this.code, this.readCookie('session'));
  }

  /** @param uid what only this browser has: the value of one of its cookies */
  csrf(uid: string): string {
    return csrfToken(csrfKey(this.#services.encrypter, this.tenant.snapshot), uid, 'own');
  }

  /** The fields of a form that we showed to this browser. @throws PageError */
  fields(uid: string | undefined): Posted {
    const fields = (this.request.body ?? {}) as Posted;
    const isOwn = isOwnForm({
      key: csrfKey(this.#services.encrypter, this.tenant.snapshot),
      ...{ uid, place: 'own', presented: fields.csrf },
      ...{ headers: this.request.headers, baseUrl: this.#services.baseUrl },
    });
    if (!isOwn) throw new PageError(403, { kind: 'forged' });
    return fields;
  }

  /** The browser goes on. @param path below the tenant */
  goTo(path: string): FastifyReply {
    return this.leave(this.address(path));
  }

  /** The same, to any address that is ours to send it to. */
  leave(url: string): FastifyReply {
    return leaveFor(url, this.request, this.reply, () => this.context);
  }

  send(page: RenderedPage, status = 200): FastifyReply {
    return sendPage(this.reply, page, status);
  }

  /** The person as policies and the audit know it. */
  callerOf(session: Session): Extract<Caller, { kind: 'user' }> {
    return callerOf(this.#services.baseUrl, this.tenant, session);
  }

  /** What is known of the browser. */
  get device(): Device {
    return deviceOf(this.request.headers['user-agent']);
  }

  /** What actions of other rooms are told of the request. */
  get asked() {
    const { id: requestId, span } = this.request;
    return { tenant: this.code, requestTenant: this.tenant, requestId, span };
  }
}

type Handler = (visit: Visit) => Promise<FastifyReply>;

/** A page of a tenant's persons. @param path below the tenant */
export function personPage(
  app: App,
  services: PersonServices,
  [method, path]: readonly ['GET' | 'POST', string],
  handler: Handler,
  isScarce = method === 'POST',
): void {
  app.route({
    method,
    url: `/:tenant${path}`,
    exposeHeadRoute: false,
    ...(method === 'POST' ? { bodyLimit: limits.formBodyBytesMax } : {}),
    config: { access: isScarce ? { api: 'public', scarce: true } : { api: 'public' } },
    schema: { hide: true },
    handler: async (request, reply) => {
      // Members have the portal.
      if (tenantOf(request).code === portalTenant) throw problem('tenant_not_found');
      return handler(new Visit(services, request, reply)).catch(answerError(services.baseUrl, request, reply));
    },
  });
}
