/** C/people/…/timeline read to its end: no row is lost or doubled, and an answer says where the bound leaves rows out. */
import { beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { mailRecipientDigest } from '../../server/mail/index.ts';
import type { Place, TimelineKind } from '../../server/people/schema.ts';
import { readTimeline } from '../../server/people/store.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { invitingTenant } from '../invitations/inviting.ts';
import { membersOf } from '../members/roles.ts';

const server = await createTestServer();
const cars = await invitingTenant(server);
const { tenant } = cars;
const admin = (await membersOf(server, tenant))['security-admin'];
const most = limits.personRecordsMax;
const run = (text: string, values: unknown[] = []) => asAdmin(server.db.adminUrl, text, [tenant, ...values]);
const truncated = [{ kind: 'relationship', recordsMax: most }];

/** Cars of which the first by id is the last in the table: an index and the table have other rows first. */
const relate = (id: string, count: number) =>
  run(
    `insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id, created_at)
     select $1, 'user', $2, 'drives', 'car', to_char(n, 'FM00000'), now() - n * 7 % 1000 * interval '1 ms'
     from generate_series($3::int, 1, -1) n`,
    [id, count],
  );

type Item = { id: string; kind: string; to?: { id: string } };
type Answer = { items: Item[]; cursor?: string; truncated?: unknown };

async function* pagesOf(id: string, kinds: string): AsyncGenerator<Answer> {
  let cursor = '';
  do {
    const { status, body } = await admin('GET', `/people/user/${id}/timeline?kinds=${kinds}&limit=200${cursor}`);
    expect([status, body]).toEqual([200, body]);
    yield body;
    cursor = body.cursor === undefined ? '' : `&cursor=${body.cursor}`;
  } while (cursor !== '');
}

async function read(id: string, kinds: string, between?: (page: number) => Promise<unknown>) {
  const items: Item[] = [];
  const said: unknown[] = [];
  for await (const page of pagesOf(id, kinds)) {
    items.push(...page.items);
    said.push(page.truncated);
    await between?.(said.length);
  }
  return { items, said, ids: new Set(items.map((one) => one.id)) };
}

describe('the bound of relationships', () => {
  test('is not reached: all are answered, and nothing is said', async () => {
    await relate('full', most);
    const { items, ids, said } = await read('full', 'relationship');
    expect([items.length, ids.size, said]).toEqual([most, most, said.map(() => undefined)]);
    expect((await admin('GET', '/people/user/full')).body.truncated).toBeUndefined();
  });

  test('is reached: each page says so, those that show relationships', async () => {
    await relate('more', most + 1);
    const { items, ids, said } = await read('more', 'relationship,audit');
    expect([items.length, ids.size, said]).toEqual([most, most, said.map(() => truncated)]);
    expect((await read('more', 'invitation,audit')).said).toEqual([undefined]);
    expect((await admin('GET', '/people/user/more')).body.truncated).toEqual(truncated);
  });

  test('is one of each direction', async () => {
    await relate('both', most);
    await run(
      `insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id)
       select $1, 'user', 'w' || n, 'cares_for', 'user', 'both' from generate_series(1, $2::int) n`,
      [most],
    );
    const whole = await read('both', 'relationship');
    expect([whole.ids.size, whole.said[0]]).toEqual([2 * most, undefined]);
    await run(`insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id)
       values ($1, 'user', 'x', 'cares_for', 'user', 'both')`);
    const cut = await read('both', 'relationship');
    expect([cut.ids.size, cut.said[0]]).toEqual([2 * most, truncated]);
  });
});

describe('read to its end', () => {
  test('it has the same relationships, whatever plan Postgres takes for each page', async () => {
    await relate('plans', 2 * most);
    const limit = 200;
    const person = { type: 'user', id: 'plans', isUser: true, recipients: [], key: 'k' };
    const kinds = new Set<TimelineKind>(['relationship']);
    const plans = [sql`set local enable_seqscan = off`, sql`set local enable_indexscan = off`];
    const seen: string[] = [];
    let before: Place | undefined;
    for (let page = 0; page < 12; page++) {
      const rows = await server.services.database.tenantSnapshot(tenant, async (tx) => {
        await tx.run(sql`set local enable_bitmapscan = off`);
        await tx.run(plans[page % 2] as (typeof plans)[0]);
        return readTimeline(tx, tenant, person, { kinds, limit, ...(before && { before }) });
      });
      seen.push(...rows.map(({ data }) => (data.to as { id: string }).id));
      const last = rows.at(-1);
      if (last === undefined) break;
      before = { at: last.at, id: last.id, asOf: '2999-01-01T00:00:00.000000Z' };
    }
    expect(seen.toSorted()).toEqual(Array.from({ length: most }, (_, n) => `${n + 1}`.padStart(5, '0')));
  });

  test('it has them when all rows are written anew between pages', async () => {
    await relate('moved', most + 1);
    const { ids, items } = await read('moved', 'relationship', () =>
      run(
        `update accord.relationship set expires_at = null where tenant = $1 and from_id = 'moved' and random() < 0.5`,
      ),
    );
    expect([items.length, ids.size]).toEqual([most, most]);
    expect(items.some(({ to }) => to?.id === `${most + 1}`.padStart(5, '0'))).toBe(false);
  });

  test('it has all that were there, when some are added that come first by name', async () => {
    await relate('grows', most);
    const { items, ids, said } = await read('grows', 'relationship', (page) =>
      run(
        `insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id)
         values ($1, 'user', 'grows', 'drives', 'car', '0' || $2::text)`,
        [`${page}`],
      ),
    );
    expect([items.length, ids.size, said]).toEqual([most, most, said.map(() => undefined)]);
  });
});

describe('what has an order of time has no bound', () => {
  const more = most + 5;
  const account = '0199f2f0-7f5e-7c3a-9a53-5f4b1e0c2d11';

  beforeAll(async () => {
    await run(
      `insert into accord.account (tenant, id, email, email_verified, created_at, updated_at)
       values ($1, $2, 'anna@example.com', true, now(), now())`,
      [account],
    );
    await cars.relate(`user/${account}`, 'drives', 'car/1');
    const { invitationId } = await cars.invite();
    await run(
      `insert into accord.mail_message (tenant, id, template, transactional, recipient_digest, recipient_mask, status, next_at, created_at,
         expires_at, settled_at, kept_until)
       select $1, gen_random_uuid(), 'consent-renewal', true, $2, 'a***@example.com', 'sent', now(), now() - n % 9 * interval '1 s', now(),
         now(), now() + interval '1 day' from generate_series(1, $3::int) n`,
      [mailRecipientDigest(server.services.encrypter, tenant, 'anna@example.com'), more],
    );
    const row = `jsonb_build_object('id', gen_random_uuid(), 'token_id', gen_random_uuid(), 'invitor_id', $3::text,
      'created_at', now() - n % 9 * interval '1 s')`;
    await run(
      `insert into accord.invitation select (jsonb_populate_record(i, ${row})).* from accord.invitation i, generate_series(1, $4::int) n
         where i.tenant = $1 and i.id = $2`,
      [invitationId, account, more],
    );
    await run(
      `insert into accord.invitation_use (tenant, invitation, acceptor_type, acceptor_id, accepted_at)
       select tenant, id, 'user', 'many', created_at from accord.invitation where tenant = $1 and invitor_id = $2`,
      [account],
    );
  });

  test.each([
    ['mail', account],
    ['invitation', account],
    ['invitation', 'many'],
  ])('%s of %s', async (kind, id) => {
    const { items, ids, said } = await read(id, kind);
    expect([items.length, ids.size, said]).toEqual([more, more, said.map(() => undefined)]);
  });
});
