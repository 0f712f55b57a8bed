/** Bounds of the authorization servers, at the limit and one past it; and what they hold and forget. */

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { describe, expect, test } from 'vitest';
import { verifyProof } from '../../server/core/auth/dpop.ts';
import { sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { fetchThrough } from '../../server/oidc/outgoing.ts';
import { sweeping } from '../../server/oidc/sweeping.ts';
import { asAdmin } from '../helpers/admin.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { basic, createOidcServer } from './relying-party.ts';

const server = await createOidcServer();
const { services, register, post, db } = server;
const tenant = await server.tenant();
const secret = await register(tenant, 'backend', { grantTypes: ['client_credentials'] });

describe('requests', () => {
  test('oidcBodyBytesMax: of a body', async () => {
    const head = 'grant_type=client_credentials&x=';
    const send = (bytes: number) =>
      post(tenant, '/oidc/token', head.padEnd(bytes, 'x'), basic('backend', secret)).then(({ status }) => status);
    expect(await send(limits.oidcBodyBytesMax)).toBe(200);
    expect(await send(limits.oidcBodyBytesMax + 1)).toBeGreaterThanOrEqual(400);
  });

  test('formBodyBytesMax: of a form of a page', async () => {
    const send = (path: string, bytes: number) => post(tenant, path, 'x='.padEnd(bytes, 'x'));
    expect((await send('/account/reset', limits.formBodyBytesMax)).status).toBe(403);
    expect((await send('/account/reset', limits.formBodyBytesMax + 1)).status).toBe(413);
    expect((await send('/oidc/authorize', limits.smallBodyBytesMax)).status).toBe(303);
    expect((await send('/oidc/authorize', limits.smallBodyBytesMax + 1)).status).toBe(413);
  });
});

describe('DPoP proofs', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = await exportJWK(publicKey);
  const [jkt, token, nowMs] = [await calculateJwkThumbprint(jwk), 'token', 1_700_000_000_000];
  const ath = createHash('sha256').update(token).digest('base64url');
  const proof = (iatMs: number, more: Record<string, unknown> = {}) =>
    new SignJWT({ htm: 'POST', htu: 'https://a.example/x', ath, jti: 'j', iat: Math.floor(iatMs / 1000), ...more })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
      .sign(privateKey);
  const check = (one: string) =>
    verifyProof(
      { clock: { now: () => nowMs, monotonic: () => 0 }, baseUrl: 'https://a.example' },
      { tenant, jkt, token, method: 'POST', path: '/x?q=1', proof: one },
    ).then(
      () => 'accepted',
      (error: Error) => error.message,
    );

  test('dpopProofAgeMsMax: before and after now', async () => {
    for (const sign of [-1, 1]) {
      expect(await check(await proof(nowMs + sign * limits.dpopProofAgeMsMax))).toBe('accepted');
      expect(await check(await proof(nowMs + sign * (limits.dpopProofAgeMsMax + 1000)))).toContain('iat');
    }
  });

  test('dpopProofCharsMax', async () => {
    const base = (await proof(nowMs)).length;
    const fill = (chars: number) => proof(nowMs, { x: 'x'.repeat(chars) });
    let chars = Math.floor(((limits.dpopProofCharsMax - base) * 3) / 4) - 24;
    while ((await fill(chars + 1)).length <= limits.dpopProofCharsMax) chars++;
    expect(await check(await fill(chars))).toBe('accepted');
    expect(await check(await fill(chars + 1))).toContain('too long');
  });

  test.each([
    ['another method', { htm: 'GET' }],
    ['another address', { htu: 'https://b.example/x' }],
    ['another token', { ath: 'x' }],
    ['no id', { jti: undefined }],
  ])('of %s are refused', async (_what, more) => {
    expect(await check(await proof(nowMs, more))).toContain('DPoP proof was refused');
  });

  test('dpopProofsMax: more are asked of Postgres', () => {
    const seen = new LRUCache<number, true>({ max: limits.dpopProofsMax });
    for (let i = 0; i <= limits.dpopProofsMax; i++) seen.set(i, true);
    expect([seen.size, seen.has(0), seen.has(1)]).toEqual([limits.dpopProofsMax, false, true]);
  });
});

describe('requests of ours', () => {
  const big = createServer((request, response) => {
    if (request.url === '/slow') return;
    response.end('x'.repeat(Number(request.url?.slice(1))));
  }).listen(0, '127.0.0.1');
  closeAtEnd(() => {
    big.close();
    big.closeAllConnections();
  });
  const fetchOf = async (path: string | number) => {
    if (!big.listening) await once(big, 'listening');
    const { port } = big.address() as { port: number };
    return fetchThrough(services.outbound, tenant)(`http://127.0.0.1:${port}/${path}`);
  };

  test('clientJwksBytesMax: of the keys of a client', async () => {
    expect((await fetchOf(limits.clientJwksBytesMax)).status).toBe(200);
    await expect(fetchOf(limits.clientJwksBytesMax + 1)).rejects.toThrow('longer');
  });

  test('backchannelTimeoutMs: then a client is not told', async () => {
    const began = performance.now();
    await expect(fetchOf('slow')).rejects.toThrow('no complete answer');
    expect(performance.now() - began).toBeGreaterThanOrEqual(limits.backchannelTimeoutMs - 50);
  });
});

describe('records', () => {
  const insert = (count: number, expiresAt: string) =>
    db.database.tenant(tenant, (tx) =>
      tx.run(sql`insert into accord.oidc_record (tenant, model, id, payload, expires_at)
        select ${tenant}, 'Test', sha256(n::text::bytea), '', ${expiresAt}::timestamptz from generate_series(1, ${count}::int) n`),
    );
  const count = async () =>
    (
      await asAdmin<{ n: number }>(db.adminUrl, `select count(*)::int n from accord.oidc_record where model = 'Test'`)
    )[0]?.n;

  test('oidcSweepItemsMax: what has expired is removed, in portions; oidcSweepMs: again and again', async () => {
    const task = sweeping({ database: db.database, clock: services.clock });
    expect(task.everyMs).toBe(limits.oidcSweepMs);
    await insert(limits.oidcSweepItemsMax + 1, '2000-01-01T00:00:00Z');
    expect(await count()).toBe(limits.oidcSweepItemsMax + 1);
    await task.run(new AbortController().signal);
    expect(await count()).toBe(0);
    await insert(1, '2100-01-01T00:00:00Z');
    await task.run(new AbortController().signal);
    expect(await count()).toBe(1);
  });

  test('hold no id, code or token, and nothing that reads as a person', async () => {
    await post(tenant, '/oidc/token', { grant_type: 'client_credentials' }, basic('backend', secret));
    const rows = await asAdmin<{ text: string }>(db.adminUrl, `select r::text as text from accord.oidc_record r`);
    for (const { text } of rows) expect(text).not.toMatch(/backend|"jti"|accountId/);
  });
});

describe('lifetimes', () => {
  test('authorizationCodeTtlMs, deviceCodeTtlMs, interactionTtlMs, grantSpareMs', async () => {
    const device = await register(tenant, 'tv', {
      grantTypes: ['urn:ietf:params:oauth:grant-type:device_code'],
      applicationType: 'native',
      tokenEndpointAuthMethod: 'none',
    });
    expect(device).toBeUndefined();
    const { body } = await post(tenant, '/oidc/device/authorize', { client_id: 'tv', scope: 'openid' });
    expect(body.expires_in).toBe(limits.deviceCodeTtlMs / 1000);
    expect(limits.authorizationCodeTtlMs).toBeLessThanOrEqual(600_000); // RFC 6749 section 4.1.2: ten minutes at the most
    expect(limits.interactionTtlMs).toBeGreaterThan(limits.authorizationCodeTtlMs);
    expect(limits.grantSpareMs).toBeGreaterThan(0);
  });
});

describe('providers', () => {
  test('oidcProvidersMax: the one that was idle longest goes, and is built again', async () => {
    const { providers } = services.oidc as unknown as { providers: { size: number; forget(tenant?: string): void } };
    expect(providers.size).toBeLessThanOrEqual(limits.oidcProvidersMax);
    providers.forget();
    expect(providers.size).toBe(0);
    expect(
      (await post(tenant, '/oidc/token', { grant_type: 'client_credentials' }, basic('backend', secret))).status,
    ).toBe(200);
    expect(providers.size).toBe(1);
  });

  test('follow keys that change, at once', async () => {
    const { providers } = services.oidc as unknown as { providers: { size: number } };
    await asAdmin(db.adminUrl, `select pg_notify('accord_keys', '${tenant}')`);
    await expect.poll(() => providers.size).toBe(0);
  });

  test('oidcImportAfterMs: the library is not loaded with the first requests of a start', () => {
    expect(limits.oidcImportAfterMs).toBeGreaterThanOrEqual(1000);
  });

  test('nothing is printed by the library', async () => {
    const printed: unknown[][] = [];
    const { info, warn } = console;
    console.info = (...all) => printed.push(all);
    console.warn = (...all) => printed.push(all);
    try {
      await fetch(`${server.origin}/${tenant}/oidc/authorize?client_id=nobody`, { headers: { accept: 'text/html' } });
      await fetch(`${server.origin}/${tenant}/oidc/end-session`);
      await fetch(`${server.origin}/${tenant}/oidc/device`);
      const json = JSON.stringify({ grant_type: 'client_credentials', client_id: 'backend', client_secret: secret });
      await post(tenant, '/oidc/token', json, { 'content-type': 'application/json' });
    } finally {
      Object.assign(console, { info, warn });
    }
    expect(printed).toEqual([]);
    expect(server.observations.some((one) => one.kind === 'oidc_refused')).toBe(true);
  });
});
