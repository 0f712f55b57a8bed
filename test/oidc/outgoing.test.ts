/**
 * What others make this server ask (KC CVE-2026-4874, Logto#9234): each consumer of the outbound guard against each way in which an
 * address can be written that only this server can reach. The guard itself has its tests in core/auth; here it is shown that nothing
 * goes around it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { beforeEach, describe, expect, test } from 'vitest';
import { JwksCache, type KeysFinding } from '../../server/core/auth/jwks.ts';
import { systemClock } from '../../server/core/clock.ts';
import { createOutbound, type Outbound } from '../../server/core/outbound/outbound.ts';
import type { ProviderServices } from '../../server/oidc/provider.ts';
import { Providers } from '../../server/oidc/providers.ts';
import { UpstreamClient } from '../../server/oidc/upstream-client.ts';
import type { LogInIssuer } from '../../server/oidc/upstream-issuers.ts';
import type { TenantSnapshot } from '../../server/snapshot/index.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { webSpec } from './logging-in.ts';
import { createOidcServer } from './relying-party.ts';

const server = await createOidcServer();
const tenant = await server.tenant();
await server.register(tenant, 'web', webSpec);
const asker = { tenant, ip: '192.0.2.1' };

async function listen(address: string, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen = { connections: 0, requests: [] as string[], port: 0 };
  const http = createServer((request, response) => {
    seen.requests.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  http.on('connection', () => seen.connections++);
  await new Promise<void>((done, failed) => http.on('error', failed).listen(0, address, done));
  seen.port = (http.address() as AddressInfo).port;
  closeAtEnd(() => {
    http.closeAllConnections();
    http.close();
  });
  return seen;
}

const anybody = (_request: IncomingMessage, response: ServerResponse) => response.end('{}');
/**
 * At all addresses of this machine, and to be reached by none. A machine without IPv6 has those of IPv4 only, and no test is skipped
 * there: the guard refuses an address by what it is, whether somebody is there or not.
 */
const inside = await listen('::', anybody).catch((error: NodeJS.ErrnoException) => {
  if (error.code !== 'EAFNOSUPPORT' && error.code !== 'EADDRNOTAVAIL') throw error;
  return listen('0.0.0.0', anybody);
});
/** The one address that is allowed; it stands for the public internet. */
const OUTSIDE = '127.0.0.9';
const outside = await listen(OUTSIDE, answer);
const issuer = `http://${OUTSIDE}:${outside.port}`;

const pair = await generateKeyPair('RS256', { extractable: true });
const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'RS256', use: 'sig' };
/** Where the issuer says that its endpoints are, and what its tokens say. */
const state = { endpoints: {} as Record<string, string>, nonce: '' };

function answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
  if (url.startsWith('/away')) {
    response.writeHead(307, { location: `http://127.0.0.1:${inside.port}/` }).end();
    return;
  }
  const json = (body: object) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  if (url.startsWith('/.well-known')) {
    const own = Object.fromEntries(
      ['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'].map((name) => [
        name,
        `${issuer}/${name}`,
      ]),
    );
    json({ issuer, ...own, ...state.endpoints });
  } else if (url === '/token_endpoint') {
    const claims = { sub: 'alice', nonce: state.nonce };
    const signing = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'k' });
    const signed = signing.setIssuer(issuer).setAudience('accord').setIssuedAt().setExpirationTime('5m');
    void signed
      .sign(pair.privateKey)
      .then((id_token) => json({ ...{ access_token: 'a', token_type: 'Bearer' }, id_token }));
  } else json({ keys: [jwk] });
}

type Consumer = (outbound: Outbound, url: string) => Promise<unknown>;

async function keysOf(outbound: Outbound, of: { issuer: string; jwksUri?: string }) {
  const found: KeysFinding[] = [];
  const cache = new JwksCache({ outbound, clock: systemClock, observe: () => {}, found: (one) => found.push(one) });
  await cache.look(tenant, of);
  if (found[0]?.error !== null) throw new Error(found[0]?.error);
}

const logInIssuer = (at: string) =>
  ({
    ...{ name: 'idp', issuer: at, audiences: [], algorithms: ['RS256'], foreignPrefixes: [], clients: 'none' },
    tokenMapping: { actorIdClaimPath: 'sub', defaultActorType: 'user' },
    contactClaims: { email: 'email', emailVerified: 'email_verified' },
    login: { clientId: 'accord', scopes: ['openid'], displayName: 'The Other' },
  }) as LogInIssuer;
const upstreamBy = (outbound: Outbound) => new UpstreamClient({ ...server.services.oidc, outbound });

/** Somebody comes back from the issuer, one of whose endpoints is elsewhere. */
const comingBack =
  (endpoint: string): Consumer =>
  async (outbound, url) => {
    state.endpoints = { [endpoint]: url };
    const upstream = upstreamBy(outbound);
    const { checks } = await upstream.begin(asker, logInIssuer(issuer), false);
    state.nonce = checks.nonce;
    await upstream.complete(asker, logInIssuer(issuer), checks, `code=c&state=${checks.state}`);
  };

/** A client as the authorization server has it, which asks by this guard. */
async function clientWith(outbound: Outbound, more: object) {
  const snapshot = server.services.snapshots.get(tenant) as TenantSnapshot;
  const client = { ...snapshot.clients.get('web'), clientId: 'elsewhere', ...more };
  const current = { ...snapshot, clients: new Map([...snapshot.clients, ['elsewhere', client]]) } as TenantSnapshot;
  const services = { ...server.services.oidc, outbound } as unknown as ProviderServices;
  const { provider } = await new Providers(services, () => current).of(current);
  const found = await provider.Client.find('elsewhere');
  return found as unknown as {
    backchannelLogout(sub: string, sid: string): Promise<void>;
    asymmetricKeyStore: { refresh(): Promise<void> };
  };
}

const consumers: [name: string, consumer: Consumer][] = [
  [
    'keys of a trusted issuer (jwksUri)',
    (outbound, url) => keysOf(outbound, { issuer: 'https://idp.test', jwksUri: url }),
  ],
  ['discovery of a trusted issuer', (outbound, url) => keysOf(outbound, { issuer: url })],
  ['upstream log-in: discovery', (outbound, url) => upstreamBy(outbound).begin(asker, logInIssuer(url), false)],
  ['upstream log-in: token endpoint', comingBack('token_endpoint')],
  ['upstream log-in: keys (jwks_uri)', comingBack('jwks_uri')],
  ['upstream log-in: userinfo', comingBack('userinfo_endpoint')],
  [
    'back-channel logout',
    async (outbound, url) => (await clientWith(outbound, { backchannelLogoutUri: url })).backchannelLogout('a', 's'),
  ],
  [
    'keys of a client (jwksUri)',
    async (outbound, url) => {
      const settings = { tokenEndpointAuthMethod: 'private_key_jwt', jwksUri: url, secrets: [] };
      await (await clientWith(outbound, settings)).asymmetricKeyStore.refresh();
    },
  ],
];

const forms: [what: string, host: string][] = [
  ['a private address', '10.0.0.1'],
  ['another private address', '192.168.1.1'],
  ['shared address space', '100.64.0.1'],
  ['loopback', '127.0.0.1'],
  ['loopback by another address', '127.8.8.8'],
  ['loopback in IPv6', '[::1]'],
  ['link-local', '169.254.1.1'],
  ['the metadata address', '169.254.169.254'],
  ['the metadata address in IPv6', '[fd00:ec2::254]'],
  ['link-local in IPv6', '[fe80::1]'],
  ['unique local', '[fd00::1]'],
  ['unspecified', '0.0.0.0'],
  ['unspecified in IPv6', '[::]'],
  ['IPv4-mapped', '[::ffff:127.0.0.1]'],
  ['IPv4-mapped in hexadecimal', '[::ffff:a9fe:a9fe]'],
  ['IPv4-compatible', '[::127.0.0.1]'],
  ['NAT64', '[64:ff9b::7f00:1]'],
  ['NAT64 of a local prefix', '[64:ff9b:1::7f00:1]'],
  ['6to4', '[2002:7f00:1::1]'],
  ['decimal', '2130706433'],
  ['octal', '0177.0.0.1'],
  ['octal with zeros', '00000177.0.0.1'],
  ['hexadecimal', '0x7f000001'],
  ['hexadecimal and short', '0x7f.1'],
  ['short', '127.1'],
  ['full-width digits', '１２７.０.０.１'],
  ['a name of loopback', 'localhost'],
  ['a name that is resolved to a private address', 'inside.test'],
  ['a name of several addresses, all of them inside', 'both.test'],
];

const zone: Record<string, string[]> = {
  localhost: ['127.0.0.1', '::1'],
  'inside.test': ['10.0.0.1'],
  'both.test': ['169.254.169.254', '::ffff:127.0.0.1'],
};
const answers = (addresses: readonly string[]) =>
  addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
const guard = (resolve = async (name: string) => answers(zone[name] ?? [])) =>
  createOutbound({ allow: OUTSIDE, ownListeners: () => [], resolve });

/** The messages of an error and of its causes. */
async function reasonsOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
    return 'nothing was refused';
  } catch (thrown) {
    const all: unknown[] = [];
    for (let error = thrown; error instanceof Error; error = error.cause)
      all.push(error.message, (error as { error_description?: string }).error_description);
    return all.filter(Boolean).join(': ');
  }
}

beforeEach(() => {
  state.endpoints = {};
  outside.requests.length = 0;
  inside.connections = 0;
});

describe.each(consumers)('%s', (_name, consumer) => {
  test.each(forms)('is not asked at %s (%s)', async (_what, host) => {
    for (const scheme of ['https', 'http'])
      expect(await reasonsOf(consumer(guard(), `${scheme}://${host}:${inside.port}/path`)), scheme).toContain(
        'is not public',
      );
    expect(inside.connections).toBe(0);
  });

  test('is not asked where it redirects to: loopback', async () => {
    const reasons = await reasonsOf(consumer(guard(), `${issuer}/away`));
    expect(reasons).not.toBe('nothing was refused');
    expect(outside.requests.some((one) => one.includes('/away'))).toBe(true);
    expect(inside.connections).toBe(0);
  });

  test('is asked by a name while that is public, and not when it is rebound to loopback', async () => {
    let asked = 0;
    const outbound = guard(async (name) => {
      if (name === 'rebound.test') asked++;
      return answers(asked > 1 ? ['127.0.0.1'] : [OUTSIDE]);
    });
    // http to a name is for addresses that are allowed, which the first answer is; the port is of both servers' choice.
    const url = `http://rebound.test:${outside.port}/first`;
    await reasonsOf(consumer(outbound, url));
    expect(outside.requests.some((one) => one.includes('/first'))).toBe(true);
    const before = outside.requests.filter((one) => one.includes('/first')).length;
    expect(await reasonsOf(consumer(outbound, url))).toContain('is not public');
    expect(asked).toBe(2);
    expect(outside.requests.filter((one) => one.includes('/first'))).toHaveLength(before);
  });
});
