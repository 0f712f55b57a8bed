/** What a GET of an invitation says of its mail: that it waits, was sent, or why it failed. */
import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { createTestServer } from '../helpers/server.ts';
import { sendAll } from '../mail/sending-all.ts';
import { caFile, createSmtpServer } from '../mail/smtp.ts';
import { body, invitingTenant, WallClock } from './inviting.ts';

const smtp = await createSmtpServer();
const clock = new WallClock();
const server = await createTestServer(
  {
    ACCORD_SMTP_URL: `smtp://localhost:${smtp.port}`,
    ACCORD_MAIL_FROM: 'no-reply@accord.example',
    ACCORD_CA_BUNDLE: caFile,
  },
  undefined,
  clock,
);
const cars = await invitingTenant(server);
const deliveriesOf = async (id: string) => (await cars.backend('GET', cars.path(`/${id}`))).body.deliveries;
const invite = (value: string, car: string) =>
  cars.backend('POST', cars.path(), {
    body: body({ to: { type: 'car', id: car }, invitee: { contact: { type: 'email', value } }, delivery: 'mail' }),
  });

test('it waits, was sent, or failed with a reason, each mail for itself', async () => {
  const { invitationId: sent } = (await invite('bob@example.org', 'a')).body;
  const { invitationId: refused } = (await invite('unknown@example.org', 'b')).body;
  const recordedAt = new Date(clock.now()).toISOString();
  expect(await deliveriesOf(sent)).toEqual([{ kind: 'mail', status: 'recorded', recordedAt }]);
  await sendAll(server);
  expect(await deliveriesOf(sent)).toEqual([{ kind: 'mail', status: 'sent', recordedAt }]);
  expect(await deliveriesOf(refused)).toEqual([{ kind: 'mail', status: 'failed', reason: 'refused', recordedAt }]);
  clock.advance(120_000);
  expect((await cars.backend('POST', cars.path(`/${sent}/resend`))).status).toBe(200);
  expect((await deliveriesOf(sent)).map(({ status }: { status: string }) => status)).toEqual(['sent', 'recorded']);
});

test('it is there for as long as the invitation is open', async () => {
  const invitation = { enabled: true, ttl: 'P30D' };
  await cars.config('PUT', '/relationship-types/user:rents:car', { body: { invitation } });
  const made = await cars.backend('POST', cars.path(), {
    body: body({ relationshipType: 'rents', to: { type: 'car', id: 'c' }, delivery: 'mail' }),
  });
  expect(made.status).toBe(200);
  await sendAll(server);
  clock.advance(limits.mailTtlMs * 3);
  const sweep = server.services.rooms
    .flatMap((room) => room.tasks?.(server.services.use(room)) ?? [])
    .find(({ name }) => name === 'mail sweep');
  await sweep?.run(new AbortController().signal);
  const later = await cars.scoped('pg:tenant:admin');
  const { deliveries } = (await later('GET', cars.path(`/${made.body.invitationId}`))).body;
  expect(deliveries).toMatchObject([{ status: 'sent' }]);
});
