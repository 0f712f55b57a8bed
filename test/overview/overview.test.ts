/** C/overview: what happens in a tenant, and what needs somebody. */
import { beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { invitingTenant } from '../invitations/inviting.ts';
import { membersOf } from '../members/roles.ts';

const server = await createTestServer();
const cars = await invitingTenant(server);
const { tenant } = cars;
const members = await membersOf(server, tenant);
const admin = members['security-admin'];
const run = (text: string, values: unknown[] = []) => asAdmin(server.db.adminUrl, text, [tenant, ...values]);
const overview = async (by = admin, query = '') => (await by('GET', `/overview${query}`)).body;

beforeAll(async () => {
  await cars.relate('user/alice', 'drives', 'car/1');
  const { requestToken } = await cars.invite();
  await cars.accept(cars.backend, 'bob', requestToken);
  await server.services.events.mover.move();
  await run(
    `insert into accord.decision (tenant, at, caller, request, answer, revision, duration_us)
     select $1, now(), 'client:backend', '{}', case when n <= 3 then '{"outcome":"deny","reason":"no key"}' else '{"outcome":"allow"}' end::jsonb,
       1, 5 from generate_series(1, 4) n`,
  );
  await run(
    `insert into accord.delivery_attempt (tenant, subscription, sequence, number, ms, status, kind)
     select $1, 'hook', n, 1, 5, case when n = 1 then 500 else 200 end, 'l' from generate_series(1, 3) n`,
  );
});

describe('what happens', () => {
  test('is counted by the hour, and hours without anything are there', async () => {
    const { series, denies, stepMs, since } = await overview();
    expect([stepMs, series.decisions.length]).toEqual([3_600_000, 24]);
    expect(series.decisions[0]).toEqual({ at: since, allow: 0, deny: 0, other: 0 });
    const sum = (name: string, member: string) =>
      series[name].reduce((all: number, one: Record<string, number>) => all + (one[member] as number), 0);
    expect([sum('invitations', 'created'), sum('invitations', 'accepted')]).toEqual([1, 1]);
    expect(sum('relationships', 'created')).toBe(2);
    expect([sum('deliveries', 'delivered'), sum('deliveries', 'failed')]).toEqual([2, 1]);
    expect(denies).toEqual({ decisions: 4, reasons: [{ reason: 'no key', count: 3 }] });
  });

  test('says how many decisions it looked at where none was denied', async () => {
    const other = (await invitingTenant(server)).tenant;
    await asAdmin(
      server.db.adminUrl,
      `insert into accord.decision (tenant, at, caller, request, answer, revision, duration_us)
       select $1, now(), 'c', '{}', '{"outcome":"allow"}', 1, 5 from generate_series(1, 2)`,
      [other],
    );
    const call = await membersOf(server, other);
    expect((await overview(call['security-admin'])).denies).toEqual({ decisions: 2, reasons: [] });
  });

  test('decisions by their outcomes, where they are logged', async () => {
    const insert = `insert into accord.event_inbox (tenant, time, type, key, body)
      select $1, now(), 'DECISION', 'decisions', jsonb_build_object('outcome', o) from unnest(array['allow', 'deny', 'deny', 'maybe']) o`;
    await run(insert);
    await server.services.events.mover.move();
    await run(insert);
    await server.services.events.mover.move();
    const last = (await overview()).series.decisions.at(-1);
    expect(last).toMatchObject({ allow: 2, deny: 4, other: 2 });
    expect((await overview()).decisionLog).toBe('off');
  });

  test.each([
    [limits.overviewHoursMax, 200],
    [limits.overviewHoursMax + 1, 400],
    [0, 400],
  ])('of %d hours: %d', async (hours, status) => {
    const answer = await admin('GET', `/overview?hours=${hours}`);
    expect(answer.status).toBe(status);
    if (status === 200) expect(answer.body.series.consents.length).toBe(hours);
  });

  test('looks at so many decisions and deliveries, and says since when', async () => {
    const other = await server.tenant();
    const fill = (count: number) =>
      asAdmin(
        server.db.adminUrl,
        `with d as (insert into accord.decision (tenant, at, caller, request, answer, revision, duration_us)
            select $1, now() - n * interval '1 millisecond', 'c', '{}', '{"outcome":"deny","reason":"x"}', 1, 5 from generate_series(1, $2::int) n)
         insert into accord.delivery_attempt (tenant, subscription, sequence, number, ms, status, kind, at)
           select $1, 'hook', n, 1, 5, 200, 'l', now() - n * interval '1 millisecond' from generate_series(1, $2::int) n`,
        [other, count],
      );
    const call = await membersOf(server, other);
    await fill(limits.overviewRecordsMax - 1);
    const before = await overview(call['security-admin']);
    expect([before.denies.since, before.deliveriesSince]).toEqual([undefined, undefined]);
    await fill(2);
    const behind = await overview(call['security-admin']);
    expect(behind.denies).toMatchObject({ decisions: limits.overviewRecordsMax, since: expect.any(String) });
    expect(behind.deliveriesSince).toEqual(expect.any(String));
  });
});

describe('what needs somebody', () => {
  beforeAll(async () => {
    const resource = (name: string, conditions: object[]) =>
      run(
        `insert into accord.resource (source, kind, name, uid, tenant, object, generation, spec_digest, status)
         values ('files', 'Policy', $2, $2, $1, 'car:' || $2, 1, 'd', $3)`,
        [name, JSON.stringify({ conditions })],
      );
    const since = '2026-11-25T10:00:00Z';
    await resource('broken', [
      { type: 'Accepted', status: 'False', reason: 'DoesNotCompile', lastTransitionTime: since },
    ]);
    await resource('held', [
      { type: 'Ready', status: 'True' },
      { type: 'DeletionHeld', status: 'True', reason: 'MassDeletion' },
    ]);
    await resource('well', [{ type: 'Accepted', status: 'True' }]);
    await run(
      `insert into accord.event_lane (tenant, subscription, cursor, disabled_at, disabled_reason) values ($1, 'hook', 0, now(), 'failing')`,
    );
    await run(
      `insert into accord.consent_invitation (tenant, user_id, definition, version, invited_at, grace_ends)
       select $1, 'u' || n, 'terms', '1', now(), now() + n * interval '1 day' from generate_series(1, 20) n`,
    );
    await cars.invite();
    await run(
      `update accord.invitation set created_at = now() - interval '4 days' where tenant = $1 and status = 'pending'`,
    );
  });

  test('names what, how many, since when, and where', async () => {
    const { attention } = await overview();
    expect(attention).toEqual([
      {
        ...{ kind: 'manifest_failed', count: 1, subject: 'Policy broken', reason: 'DoesNotCompile' },
        ...{ since: '2026-11-25T10:00:00Z', target: 'policies/car%3Abroken' },
      },
      {
        kind: 'deletion_held',
        count: 1,
        subject: 'Policy held',
        reason: 'MassDeletion',
        target: 'policies/car%3Aheld',
      },
      expect.objectContaining({ kind: 'subscription_disabled', subject: 'hook', reason: 'failing' }),
      expect.objectContaining({ kind: 'grace_ending', count: 14, subject: 'terms 1', target: 'consents/terms' }),
      expect.objectContaining({ kind: 'invitations_unanswered', count: 1 }),
    ]);
  });

  test('of each kind at most so many', async () => {
    await run(
      `insert into accord.event_lane (tenant, subscription, cursor, disabled_at) select $1, 'more' || n, 0, now() from generate_series(1, $2::int) n`,
      [limits.overviewItemsMax],
    );
    const { attention } = await overview();
    const disabled = attention.filter((one: { kind: string }) => one.kind === 'subscription_disabled');
    expect(disabled.length).toBe(limits.overviewItemsMax);
    await run(`delete from accord.event_lane where tenant = $1 and subscription like 'more%'`);
  });

  test('a viewer sees the configuration only, support no reasons, and nobody else comes in', async () => {
    const viewed = await overview(members['config-viewer']);
    expect([viewed.series, viewed.denies]).toEqual([undefined, undefined]);
    expect(viewed.attention.map((one: { kind: string }) => one.kind)).toEqual([
      ...['manifest_failed', 'deletion_held', 'subscription_disabled'],
    ]);
    const supported = await overview(members.support);
    expect([supported.denies, typeof supported.series]).toEqual([undefined, 'object']);
    await members.refuses('GET', '/overview', ['security-admin', 'config-editor', 'config-viewer', 'support']);
  });
});
