/** What of a request that was refused before its room saw it is in the ledger. The clock stands still unless it is told to go on. */
import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { mintClientToken } from '../../server/keys/index.ts';
import { TestClock } from '../core/auth/test-clock.ts';
import { createTestServer } from '../helpers/server.ts';

const RATE = 20;
const clock = new TestClock();
const server = await createTestServer({ ACCORD_RATE_LIMIT: String(RATE) }, undefined, clock);
const json = { 'content-type': 'application/json' };

const tokenOf = async (tenant: string, clientId: string) =>
  (await mintClientToken(server.services.keys, tenant, { clientId, scopes: ['pg:tenant:admin'] })).token;

async function denials(tenant: string): Promise<string[]> {
  clock.advance(1000);
  const headers = { authorization: `Bearer ${await tokenOf(tenant, 'reader')}` };
  const answer = await server.app.inject({ url: `/${tenant}/consents/events?type=denied`, headers });
  type Entry = { outcome: string; requestId: string; actor: { id: string } };
  return answer.json().logs.map(({ outcome, actor, requestId }: Entry) => `${outcome} of ${actor.id} (${requestId})`);
}

const register = (tenant: string, token: string, requestId: string, payload: string, headers: object = json) =>
  server.app.inject({
    method: 'POST',
    url: `/${tenant}/consents`,
    headers: { authorization: `Bearer ${token}`, 'x-request-id': requestId, ...headers },
    payload,
  });

test('a body that is too large, and one of another type, are recorded as what they are', async () => {
  const tenant = await server.tenant();
  const token = await tokenOf(tenant, 'app');
  const large = await register(tenant, token, 'large', '{}'.padEnd(limits.bodyBytesMax + 1));
  clock.advance(5000); // it counts as many
  const text = await register(tenant, token, 'text', '{}', { 'content-type': 'text/plain' });
  const broken = await register(tenant, token, 'broken', '{');
  const statuses = [large, text, broken].map((answer) => answer.statusCode);
  expect(statuses).toEqual([413, 415, 400]);
  expect((await denials(tenant)).sort()).toEqual([
    'body_too_large of app (large)',
    'invalid_request of app (broken)',
    'unsupported_media_type of app (text)',
  ]);
});

test('what the rate limit of a caller refused is recorded, once a second', async () => {
  const tenant = await server.tenant();
  const [one, two] = [await tokenOf(tenant, 'one'), await tokenOf(tenant, 'two')];
  const send = async (token: string, name: string) => {
    for (let n = 0; n < RATE * 2; n++) await register(tenant, token, `${name}${n}`, '[]');
  };
  await send(one, 'a');
  await send(two, 'b');
  clock.advance(limits.ledgerThrottledMs - 1);
  await send(one, 'c');
  clock.advance(1);
  await send(one, 'd');
  const limited = (await denials(tenant)).filter((text) => text.startsWith('rate_limited'));
  expect(limited.map((text) => text.replace(/\d+\)/, ')')).sort()).toEqual([
    'rate_limited of one (a)',
    'rate_limited of one (d)',
    'rate_limited of two (b)',
  ]);
});

test("so is what the tenant's limit refused, and a batch of too many", async () => {
  const tenant = await server.tenant({ limits: { maxRequestsPerSecond: 1 } });
  const token = await tokenOf(tenant, 'app');
  const answers = [await register(tenant, token, 'first', '[]'), await register(tenant, token, 'second', '[]')];
  expect(answers.map((answer) => answer.statusCode)).toEqual([400, 429]);
  expect(answers[1]?.headers).toMatchObject({
    'retry-after': '1',
    'ratelimit-policy': '"tenant";q=1;w=1',
    ratelimit: '"tenant";r=0;t=1',
  });
  expect(await denials(tenant)).toContain('rate_limited of app (second)');
});
