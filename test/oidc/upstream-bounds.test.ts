/** Bounds of logging in by another issuer, at the limit and one past it; and invitations and links from a person's own page. */
import { createServer, type ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import * as oc from 'openid-client';
import { describe, expect, test } from 'vitest';
import { listIdentities, readAccount } from '../../server/accounts/index.ts';
import { limits } from '../../server/core/limits.ts';
import { linkHook, ownPagesCookie } from '../../server/oidc/index.ts';
import type { UpstreamClient } from '../../server/oidc/upstream-client.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { freePort } from '../helpers/free-port.ts';
import { begin, createAccount, webSpec } from './logging-in.ts';
import { Browser, createOidcServer, Jar } from './relying-party.ts';
import { startUpstream } from './upstreams.ts';

const server = await createOidcServer();
const { services } = server;
const idp = await startUpstream();

/** An issuer that answers its discovery document as it is told. */
async function startIssuer(answer: (response: ServerResponse, issuer: string) => void) {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const one = createServer((_request, response) => answer(response, issuer));
  await new Promise<void>((done) => one.listen(port, '127.0.0.1', done));
  closeAtEnd(() => {
    one.closeAllConnections();
    one.close();
  });
  return issuer;
}

const documentOf = (issuer: string) => ({
  ...{ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` },
  ...{ jwks_uri: `${issuer}/jwks`, response_types_supported: ['code'], subject_types_supported: ['public'] },
  id_token_signing_alg_values_supported: ['RS256'],
});

const login = { clientId: 'accord', scopes: ['openid'], displayName: 'The Other' };
const logInIssuer = (issuer: string): Parameters<UpstreamClient['begin']>[1] => ({
  ...{ name: 'idp', issuer, audiences: [], algorithms: ['RS256'], clients: 'none', foreignPrefixes: [], login },
  ...{ tokenMapping: { actorIdClaimPath: 'sub', defaultActorType: 'user' } },
  contactClaims: { email: 'email', emailVerified: 'email_verified' },
});

const { upstream } = services.oidc;
const tryIt = (issuer: string, tenant = 'someone', ip = '192.0.2.1') =>
  upstream.begin({ tenant, ip }, logInIssuer(issuer), false).then(
    () => 'begun',
    (error: Error & { failure?: string }) => `${error.failure}: ${error.message}`,
  );

describe('bounds', () => {
  test('upstreamBytesMax: of an answer', async () => {
    let bytes = limits.upstreamBytesMax;
    const issuer = await startIssuer((response, own) => {
      const text = JSON.stringify(documentOf(own));
      response.setHeader('content-type', 'application/json').end(text.padEnd(bytes));
    });
    expect(await tryIt(issuer, 'small')).toBe('begun');
    bytes++;
    expect(await tryIt(issuer, 'large')).toContain(`longer than ${limits.upstreamBytesMax} bytes`);
  });

  test('upstreamMsMax: of all requests; upstreamAtOncePerTenantMax: log-ins of a tenant that wait', async () => {
    const waiting: ServerResponse[] = [];
    const issuer = await startIssuer((response) => waiting.push(response));
    const all = Array.from({ length: limits.upstreamAtOncePerTenantMax }, (_, n) =>
      tryIt(issuer, 'someone', `192.0.2.${n}`),
    );
    expect(await tryIt(issuer, 'someone', '198.51.100.1')).toBe('unavailable: too many at once');
    const free = await startIssuer((response, own) => response.end(JSON.stringify(documentOf(own))));
    expect(await tryIt(free, 'other')).toBe('begun');
    for (const one of await Promise.all(all)) expect(one).toMatch(/^unavailable: .*no complete answer/);
  });

  test('upstreamAtOncePerNetworkMax: log-ins of one network, which leaves places to others', async () => {
    const waiting: ServerResponse[] = [];
    const finish = () => {
      for (const response of waiting.splice(0)) response.end(JSON.stringify(documentOf(issuer)));
    };
    const issuer = await startIssuer((response) =>
      waiting.push(response.setHeader('content-type', 'application/json')),
    );
    const ips = (count: number) => Array.from({ length: count }, (_, n) => `2001:db8::${n}`);
    const all = ips(limits.upstreamAtOncePerNetworkMax).map((ip) => tryIt(issuer, 'shared', ip));
    expect(await tryIt(issuer, 'shared', '2001:db8::ffff')).toBe('unavailable: too many at once of one network');
    all.push(tryIt(issuer, 'shared', '2001:db8:0:1::1'), tryIt(issuer, 'elsewhere', '2001:db8::1'));
    await expect.poll(() => waiting.length).toBe(all.length);
    finish();
    expect(new Set(await Promise.all(all))).toEqual(new Set(['begun']));
    // Their places are free again, and what is refused throws nothing away: the issuer is not asked anew.
    const again = ips(limits.upstreamAtOncePerNetworkMax + 1).map((ip) => tryIt(issuer, 'shared', ip));
    expect((await Promise.all(again)).filter((one) => one !== 'begun')).toHaveLength(1);
    expect(await tryIt(issuer, 'shared')).toBe('begun');
    expect(waiting).toHaveLength(0);
  });

  test('either step is scarce: a network begins, and comes back, at most scarcePerSecondMax times a second', async () => {
    const { app } = await createOidcServer({ ACCORD_RATE_LIMIT: '1000' });
    for (const method of ['POST', 'GET'] as const) {
      const remoteAddress = method === 'POST' ? '192.0.2.1' : '192.0.2.2';
      const url = '/nobody/oidc/interaction/x/upstream';
      const asked = Array.from({ length: 60 }, () => app.inject({ method, url, remoteAddress }));
      const answers = (await Promise.all(asked)).map(({ statusCode }) => statusCode);
      expect([method, answers.includes(429)]).toEqual([method, true]);
    }
  });

  test.each([
    ['another issuer', (own: string) => ({ ...documentOf(own), issuer: 'https://evil.example' })],
    ['another spelling of the issuer', (own: string) => ({ ...documentOf(own), issuer: `${own}/` })],
    [
      'only algorithms that are not accepted',
      (own: string) => ({ ...documentOf(own), id_token_signing_alg_values_supported: ['HS256', 'none'] }),
    ],
    [
      'an address that is no web page',
      (own: string) => ({ ...documentOf(own), authorization_endpoint: 'javascript:alert(1)' }),
    ],
    ['no authorization endpoint', (own: string) => ({ ...documentOf(own), authorization_endpoint: undefined })],
  ])('a discovery document with %s is not followed', async (_name, documentFor) => {
    const issuer = await startIssuer((response, own) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(documentFor(own))),
    );
    expect(await tryIt(issuer)).toMatch(/^(unavailable|refused): /);
  });

  test('an address that only this server can reach is not asked', async () => {
    const guarded = await createOidcServer({ ACCORD_OUTBOUND_ALLOW: '' });
    const before = idp.requests.length;
    const asker = { tenant: 'someone', ip: '192.0.2.1' };
    await expect(guarded.services.oidc.upstream.begin(asker, logInIssuer(idp.issuer), false)).rejects.toThrow(
      /not public/,
    );
    expect(idp.requests.length).toBe(before);
  });
});

describe("linking from a person's own page", () => {
  const linked = async () => {
    const tenant = await server.tenant();
    await idp.trust(server, tenant);
    const email = `${tenant}@example.org`;
    const id = await createAccount(server, tenant, email);
    return { tenant, email, id, sub: `sub-of-${tenant}` };
  };
  /** The page of the person, which another room has: it sets the cookie and sends the browser away. */
  async function link(tenant: string, account: string, jar = new Jar()) {
    const cookies: string[] = [];
    const reply = {
      header: (_name: string, value: string | string[]) => void cookies.push(...[value].flat()),
      getHeader: () => undefined,
    };
    const served = services.snapshots.get(tenant);
    const hook = linkHook(services.oidc);
    expect(hook.available(served as never)).toEqual([{ id: 'idp', name: 'The Other' }]);
    const { epoch } = (await readAccount(services.accounts, tenant, account)) as { epoch: number };
    const url = await hook.begin({
      tenant: { code: tenant, snapshot: served } as never,
      account: { id: account, epoch },
      id: 'idp',
      ip: '192.0.2.1',
      reply: reply as unknown as FastifyReply,
    });
    const headers = new Headers(cookies.map((cookie) => ['set-cookie', cookie]));
    jar.take({ headers } as Response, new URL(server.baseUrl));
    return { url, browser: new Browser(server, jar) };
  }
  /** Where the browser is sent from the callback. */
  async function comeBack(jar: Jar, back: URL): Promise<string> {
    const headers = { cookie: jar.header(back.pathname) };
    const response = await fetch(back, { headers, redirect: 'manual' });
    return response.headers.get('location') ?? String(response.status);
  }

  test('links the identity to the account that asked, once', async () => {
    const { tenant, id, sub } = await linked();
    const { url, browser } = await link(tenant, id);
    const back = await idp.visit(url, sub);
    expect(await comeBack(browser.jar, back)).toBe(`${server.baseUrl}/${tenant}/account?notice=linked`);
    expect(await listIdentities(services.accounts, tenant, id)).toMatchObject([{ issuer: idp.issuer, subject: sub }]);
    expect(await comeBack(browser.jar, back)).toBe('400');
  });

  test('in another browser it links nothing: neither to the account of the attacker nor to that of the victim', async () => {
    const { tenant, id, sub } = await linked();
    const { url } = await link(tenant, id);
    const back = await idp.visit(url, sub);
    const victim = await createAccount(server, tenant, `victim-${tenant}@example.org`);
    const other = await link(tenant, victim);
    expect((await other.browser.open(back)).status).toBe(400);
    for (const one of [id, victim]) expect(await listIdentities(services.accounts, tenant, one)).toEqual([]);
  });

  test("somebody else's identity stays where it is", async () => {
    const { tenant, id, sub } = await linked();
    const first = await link(tenant, id);
    await comeBack(first.browser.jar, await idp.visit(first.url, sub));
    const other = await createAccount(server, tenant, `other-${tenant}@example.org`);
    const second = await link(tenant, other);
    expect(await comeBack(second.browser.jar, await idp.visit(second.url, sub))).toContain('?notice=link_taken');
    expect(await listIdentities(services.accounts, tenant, other)).toEqual([]);
  });
});

describe('an invitation', () => {
  test('lets the invited address sign up by another issuer where sign-up is by invitation, and no other address', async () => {
    const tenant = await server.tenant({ login: { selfRegistration: 'invitation' } });
    await idp.trust(server, tenant);
    const token = await server.client(tenant, 'pg:tenant:admin');
    const member = await server.member(tenant, 'security-admin');
    const send = async (method: 'PUT' | 'POST', url: string, payload: object, bearer: string) => {
      const headers = { authorization: `Bearer ${bearer}` };
      const response = await server.app.inject({ method, url, headers, payload });
      expect([response.statusCode, response.body]).toEqual([200, response.body]);
      return response.json() as { requestToken: string };
    };
    const types = `/tenants/${tenant}`;
    await send('PUT', `${types}/actor-types/user`, {}, member);
    await send('PUT', `${types}/resource-types/car`, {}, member);
    await send('PUT', `${types}/relationship-types/user:drives:car`, { invitation: { enabled: true } }, member);
    const email = `invited-${tenant}@example.org`;
    const invitation = {
      ...{ relationshipType: 'drives', to: { type: 'car', id: '1' } },
      ...{ invitor: { type: 'user', id: 'boss' }, invitee: { contact: { type: 'email', value: email } } },
      delivery: 'response',
    };
    const { requestToken } = await send('POST', `/${tenant}/sharing/invitations`, invitation, token);
    idp.persons.set('invited', { email, email_verified: true });
    idp.persons.set('uninvited', { email: `x${email}`, email_verified: true });
    const secret = (await server.register(tenant, 'web', webSpec)) as string;
    const config = await server.discover(tenant, 'web', oc.ClientSecretBasic(secret));
    const walk = async (user: string, jar: Jar, own: boolean) => {
      const page = own
        ? await new Browser(server, jar).open(`${server.baseUrl}/${tenant}/invitation/log-in`)
        : (await begin(server, config, {}, { jar })).page;
      const browser = new Browser(server, jar);
      const { left } = await browser.submit(page, '/upstream', { upstream: 'idp' });
      return browser.open(await idp.visit(left as URL, user));
    };
    const jarWith = (code: string) => {
      const jar = new Jar();
      const cookie = `${ownPagesCookie(server.baseUrl, 'invitation')}=${code}; Path=/${tenant}`;
      jar.take({ headers: new Headers([['set-cookie', cookie]]) } as Response, new URL(server.baseUrl));
      return jar;
    };
    expect((await walk('uninvited', jarWith(requestToken), true)).status).toBe(403);
    expect((await walk('invited', new Jar(), false)).status).toBe(403);
    // The invitation is answered at our own pages; another application does not see it.
    expect((await walk('invited', jarWith(requestToken), false)).status).toBe(403);
    const done = await walk('invited', jarWith(requestToken), true);
    expect([done.status, done.url.pathname]).toEqual([200, `/${tenant}/invitation/answer`]);
    expect(done.text).toContain(email);
  });
});
