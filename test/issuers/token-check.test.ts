/** POST C/tokens/check: what it says of a token is what a request with it is answered, and nothing is kept of the token. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { startIdentityProvider } from '../core/auth/identity-provider.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';

const clock = new WallClock();
const server = await createTestServer({ ACCORD_OUTBOUND_ALLOW: '127.0.0.0/8' }, undefined, clock);
const audience = 'https://api.test';
const idp = await startIdentityProvider();
await idp.addKey('one');
const away = await startIdentityProvider();
const tenant = await server.tenant();
const admin = await server.member(tenant, 'security-admin');
const editor = await server.member(tenant, 'config-editor');
const C = `/tenants/${tenant}`;

type Sent = { method: 'GET' | 'PUT' | 'POST'; url: string; token: string; payload?: object; headers?: object };
async function send({ token, headers, ...request }: Sent) {
  const response = await server.app.inject({ ...request, headers: { authorization: `Bearer ${token}`, ...headers } });
  return { status: response.statusCode, headers: response.headers, body: response.json() };
}
const put = (payload: object, issuer = 'login') =>
  send({ method: 'PUT', url: `${C}/trusted-issuers/${issuer}`, token: admin, payload });
const ask = (payload: object, token = editor, headers: object = {}) =>
  send({ method: 'POST', url: `${C}/tokens/check`, token, payload, headers });
expect(await put({ issuer: idp.issuer, jwksUri: idp.jwksUri, clients: 'rfc9068' })).toMatchObject({ status: 200 });

type Step = { step: string; result: string; detail?: string; found: Record<string, unknown>; accepted?: string[] };
type Checked = {
  accepted: boolean;
  trustedIssuer?: string;
  steps: Step[];
  caller?: unknown;
  boundToKey: boolean;
};

const claims = (more: object = {}) => ({
  ...{ iss: idp.issuer, sub: 'alice', aud: audience, iat: clock.seconds(), exp: clock.seconds() + 600 },
  ...more,
});

/** The check, and whether it says what a request with the token is answered. */
async function check(token: string): Promise<Checked & { of(step: string): Step | undefined }> {
  const { status, body } = await ask({ token });
  expect([status, body]).toEqual([200, body]);
  const payload = { action: 'car:drive', resource: { type: 'car', id: '1' } };
  const asked = await send({ method: 'POST', url: `/authz/${tenant}`, token, payload });
  const checked = body as Checked;
  expect(checked.accepted).toBe(![401, 503].includes(asked.status));
  if (!checked.accepted) {
    const failed = checked.steps.find(({ result }) => result === 'failed');
    expect(failed?.detail).toBe((asked.body as { detail: string }).detail);
  }
  return { ...checked, of: (step) => checked.steps.find((one) => one.step === step) };
}
const results = ({ steps }: Checked) => Object.fromEntries(steps.map(({ step, result }) => [step, result]));

describe('a token', () => {
  test('that is accepted passes each check, and the caller is the one that requests have', async () => {
    const token = await idp.sign(claims({ email: 'alice@boats.example', email_verified: true }));
    const checked = await check(token);
    expect(new Set(Object.values(results(checked)))).toEqual(new Set(['passed']));
    expect(checked).toMatchObject({
      trustedIssuer: 'login',
      caller: { kind: 'user', actor: { type: 'user', id: 'alice' }, email: 'alice@boats.example' },
      boundToKey: false,
    });
    expect(checked.of('audience')).toMatchObject({ found: { aud: audience }, accepted: [audience] });
    expect(checked.of('key')).toMatchObject({ found: { kid: 'one' }, accepted: ['one'] });
    expect(checked.of('revocation')).toBeUndefined();
    const backend = await check(await idp.sign(claims({ client_id: 'alice', scope: 'authz:evaluate other' })));
    expect(backend.caller).toEqual({ kind: 'backend', clientId: 'alice', scopes: ['authz:evaluate'] });
  });

  test('that has several faults is told all that can be known, and the first one as requests are', async () => {
    const checked = await check(await idp.sign(claims({ exp: clock.seconds() - 1, aud: 'https://other.example' })));
    expect(results(checked)).toEqual({
      ...{ format: 'passed', type: 'passed', issuer: 'passed', algorithm: 'passed', key: 'passed' },
      ...{ signature: 'passed', times: 'failed', subject: 'passed', audience: 'failed', binding: 'passed' },
      caller: 'passed',
    });
    expect(checked.of('times')?.found).toMatchObject({ exp: clock.seconds() - 1, now: clock.seconds() });
    expect(checked.of('audience')?.accepted).toEqual([audience]);
    expect(checked.caller).toBeUndefined();
  });

  test('that is no token, or too long, fails at its format, and nothing is read of it', async () => {
    for (const token of ['opaque', `${'a'.repeat(20)}.b.c.d.e`, `${await idp.sign(claims())} `]) {
      const checked = await check(token.trim() === token ? token : token.replace('.', '. '));
      expect(results(checked)).toMatchObject({ format: 'failed', type: 'skipped', signature: 'skipped' });
    }
    const long = await check('a'.repeat(limits.tokenBytesMax + 1));
    expect(long.of('format')).toMatchObject({ result: 'failed', found: { characters: limits.tokenBytesMax + 1 } });
    expect((await ask({ token: 'a'.repeat(limits.tokenBodyBytesMax) })).status).toBe(413);
  });

  test('of an issuer that is not trusted, of another type, by an unknown key or a wrong signature', async () => {
    const stranger = await check(await idp.sign(claims({ iss: 'https://else.example' })));
    expect(results(stranger)).toMatchObject({ type: 'passed', issuer: 'failed', key: 'skipped' });
    expect(stranger.of('issuer')).toMatchObject({ found: { iss: 'https://else.example' } });
    expect(stranger.of('issuer')?.accepted).toContain(idp.issuer);
    expect(stranger.trustedIssuer).toBeUndefined();
    const receipt = await check(await idp.sign(claims(), { typ: 'receipt+jwt' }));
    expect(results(receipt)).toMatchObject({ type: 'failed', issuer: 'skipped' });
    const unknown = await check(await idp.sign(claims(), { kid: 'gone' }));
    expect(unknown.of('key')).toMatchObject({ result: 'failed', found: { kid: 'gone' }, accepted: ['one'] });
    const good = await idp.sign(claims());
    const [header, payload] = good.split('.');
    const [, , other] = (await idp.sign(claims({ sub: 'ben' }))).split('.');
    expect(results(await check(`${header}.${payload}.${other}`))).toMatchObject({
      ...{ key: 'passed', signature: 'failed', times: 'skipped' },
    });
  });

  test('says why the keys of its issuer cannot be read', async () => {
    const key = await away.addKey('k');
    away.answer = (_request, response) => void response.writeHead(500).end();
    await put({ issuer: away.issuer, jwksUri: away.jwksUri, actorIdPrefix: 'away-' }, 'away');
    const checked = await check(await away.sign(claims({ iss: away.issuer }), {}, key));
    expect(checked.of('key')).toMatchObject({ result: 'failed', found: { kid: 'k' }, accepted: [] });
    expect(checked.of('key')?.found.failure).toContain(away.jwksUri);
  });

  test('that is bound to a key says so, and one bound to a certificate is refused', async () => {
    const bound = await ask({ token: await idp.sign(claims({ cnf: { jkt: 'thumb' } })) });
    expect(bound.body).toMatchObject({ accepted: true, boundToKey: true });
    const certificate = await check(await idp.sign(claims({ cnf: { 'x5t#S256': 'x' } })));
    expect(certificate.of('binding')).toMatchObject({ result: 'failed', found: { cnf: { 'x5t#S256': 'x' } } });
  });
});

test('editors and administrators check, others do not', async () => {
  const token = await idp.sign(claims());
  const roles = { 'security-admin': 200, 'config-editor': 200, 'config-viewer': 403, support: 403 } as const;
  for (const [role, status] of Object.entries(roles)) {
    const member = await server.member(tenant, role as keyof typeof roles);
    expect([role, (await ask({ token }, member)).status]).toEqual([role, status]);
  }
  for (const [wrong, pointer] of [
    [{}, '/token'],
    [{ token: '' }, '/token'],
    [{ token: 'a', more: 1 }, '/more'],
  ] as const) {
    expect(await ask(wrong)).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
  }
  const elsewhere = await server.tenant();
  const url = `/tenants/${elsewhere}/tokens/check`;
  expect((await send({ method: 'POST', url, token: editor, payload: { token } })).status).toBe(401);
});

test('nothing is kept of a token: no row, no observation, and it is not remembered as verified', async () => {
  const token = await idp.sign(claims({ sub: 'not-to-be-found' }));
  const answer = await ask({ token }, editor, { 'idempotency-key': 'once' });
  expect(answer).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' }, body: { accepted: true } });
  const { issuers, snapshot } = server.services;
  expect(issuers.tokens.cached(token, snapshot.snapshotOf(tenant).auth)).toBeUndefined();
  const signature = token.split('.')[2] as string;
  const tables = await asAdmin<{ name: string }>(
    server.db.adminUrl,
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'accord'`,
  );
  expect(tables.length).toBeGreaterThan(20);
  const kept = tables.map(
    ({ name }) =>
      `select '${name}' as name from ${name} as t where t::text like '%${signature}%' or t::text like '%not-to-be-found%'`,
  );
  expect(await asAdmin(server.db.adminUrl, kept.join(' union all '))).toEqual([]);
  const observed = JSON.stringify(server.observations);
  expect([observed.includes(signature), observed.includes('not-to-be-found')]).toEqual([false, false]);
});
