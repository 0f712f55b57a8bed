/** Other issuers that people log in by: oidc-provider on loopback, which logs in whoever is said, or asks by its own pages. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import { type Adapter, type AdapterPayload, type Configuration, Provider } from 'oidc-provider';

import { apiOwner } from '../../server/core/ownership.ts';
import { putIssuer } from '../../server/issuers/index.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { freePort } from '../helpers/free-port.ts';
import { Browser, type Jar, type OidcServer } from './relying-party.ts';

type Person = { email?: string; email_verified?: boolean; name?: string; locale?: string };

export const upstreamSecret = 'secret of accord at the other issuer';

/** Storage that outlives a provider. */
function storage() {
  const rows = new Map<string, { payload: AdapterPayload; consumed?: number }>();
  return (model: string): Adapter => {
    const find = (key: string) => {
      const row = rows.get(`${model}:${key}`);
      return Promise.resolve(row && { ...row.payload, ...(row.consumed ? { consumed: row.consumed } : {}) });
    };
    return {
      find,
      findByUid: async (uid) => [...rows.values()].find(({ payload }) => payload.uid === uid)?.payload,
      findByUserCode: async () => undefined,
      upsert: async (id, payload) => void rows.set(`${model}:${id}`, { payload }),
      consume: async (id) => void Object.assign(rows.get(`${model}:${id}`) ?? {}, { consumed: 1 }),
      destroy: async (id) => void rows.delete(`${model}:${id}`),
      revokeByGrantId: async (grant) => {
        for (const [key, { payload }] of rows) if (payload.grantId === grant) rows.delete(key);
      },
    };
  };
}

async function key(alg: 'RS256' | 'ES256', kid: string) {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), alg, kid, use: 'sig' };
}

/** @param options `pages`: it asks who somebody is by pages of its own; `host`: another name of this machine is another site */
export async function startUpstream(options: { pages?: boolean; alg?: 'RS256' | 'ES256'; host?: string } = {}) {
  const { pages = false, alg = 'RS256', host = '127.0.0.1' } = options;
  const port = await freePort();
  const issuer = `http://${host}:${port}`;
  const persons = new Map<string, Person>();
  const redirectUris: string[] = [];
  const requests: string[] = [];
  const state = { user: 'alice', answers: true, kids: 0 };
  const adapter = storage();
  let provider: Provider;
  let callback: (request: IncomingMessage, response: ServerResponse) => void;
  const build = async () => {
    state.kids++;
    const configuration: Configuration = {
      adapter,
      clients: [
        {
          ...{ client_id: 'accord', client_secret: upstreamSecret, redirect_uris: redirectUris },
          ...{ grant_types: ['authorization_code'], response_types: ['code'], id_token_signed_response_alg: alg },
        },
      ],
      jwks: { keys: [await key(alg, `k${state.kids}`)] } as NonNullable<Configuration['jwks']>,
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'locale'] },
      cookies: { keys: ['upstream'] },
      ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
      features: { devInteractions: { enabled: pages } },
      findAccount: async (_ctx, sub) => ({ accountId: sub, claims: async () => ({ sub, ...persons.get(sub) }) }),
      ...(pages ? {} : { interactions: { url: (_ctx, { uid }) => `/as/${uid}` } }),
    };
    provider = new Provider(issuer, configuration);
    callback = provider.callback();
  };
  const asked = async (request: IncomingMessage, response: ServerResponse) => {
    const { prompt, params, session } = await provider.interactionDetails(request, response);
    if (prompt.name === 'login')
      return provider.interactionFinished(request, response, { login: { accountId: state.user } });
    const grant = new provider.Grant({ accountId: session?.accountId as string, clientId: String(params.client_id) });
    grant.addOIDCScope(String(params.scope));
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  };
  const server: Server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url?.split('?')[0]}`);
    if (!state.answers) return void request.socket.destroy();
    if (request.url?.startsWith('/as/')) return void asked(request, response);
    callback(request, response);
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  closeAtEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  await build();
  return {
    ...{ issuer, persons, requests, state },
    /** Trusts it in a tenant, to log in by. */
    async trust(
      accord: OidcServer,
      tenant: string,
      name = 'idp',
      more: Record<string, unknown> = {},
      jwksUri?: string,
    ) {
      redirectUris.push(`${accord.baseUrl}/${tenant}/oidc/upstream/${name}/callback`);
      await build();
      const { hasSecret = true, ...settings } = more;
      const scopes = ['openid', 'email', 'profile'];
      const login = { clientId: 'accord', scopes, displayName: 'The Other', ...settings };
      const spec = {
        ...(jwksUri === undefined ? {} : { jwksUri }),
        ...{ issuer, algorithms: ['ES256', 'RS256'] as ('ES256' | 'RS256')[], sharesActors: true },
        ...{ clients: 'none' as const, login },
      };
      const writer = { owner: apiOwner, actor: 'member:test' };
      await putIssuer(accord.services.issuers, writer, tenant, name, spec, {
        loginSecret: hasSecret ? upstreamSecret : null,
      });
      await accord.services.snapshots.refresh(tenant);
    },
    /** Other keys; what was signed before is not verified by them. */
    rotate: build,
    /** What a browser does there, up to the way back. */
    async visit(url: string | URL, user: string, jar?: Jar): Promise<URL> {
      state.user = user;
      const browser = new Browser({ origin: issuer, strip: (one) => new URL(one) }, jar);
      const page = await browser.open(url);
      if (page.left === undefined) throw new Error(`${page.url} ${page.status}: ${page.text}`);
      return page.left;
    },
  };
}

export type UpstreamServer = Awaited<ReturnType<typeof startUpstream>>;
