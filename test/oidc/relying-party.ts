/** A server with a real listener, clients of a tenant, openid-client as a strict relying party, and a browser of a few lines. */
import * as oc from 'openid-client';

import { addSecret, type ClientSpec, putClient } from '../../server/clients/index.ts';
import type { Clock } from '../../server/core/clock.ts';
import { apiOwner } from '../../server/core/ownership.ts';
import type { PortalOptions } from '../../server/room/room.ts';
import type { TenantSpec } from '../../server/tenants/index.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import type { TestDatabase } from '../helpers/database.ts';
import { freePort } from '../helpers/free-port.ts';
import { createTestServer } from '../helpers/server.ts';

export const callback = 'http://127.0.0.1:9/cb';
export const audience = 'https://api.test';

export type Spec = Partial<ClientSpec> & Pick<ClientSpec, 'grantTypes'>;

/**
 * @param basePath of ACCORD_BASE_URL, which a proxy in front of the server removes
 * @param host of it: `localhost` where passkeys are used, because an address has none
 */
export async function createOidcServer(
  environment: Record<string, string> = {},
  {
    basePath = '',
    host = '127.0.0.1',
    clock,
    on,
    portal,
  }: { basePath?: string; host?: string; clock?: Clock; on?: TestDatabase; portal?: PortalOptions } = {},
) {
  const port = await freePort();
  const origin = `http://${host}:${port}`;
  const baseUrl = origin + basePath;
  const server = await createTestServer(
    {
      ACCORD_BASE_URL: baseUrl,
      ACCORD_LISTEN: `127.0.0.1:${port}`,
      ACCORD_OUTBOUND_ALLOW: '127.0.0.0/8',
      ...environment,
    },
    on,
    clock,
    portal,
  );
  await server.app.listen({ port, host: '127.0.0.1' });
  closeAtEnd(() => server.app.server.closeAllConnections());
  const writer = { owner: apiOwner, actor: 'member:test' };
  /** What the proxy does. */
  const strip = (url: string | URL) => {
    const one = new URL(url);
    if (one.origin === origin && one.pathname.startsWith(`${basePath}/`))
      one.pathname = one.pathname.slice(basePath.length);
    return one;
  };
  const proxied: oc.CustomFetch = (url, options) => fetch(strip(url), options as RequestInit);
  const issuerOf = (tenant: string) => `${baseUrl}/${tenant}/oidc`;
  return {
    ...server,
    ...{ origin, baseUrl, strip, issuerOf },
    tenant: (spec: Partial<TenantSpec> = {}) => server.tenant({ audiences: [audience, 'bare-api'], ...spec }),
    /** Registers a client. @returns its secret, if it has one */
    async register(tenant: string, clientId: string, spec: Spec): Promise<string | undefined> {
      const { services } = server;
      const method = spec.tokenEndpointAuthMethod ?? 'client_secret_basic';
      const full = {
        ...{ clientId, enabled: true, applicationType: 'web', tokenEndpointAuthMethod: method },
        ...{ dpopBoundAccessTokens: false, requirePushedAuthorizationRequests: false, firstParty: false },
        ...spec,
      } as ClientSpec;
      await putClient(services.clients, writer, tenant, full);
      const secret = method.startsWith('client_secret_')
        ? (await addSecret(services.clients, writer, tenant, clientId)).result.secret
        : undefined;
      await services.snapshots.refresh(tenant);
      return secret;
    },
    discover(tenant: string, clientId: string, auth: oc.ClientAuth): Promise<oc.Configuration> {
      return oc
        .discovery(new URL(issuerOf(tenant)), clientId, undefined, auth, {
          execute: [oc.allowInsecureRequests],
          [oc.customFetch]: proxied,
        })
        .then((config) => {
          config[oc.customFetch] = proxied;
          return config;
        });
    },
    /** POSTs a form or, where it is an object in `json`, JSON. */
    async post(
      tenant: string,
      path: string,
      body: Record<string, string> | string,
      headers: Record<string, string> = {},
    ) {
      const response = await fetch(`${origin}/${tenant}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: typeof body === 'string' ? body : new URLSearchParams(body).toString(),
        redirect: 'manual',
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.includes('json');
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: (isJson ? JSON.parse(text) : {}) as Record<string, unknown>,
      };
    },
  };
}

export type OidcServer = Awaited<ReturnType<typeof createOidcServer>>;

export const basic = (id: string, secret: string | undefined) => ({
  authorization: `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret ?? '')}`)}`,
});

type Cookie = { name: string; value: string; path: string; attributes: string[] };

/** The cookies of a browser. */
export class Jar {
  cookies: Cookie[] = [];

  take(response: Response, url: URL): void {
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
      const at = pair.indexOf('=');
      const path = attributes.find((one) => /^path=/i.test(one))?.slice(5) ?? url.pathname.replace(/\/[^/]*$/, '');
      const name = pair.slice(0, at);
      this.cookies = this.cookies.filter((one) => one.name !== name || one.path !== path);
      if (attributes.some((one) => /^expires=Thu, 01 Jan 1970/i.test(one))) continue;
      this.cookies.push({ name, value: pair.slice(at + 1), path, attributes });
    }
  }

  header(path: string): string {
    const isBelow = (one: Cookie) =>
      path === one.path || path.startsWith(one.path.endsWith('/') ? one.path : `${one.path}/`);
    return this.cookies
      .filter(isBelow)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }

  clone(): Jar {
    const jar = new Jar();
    jar.cookies = [...this.cookies];
    return jar;
  }
}

export type Visited = { left?: URL; status: number; text: string; url: URL; headers: Headers };
export type Filled = Record<string, string>;

/** A browser without JavaScript: it follows redirects and refreshes until a page waits for somebody, or the site is left. */
export class Browser {
  readonly jar: Jar;
  readonly #origin: string;
  readonly #strip: (url: URL) => URL;
  language = 'en';

  constructor({ origin, strip }: Pick<OidcServer, 'origin' | 'strip'>, jar = new Jar()) {
    this.jar = jar;
    this.#origin = origin;
    this.#strip = strip;
  }

  open(url: string | URL): Promise<Visited> {
    return this.#go(new URL(url), 'GET');
  }

  /** Sends the page's form whose action ends so, with what is hidden in it and what is filled in. */
  submit(page: Visited, actionEnd: string, filled: Filled = {}): Promise<Visited> {
    const forms = [...page.text.matchAll(/<form[^>]*action="([^"]*)"[^>]*>(.*?)<\/form>/gs)];
    const form = forms.find(([, action = '']) => action.endsWith(actionEnd));
    if (form === undefined) throw new Error(`no form to ${actionEnd} on ${page.url}:\n${page.text}`);
    const [, action = '', inside = ''] = form;
    const hidden = [...inside.matchAll(/<input[^>]*type="hidden"[^>]*name="([^"]*)"[^>]*value="([^"]*)"/g)];
    const body = new URLSearchParams(hidden.map(([, name = '', value = '']) => [name, value] as [string, string]));
    for (const [name, value] of Object.entries(filled)) body.set(name, value);
    return this.#go(new URL(action.replaceAll('&amp;', '&'), page.url), 'POST', body);
  }

  async #go(url: URL, method: 'GET' | 'POST', form?: URLSearchParams): Promise<Visited> {
    let [next, how, body]: [URL, 'GET' | 'POST', URLSearchParams | undefined] = [url, method, form];
    for (let step = 0; step < 15; step++) {
      if (next.origin !== this.#origin) return { left: next, url: next, status: 0, text: '', headers: new Headers() };
      const response = await fetch(this.#strip(next), {
        method: how,
        redirect: 'manual',
        headers: {
          cookie: this.jar.header(next.pathname),
          accept: 'text/html',
          'accept-language': this.language,
          ...(body ? { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' } : {}),
        },
        ...(body ? { body } : {}),
      });
      this.jar.take(response, next);
      const text = await response.text();
      const onward = response.headers.get('location') ?? response.headers.get('refresh')?.replace(/^0; ?url=/, '');
      if (!onward) return { status: response.status, text, url: next, headers: response.headers };
      [next, how, body] = [new URL(onward, next), 'GET', undefined];
    }
    throw new Error(`too many redirects: ${next}`);
  }
}
