/** Erasing a person from the events: what is replaced, and portions of at most so many rows. */
import { expect, test } from 'vitest';
import { erasedName } from '../../server/core/auth/claims.ts';
import { limits } from '../../server/core/limits.ts';
import { erasingEvents, withoutPerson } from '../../server/events/erasing.ts';
import { asAdmin } from '../helpers/admin.ts';
import { numbered } from '../helpers/emitted.ts';
import { createTestServer } from '../helpers/server.ts';

const person = {
  ...{ tenant: 't', type: 'user', id: 'alice', isUser: true, contacts: ['alice@example.com'] },
  replacement: 'erased:x',
};
const erased = (key: string, body: Record<string, unknown>) => withoutPerson({ n: 1, key, body }, person);

test('ids, callers, keys and addresses are replaced; attributes of the person go', () => {
  const alice = { type: 'user', id: 'alice' };
  expect(erased('user/alice', { requestor: 'user:user:alice', entity: alice, attributes: { city: 'Gent' } })).toEqual({
    ...{ n: 1, key: 'user/erased:x' },
    body: { requestor: 'user:user:erased:x', entity: { type: 'user', id: 'erased:x' }, attributes: {} },
  });
  expect(erased('consents/alice', { requestor: 'client:b', userId: 'alice' })).toEqual({
    ...{ n: 1, key: 'consents/erased:x', body: { requestor: 'client:b', userId: 'erased:x' } },
  });
  expect(erased('invitation/1', { invitee: { contact: { type: 'email', value: 'Alice@Example.com' } } })?.body).toEqual(
    {
      invitee: { contact: { type: 'email', value: 'erased:' } },
    },
  );
});

test('the names of refused tokens have no digest of the id any more', () => {
  const hash = erasedName('alice');
  for (const [before, after] of [
    [`subject:${hash}`, 'subject:erased:x'],
    [`grant:${hash} web`, 'grant:erased:x web'],
  ] as const) {
    const expected = { n: 1, key: `denied_token/${after}`, body: { kind: 'denied_token', name: after } };
    expect(erased(`denied_token/${before}`, { kind: 'denied_token', name: before })).toEqual(expected);
  }
  const other = `subject:${erasedName('bob')}`;
  expect(erased(`denied_token/${other}`, { name: other })).toBeUndefined();
});

test('what names somebody else stays as it is', () => {
  expect(
    erased('group/alice', { requestor: 'user:group:alice', entity: { type: 'group', id: 'alice' } }),
  ).toBeUndefined();
  expect(erased('user/alice2', { requestor: 'client:b', entity: { type: 'user', id: 'alice2' } })).toBeUndefined();
});

test('a portion has eventsErasedScanItemsMax rows; what waits for a number is erased first', async () => {
  const server = await createTestServer();
  const { database } = server.services;
  const tenant = await server.tenant();
  const most = limits.eventsErasedScanItemsMax;
  await numbered(server);
  const fill = (count: number) =>
    asAdmin(
      server.db.adminUrl,
      `insert into accord.event_inbox (tenant, time, type, key, body) select $1, now(), 'NOTE', 'user/alice', '{"userId": "alice"}'
        from generate_series(1, $2::int)`,
      [tenant, count],
    );
  await fill(most + 1);
  await numbered(server);
  await fill(1);
  const counts: (number | undefined)[] = [];
  let position: string | undefined;
  do {
    const { removed, next } = await database.tenant(tenant, (tx) =>
      erasingEvents.eraseSome(tx, { ...person, tenant }, position),
    );
    counts.push(removed.events);
    position = next;
  } while (position !== undefined);
  const before = await asAdmin<{ n: number }>(
    server.db.adminUrl,
    `select count(*)::int as n from accord.event where tenant = $1 and type <> 'NOTE'`,
    [tenant],
  );
  const others = before[0]?.n as number;
  expect(counts).toEqual([1, most - others, 1 + others]);
  const left = await asAdmin(
    server.db.adminUrl,
    `select from accord.event where body::text like '%alice%' or key like '%alice%'
      union all select from accord.event_inbox where body::text like '%alice%' or key like '%alice%'`,
  );
  expect(left).toEqual([]);
});
