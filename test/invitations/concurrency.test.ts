/** Exactly once: many accepts in flight over real connections, of one invitation and of its last uses. */
import { createConnection } from 'node:net';
import pg from 'pg';
import { Agent, fetch } from 'undici';
import { afterAll, expect, test } from 'vitest';
import { eraseTenant } from '../../server/tenants/index.ts';
import { asAdmin, waitingForLock } from '../helpers/admin.ts';
import { drawn } from '../helpers/long.ts';
import { createTestServer, manifestWriter } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { body, invitingTenant } from './inviting.ts';

const FLYING = drawn(200, 500);
const CONNECTIONS = 20;
const server = await createTestServer({ ACCORD_DATABASE_POOL: '20' });
const cars = await invitingTenant(server);
const address = await server.app.listen({ port: 0, host: '127.0.0.1' });
const agent = new Agent({ connections: CONNECTIONS, pipelining: 1 });
afterAll(() => agent.close());

async function accept(id: string, requestToken: string, token: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${address}/${cars.tenant}/sharing/invitations/accept`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ acceptor: { type: 'user', id }, requestToken }),
    dispatcher: agent,
  });
  return { status: response.status, text: await response.text() };
}

const tally = (answers: { status: number }[]) =>
  Object.fromEntries([...Map.groupBy(answers, (one) => one.status)].map(([status, list]) => [status, list.length]));
const drivers = async (relationshipType: string, car: string) => {
  const { body } = await cars.backend('GET', `/resources/car/${car}/relationships?limit=200`);
  return body.filter((one: { relationshipType: string }) => one.relationshipType === relationshipType);
};
const users = async (n: number) =>
  Promise.all(Array.from({ length: n }, async (_, i) => [`u${i}`, await server.user(cars.tenant, `u${i}`)] as const));
const behind = (text: string, values: unknown[]) => asAdmin<{ n: number }>(server.db.adminUrl, text, values);
const audited = async (action: string, id: string) => {
  const mine = `action = $1 and object_kind = 'invitation' and object_name = $2`;
  return (await behind(`select count(*)::int as n from accord.audit_entry where ${mine}`, [action, id]))[0]?.n;
};

test(`${FLYING} accepts by as many users: one wins, the others are 409`, async () => {
  const { requestToken, invitationId } = await cars.invite({ to: { type: 'car', id: 'one' } });
  const answers = await Promise.all((await users(FLYING)).map(([id, token]) => accept(id, requestToken, token)));
  expect(tally(answers)).toEqual({ 200: 1, 409: FLYING - 1 });
  expect(await drivers('drives', 'one')).toHaveLength(1);
  expect(await audited('accept', invitationId)).toBe(1);
});

test('the same acceptor many times: the same 200 each time, made once', async () => {
  const { requestToken, invitationId } = await cars.invite({ to: { type: 'car', id: 'same' } });
  const token = await server.user(cars.tenant, 'bob');
  const answers = await Promise.all(Array.from({ length: 200 }, () => accept('bob', requestToken, token)));
  expect(tally(answers)).toEqual({ 200: 200 });
  expect(new Set(answers.map((one) => one.text)).size).toBe(1);
  expect(await drivers('drives', 'same')).toHaveLength(1);
  expect(await audited('accept', invitationId)).toBe(1);
});

test('exactly maxUses win, each acceptor once though all ask twice', async () => {
  const { requestToken, invitationId } = await cars.invite({
    ...{ relationshipType: 'cleans', maxUses: 37, to: { type: 'car', id: 'many' } },
  });
  const all = await users(FLYING / 2);
  const answers = await Promise.all(
    [...all, ...all].map(async ([id, token]) => ({ id, ...(await accept(id, requestToken, token)) })),
  );
  const winners = new Set(answers.filter((one) => one.status === 200).map((one) => one.id));
  expect(winners.size).toBe(37);
  // Who won was told so both times.
  expect(tally(answers)).toEqual({ 200: 74, 409: FLYING - 74 });
  expect(await drivers('cleans', 'many')).toHaveLength(37);
  expect((await cars.backend('GET', cars.path(`/${invitationId}`))).body).toMatchObject({
    status: 'accepted',
    uses: 37,
  });
  expect(await audited('accept', invitationId)).toBe(37);
});

test('maxPerTarget holds over several invitations at once, and who finds no place uses nothing up', async () => {
  const invitations = await Promise.all(
    Array.from({ length: 4 }, () =>
      cars.invite({ relationshipType: 'holds_seat_of', to: { type: 'car', id: 'small' } }),
    ),
  );
  const all = await users(80);
  const answers = await Promise.all(
    all.map(([id, token], i) => accept(id, invitations[i % 4]?.requestToken as string, token)),
  );
  expect(tally(answers)).toEqual({ 200: 2, 409: 78 });
  expect(
    answers.filter((one) => one.status === 409).every((one) => one.text.includes('relationship_limit_reached')),
  ).toBe(true);
  const uses = await Promise.all(
    invitations.map(async (one) => (await cars.backend('GET', cars.path(`/${one.invitationId}`))).body.uses),
  );
  expect(uses.reduce((sum, n) => sum + n)).toBe(2);
});

test('an accept against a revocation, a decline and a new token: one of both, never both', async () => {
  const token = await server.user(cars.tenant, 'bob');
  const bob = await cars.user('bob');
  for (let i = 0; i < 30; i++) {
    const car = `race${i}`;
    const { requestToken, invitationId } = await cars.invite({ to: { type: 'car', id: car } });
    const against = [
      () => cars.backend('DELETE', cars.path(`/${invitationId}`)),
      () => bob('POST', cars.path('/decline'), { body: { requestToken } }),
      () => cars.backend('DELETE', `/resources/car/${car}`),
    ][i % 3] as () => Promise<{ status: number }>;
    const [accepted, ended] = await Promise.all([accept('bob', requestToken, token), against()]);
    const { body } = await cars.backend('GET', cars.path(`/${invitationId}`));
    const made = (await drivers('drives', car)).length;
    if (i % 3 === 2) {
      // Forgetting the car ends the invitation, or removes what was accepted just before.
      expect(made).toBe(0);
      expect(ended.status).toBe(204);
      expect([200, 410]).toContain(accepted.status);
    } else {
      expect([accepted.status === 200, ended.status < 300]).toEqual([
        body.status === 'accepted',
        body.status !== 'accepted',
      ]);
      expect(made).toBe(body.status === 'accepted' ? 1 : 0);
    }
  }
});

test('erasing the tenant waits for an invitation that is being made, and takes it along', async () => {
  const own = await invitingTenant(server);
  await own.invite(); // its key is there
  const gate = new pg.Client({ connectionString: server.db.adminUrl });
  await gate.connect();
  const waiting = (n: number) => until(`${n} who wait`, async () => (await waitingForLock(server.db.adminUrl)) >= n);
  // The one that is being made stops after it has taken hold of its type.
  await gate.query('begin; lock table accord.invitation in share mode');
  const making = own.backend('POST', own.path(), { body: body() });
  await waiting(1);
  const erasing = eraseTenant(server.services.tenants, manifestWriter, own.tenant);
  await waiting(2);
  await gate.query('commit');
  await gate.end();
  expect((await making).status).toBe(200);
  await erasing;
  expect(await behind('select 1 from accord.invitation where tenant = $1', [own.tenant])).toEqual([]);
});

test('a client that hangs up in the middle leaves nothing half done', async () => {
  const { requestToken, invitationId } = await cars.invite({ to: { type: 'car', id: 'gone' } });
  const token = await server.user(cars.tenant, 'bob');
  const payload = JSON.stringify({ acceptor: { type: 'user', id: 'bob' }, requestToken });
  const { port } = new URL(address);
  await new Promise<void>((resolve) => {
    const socket = createConnection(Number(port), '127.0.0.1', () => {
      socket.write(
        `POST /${cars.tenant}/sharing/invitations/accept HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(payload)}\r\n\r\n${payload}`,
        () => socket.destroy(),
      );
    });
    socket.on('close', () => resolve());
  });
  const again = await accept('bob', requestToken, token);
  expect(again.status).toBe(200);
  expect(await drivers('drives', 'gone')).toHaveLength(1);
  expect((await cars.backend('GET', cars.path(`/${invitationId}`))).body).toMatchObject({
    status: 'accepted',
    uses: 1,
  });
});
