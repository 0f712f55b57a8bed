/** Who pays for a body: it counts as so many requests of whoever sent it. The clock stands still unless it is told to go on. */
import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { TestClock } from '../core/auth/test-clock.ts';
import { createTestServer } from '../helpers/server.ts';

const RATE = 100;
const clock = new TestClock();
const server = await createTestServer({ ACCORD_RATE_LIMIT: String(RATE) }, undefined, clock);
const tenant = await server.tenant();
const json = { 'content-type': 'application/json' };
const token = await server.client(tenant, 'authz:evaluate');
let addresses = 0;
const from = () => `192.0.2.${++addresses}`;
const known = (payload: string) =>
  server.app.inject({
    method: 'POST',
    url: `/authz/${tenant}`,
    headers: { authorization: `Bearer ${token}`, ...json },
    payload,
  });
const stranger = (payload: string, remoteAddress: string) =>
  server.app.inject({ method: 'POST', url: '/no/such', headers: json, payload, remoteAddress });
/** How many requests are still let in. */
const left = async (send: () => Promise<{ statusCode: number }>) => {
  for (let count = 0; ; count++) if ((await send()).statusCode === 429) return count;
};

test('a body counts as a request for each so many bytes of it, taken or refused', async () => {
  for (const [text, status] of [
    ['{}'.padStart(limits.bodyBytesPerRequest * 20), 200],
    ['{]'.padStart(limits.bodyBytesPerRequest * 20), 400],
    ['{"x":1}'.padStart(limits.bodyBytesPerRequest * 20), 400],
  ] as const) {
    clock.advance(2000);
    expect((await known(text)).statusCode).toBe(status);
    expect(await left(() => known('{}'))).toBe(RATE - 1 - 20);
  }
  clock.advance(2000);
  const objects = Array.from({ length: limits.requestShapesMax * 10 }, (_, n) => `{"${n}":0}`);
  expect((await known(`{"context":{"x":[${objects}]}}`)).statusCode).toBe(200);
  expect(await left(() => known('{}'))).toBe(RATE - 1 - 10 - 1); // 5 KB of bytes, too
});

test('it counts for the address of one who is not known, also when it is too large to be read', async () => {
  const address = from();
  expect((await stranger('x'.repeat(limits.bodyBytesPerRequest * 20), address)).statusCode).toBe(413);
  expect(await left(() => stranger('{}', address))).toBe(RATE - 1 - 20);
});

test('it counts at most as much as the largest that there may be, whatever its length is said to be', async () => {
  const address = from();
  const send = server.app.inject({
    method: 'POST',
    url: '/no/such',
    headers: { ...json, 'content-length': '1000000000000' },
    payload: '{}',
    remoteAddress: address,
  });
  expect((await send).statusCode).toBe(413);
  clock.advance((limits.batchBodyBytesMax / limits.bodyBytesPerRequest / RATE) * 1000);
  expect((await stranger('{}', address)).statusCode).toBe(404);
});
