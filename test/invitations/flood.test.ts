/** Many accepts of one invitation in flight over 200 connections, each by another user: exactly one wins. */
import { Agent, fetch } from 'undici';
import { afterAll, expect, test } from 'vitest';
import { drawn } from '../helpers/long.ts';
import { createTestServer } from '../helpers/server.ts';
import { invitingTenant } from './inviting.ts';

const ACCEPTS = drawn(1000, 10_000);
const server = await createTestServer({ ACCORD_DATABASE_POOL: '20' });
const cars = await invitingTenant(server);
const address = await server.app.listen({ port: 0, host: '127.0.0.1' });
const agent = new Agent({ connections: 200, pipelining: 1 });
afterAll(() => agent.close());

test(`${ACCEPTS} accepts: one wins, all others are told so, and one relationship is made`, async () => {
  const { requestToken, invitationId } = await cars.invite();
  const tokens: string[] = [];
  while (tokens.length < ACCEPTS) {
    const from = tokens.length;
    const some = Array.from({ length: 200 }, (_, i) => server.user(cars.tenant, `u${from + i}`));
    tokens.push(...(await Promise.all(some)));
  }
  const accept = async (token: string, user: number): Promise<number> => {
    const response = await fetch(`${address}/${cars.tenant}${cars.path('/accept')}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ acceptor: { type: 'user', id: `u${user}` }, requestToken }),
      dispatcher: agent,
    });
    await response.arrayBuffer();
    return response.status;
  };
  const statuses = await Promise.all(tokens.map(accept));
  const tally = Map.groupBy(statuses, (status) => status);
  expect(Object.fromEntries([...tally].map(([status, list]) => [status, list.length]))).toEqual({
    200: 1,
    409: ACCEPTS - 1,
  });
  const winner = `u${statuses.indexOf(200)}`;
  expect((await cars.backend('GET', '/resources/car/1/relationships?limit=200')).body).toEqual([
    { relationshipType: 'drives', from: { type: 'user', id: winner } },
  ]);
  expect((await cars.backend('GET', cars.path(`/${invitationId}`))).body).toMatchObject({
    status: 'accepted',
    uses: 1,
  });
});
