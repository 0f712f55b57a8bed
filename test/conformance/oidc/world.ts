/** What the modules of the OpenID conformance suite are walked with: a tenant, applications, people, and a clock that can be ahead. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import * as oc from 'openid-client';
import { vi } from 'vitest';
import { closeAtEnd } from '../../helpers/closing.ts';
import { begin, createAccount, logIn, webSpec } from '../../oidc/logging-in.ts';
import { type Browser, createOidcServer, type Jar, type Spec, type Visited } from '../../oidc/relying-party.ts';

export const email = 'conforming@example.org';
export const goodbye = 'http://127.0.0.1:9/bye';
const scopes: NonNullable<Spec['scopes']> = ['openid', 'profile', 'email', 'address', 'phone', 'offline_access'];

/** A module of the suite: it fails as a test does. */
export type Module = (world: World) => Promise<void>;
export type Modules = Record<string, Module>;
export type World = Awaited<ReturnType<typeof createWorld>>;

export async function createWorld() {
  const server = await createOidcServer();
  const tenant = await server.tenant();
  const sub = await createAccount(server, tenant, email);
  const told = await receiver();
  const spec = { ...webSpec, scopes, backchannelLogoutUri: told.url };
  const add = async (id: string, auth: (secret: string) => oc.ClientAuth, more: object = {}) => {
    const secret = (await server.register(tenant, id, { ...spec, ...more })) as string;
    return { id, secret, config: await server.discover(tenant, id, auth(secret)) };
  };
  const client = await add('suite', oc.ClientSecretBasic);
  const client2 = await add('suite-2', oc.ClientSecretBasic);
  const posting = await add('suite-post', oc.ClientSecretPost, { tokenEndpointAuthMethod: 'client_secret_post' });
  const metadata = client.config.serverMetadata();
  type Walked = { jar?: Jar; pkce?: boolean };
  return {
    ...{ server, tenant, sub, client, client2, posting, metadata, told: told.tokens },
    /** Sends a browser to the authorization endpoint, and leaves the page to the module. */
    ask: (parameters: Record<string, string> = {}, options: Walked = {}) =>
      begin(server, client.config, parameters, { pkce: false, ...options }),
    /** The same, logs in by the page where there is one, and exchanges the code. */
    async tokens(parameters: Record<string, string> = {}, options: Walked = {}) {
      const walked = await logIn(server, client.config, { email, parameters, pkce: false, ...options });
      const tokens = await walked.grant();
      return { ...walked, tokens, claims: tokens.claims() as oc.IDToken, jar: walked.browser.jar };
    },
    userInfo: (token: string, init: RequestInit = {}) =>
      fetch(metadata.userinfo_endpoint as string, {
        ...init,
        headers: { authorization: `Bearer ${token}`, ...(init.headers as object) },
      }),
    /** Opens the end-session endpoint, and confirms where the page asks. */
    async logOut(browser: Browser, parameters: Record<string, string>): Promise<Visited> {
      const page = await browser.open(`${metadata.end_session_endpoint}?${new URLSearchParams(parameters)}`);
      return page.text.includes('name="logout"')
        ? browser.submit(page, '/end-session/confirm', { logout: 'yes' })
        : page;
    },
  };
}

/** Where an application is told that a session has ended. */
async function receiver() {
  const tokens: string[] = [];
  const server = createServer(async (request, response) => {
    tokens.push(new URLSearchParams((await request.toArray()).join('')).get('logout_token') as string);
    response.end();
  }).listen(0, '127.0.0.1');
  closeAtEnd(() => server.close());
  await once(server, 'listening');
  return { tokens, url: `http://127.0.0.1:${(server.address() as { port: number }).port}/out` };
}

/** Does something while the clock of server and application is ahead. */
export async function later<T>(ms: number, work: () => Promise<T>): Promise<T> {
  const now = Date.now.bind(Date);
  const ahead = vi.spyOn(Date, 'now').mockImplementation(() => now() + ms);
  try {
    return await work();
  } finally {
    ahead.mockRestore();
  }
}
