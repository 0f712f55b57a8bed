/** A clock that jumps forward does not fail the mails that wait; it is logged, and believed when it stays. */
import { expect, test } from 'vitest';
import { utc } from '../../server/core/instants.ts';
import { limits } from '../../server/core/limits.ts';
import { ClockJumps } from '../../server/mail/clock-jump.ts';
import { sendMail } from '../../server/mail/index.ts';
import { readMessage } from '../../server/mail/store.ts';
import { write } from '../../server/writes/index.ts';
import { createTestServer } from '../helpers/server.ts';

const clock = {
  jumpedMs: 0,
  ms: Date.UTC(2026, 0, 15, 12),
  now: () => clock.ms + clock.jumpedMs,
  monotonic: () => clock.ms,
};
const server = await createTestServer({}, undefined, clock);
const { sender } = server.services.mail;

test('by clockJumpMsMin or more: mails are ended when the clock has said so for clockJumpHoldMs', async () => {
  const tenant = await server.tenant();
  const send = async () => {
    const { result } = await write(server.services.writes, { tenant }, { locks: 'records' }, (unit) =>
      sendMail(server.services.mail, unit, {
        ...{ template: 'account-exists', to: 'bob@example.org', expiresAt: utc(clock.now() + limits.clockJumpMsMin) },
        variables: { application: 'Car', actionUrl: 'https://accord.test/t' },
      }),
    );
    return async () => (await server.services.database.read(tenant, (tx) => readMessage(tx, tenant, result)))?.status;
  };
  const statusOf = await send();
  const logged = () =>
    server.observations.filter((one) => one.kind === 'background_failed' && String(one.error).includes('jumped'));
  await sender.expire();
  clock.jumpedMs = 2 * limits.clockJumpMsMin;
  await sender.expire();
  expect([await statusOf(), logged().length]).toEqual(['waiting', 1]);
  clock.jumpedMs = 0; // set right
  clock.ms += 1000;
  await sender.expire();
  expect(await statusOf()).toBe('waiting');
  clock.jumpedMs = 2 * limits.clockJumpMsMin;
  await sender.expire();
  clock.ms += limits.clockJumpHoldMs - 1;
  await sender.expire();
  expect(await statusOf()).toBe('waiting');
  clock.ms += 1;
  await sender.expire();
  expect(await statusOf()).toBe('failed');
});

test('by less than clockJumpMsMin, and in time that passed: mails are ended at their instant', async () => {
  const jumps = new ClockJumps(clock);
  jumps.look();
  clock.jumpedMs += limits.clockJumpMsMin - 1;
  expect(jumps.look()).toEqual({ isHeld: false });
  clock.ms += 10 * limits.clockJumpMsMin;
  expect(jumps.look()).toEqual({ isHeld: false });
  clock.jumpedMs += limits.clockJumpMsMin;
  expect(jumps.look()).toEqual({ isHeld: true, jumpedMs: limits.clockJumpMsMin });
});
