/** Appending: in the caller's transaction, in groups, whatever a field holds; and what a server may not do to the ledger. */
import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { sql } from '../../server/core/db/sql.ts';
import { createEncrypter } from '../../server/core/encrypter.ts';
import { limits } from '../../server/core/limits.ts';
import { personalDigest } from '../../server/ledger/digest.ts';
import { appendEntries, eraseIn, Ledger } from '../../server/ledger/index.ts';
import { asAdmin, holdTable } from '../helpers/admin.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { masterKey } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { entry, T0 } from './chain.ts';

const { database, adminUrl } = await createTestDatabase();
const pseudonymizer = createEncrypter(masterKey);
const ledger = new Ledger(database, pseudonymizer);
const tenantCode = () => `t${randomUUID().slice(0, 8)}`;

type Row = Record<string, string | Buffer | Date | null>;
const inboxOf = (tenant: string) =>
  asAdmin<Row>(adminUrl, 'select * from accord.ledger_inbox where tenant = $1 order by time, id', [tenant]);

describe('appending', () => {
  test('writes every field, the personal ones under a salt of their own', async () => {
    const tenant = tenantCode();
    const document = { version: '1.2', language: 'de' };
    const full = entry({
      type: 'registered',
      name: 'terms',
      version: '1',
      document,
      contentDigest: 'sha256:ab',
      clientId: 'shop',
      requestId: 'r1',
    });
    await ledger.append(tenant, [full, entry({ requestId: 'r2', time: T0 + 1 })]);
    const [one, two] = (await inboxOf(tenant)) as [Row, Row];
    expect(one).toMatchObject({
      ...{ type: 'registered', time: new Date(T0), name: 'terms', version: '1', document_version: '1.2' },
      ...{
        document_language: 'de',
        content_digest: 'sha256:ab',
        outcome: 'given',
        request_id: 'r1',
        client_id: 'shop',
      },
      ...{ actor_type: 'user', actor_id: 'alice', user_id: 'alice' },
    });
    expect((one.personal_digest as Buffer).toString('hex')).toBe(
      personalDigest((one.salt as Buffer).toString('hex'), full),
    );
    expect(two.personal_digest).not.toEqual(one.personal_digest);
    expect(two.salt).not.toEqual(one.salt);
  });

  test('in a transaction is part of it', async () => {
    const tenant = tenantCode();
    await database.tenant(tenant, (tx) => appendEntries(pseudonymizer, tx, tenant, [entry(), entry()]));
    const failing = database.tenant(tenant, async (tx) => {
      await appendEntries(pseudonymizer, tx, tenant, [entry()]);
      throw new Error('undone');
    });
    await expect(failing).rejects.toThrow('undone');
    expect(await inboxOf(tenant)).toHaveLength(2);
  });

  test('nothing is nothing, and resolves', async () => {
    const tenant = tenantCode();
    await ledger.append(tenant, []);
    await database.tenant(tenant, (tx) => appendEntries(pseudonymizer, tx, tenant, []));
    expect(await inboxOf(tenant)).toEqual([]);
  });

  test('of many tenants at once is one transaction, and each resolves when it is committed', async () => {
    const tenants = Array.from({ length: 40 }, tenantCode);
    const seen = await Promise.all(
      tenants.map(async (tenant) => {
        await ledger.append(tenant, [entry(), entry()]);
        return (await inboxOf(tenant)).length;
      }),
    );
    expect(seen).toEqual(tenants.map(() => 2));
    const transactions = await asAdmin<{ n: number }>(
      adminUrl,
      'select count(distinct xmin::text)::int as n from accord.ledger_inbox where tenant = any ($1)',
      [tenants],
    );
    expect(transactions).toEqual([{ n: 1 }]);
  });

  test('a group has at most ledgerGroupEntriesMax entries, an append as many as it likes', async () => {
    const tenant = tenantCode();
    const many = (count: number) => Array.from({ length: count }, () => entry());
    const half = limits.ledgerGroupEntriesMax / 2;
    await Promise.all([
      ledger.append(tenant, many(half)),
      ledger.append(tenant, many(half)), // at the limit with the one before
      ledger.append(tenant, many(1)), // one past it
      ledger.append(tenant, many(limits.ledgerGroupEntriesMax + 1)),
    ]);
    const groups = await asAdmin<{ n: number }>(
      adminUrl,
      'select count(*)::int as n from accord.ledger_inbox where tenant = $1 group by xmin::text::bigint order by xmin::text::bigint',
      [tenant],
    );
    expect(groups.map(({ n }) => n)).toEqual([2 * half, 1, limits.ledgerGroupEntriesMax + 1]);
  });

  test('that runs out of time rejects those who wait, too: nobody waits twice', async () => {
    const tenant = tenantCode();
    const brief = database.separate('brief', { poolMax: 1, systemStatementTimeoutMs: 500 });
    closeAtEnd(() => brief.close());
    const late = new Ledger(brief, pseudonymizer);
    await using held = await holdTable(adminUrl, 'accord.ledger_inbox');
    const first = late.append(tenant, [entry({ requestId: 'first' })]);
    first.catch(() => {});
    await until('the first group', async () => (await held.waiting()) === 1);
    const waits = late.append(tenant, [entry({ requestId: 'waits' })]).then(
      () => 'appended',
      ({ code }) => code,
    );
    await expect(first).rejects.toMatchObject({ code: '57014' });
    await held.letGo();
    expect(await waits).toBe('57014');
    await late.append(tenant, [entry({ requestId: 'later' })]);
    expect((await inboxOf(tenant)).map(({ request_id }) => request_id)).toEqual(['later']);
  });

  test('that fails rejects each of its group, and the next group goes on', async () => {
    const tenant = tenantCode();
    const bad = entry({ type: 'unheard-of' as never });
    const first = ledger.append(tenant, [entry()]);
    await turn(); // it is being committed; what comes now gathers
    const settled = await Promise.allSettled([ledger.append(tenant, [bad]), ledger.append(tenant, [entry()])]);
    await first;
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await ledger.append(tenant, [entry()]);
    expect(await inboxOf(tenant)).toHaveLength(2);
    await expect(ledger.append(tenant, [entry({ time: Number.NaN })])).rejects.toThrow(RangeError);
  });

  test('what no text column holds, and what is longer than ledgerTextBytesMax, is recorded as far as it goes', async () => {
    const tenant = tenantCode();
    const max = limits.ledgerTextBytesMax;
    await ledger.append(tenant, [
      entry({ name: 'a\0b\ud800c', time: T0 }),
      entry({ name: 'x'.repeat(max), time: T0 + 1 }),
      entry({ name: 'x'.repeat(max + 1), time: T0 + 2 }),
      entry({ name: `${'x'.repeat(max - 1)}é`, time: T0 + 3 }),
      entry({ userId: '\u{1f600}'.repeat(max), actor: { type: 'user', id: '\u{1f600}'.repeat(max) }, time: T0 + 4 }),
    ]);
    const rows = await inboxOf(tenant);
    expect(rows.map(({ name }) => name)).toEqual([
      'a\ufffdb\ufffdc',
      'x'.repeat(max),
      'x'.repeat(max),
      'x'.repeat(max - 1),
      null,
    ]);
    const last = rows.at(-1) as Row;
    expect(last.user_id).toBe('\u{1f600}'.repeat(max / 4));
    const personal = { actor: { type: 'user', id: last.user_id as string }, userId: last.user_id as string };
    expect((last.personal_digest as Buffer).toString('hex')).toBe(
      personalDigest((last.salt as Buffer).toString('hex'), personal),
    );
  });
});

describe('erasing', () => {
  test('wipes what a user did and what is about the user, of one tenant', async () => {
    const [tenant, other] = [tenantCode(), tenantCode()];
    const alice = { type: 'user', id: 'alice' };
    const bob = { type: 'user', id: 'bob' };
    const entries = [
      entry({ time: T0 }),
      entry({ time: T0 + 1, actor: bob, userId: 'bob' }),
      entry({ time: T0 + 2, actor: bob, userId: 'alice' }),
      entry({ time: T0 + 3, actor: alice, userId: 'bob' }),
    ];
    await ledger.append(tenant, entries);
    await ledger.append(other, entries);
    const before = await inboxOf(tenant);
    expect(await database.tenant(tenant, (tx) => eraseIn(tx, tenant, { type: 'user', id: 'alice' }))).toBe(3);
    const after = await inboxOf(tenant);
    expect(after[1]).toEqual(before[1]);
    for (const at of [0, 2, 3]) {
      const wiped = { salt: null, actor_type: null, actor_id: null, user_id: null };
      expect(after[at]).toEqual({ ...before[at], ...wiped });
    }
    expect((await inboxOf(other)).every(({ salt }) => salt !== null)).toBe(true);
  });
});

describe('what requests run as', () => {
  const refused = /permission denied/;
  test.each([
    ['removes no entry', sql`delete from accord.ledger_inbox`],
    ['removes no sealed entry', sql`delete from accord.ledger_entry`],
    ['removes no checkpoint', sql`delete from accord.ledger_checkpoint`],
    ['changes no entry', sql`update accord.ledger_inbox set outcome = 'x'`],
    ['changes no digest', sql`update accord.ledger_entry set personal_digest = personal_digest`],
    ['changes no sequence', sql`update accord.ledger_entry set sequence = 1`],
    ['changes no checkpoint', sql`update accord.ledger_checkpoint set signed = ''`],
    ['seals nothing', sql`insert into accord.ledger_entry select * from accord.ledger_entry`],
    ['does not reach a partition', sql`select from accord.ledger_entry_rest`],
  ])('%s', async (_what, statement) => {
    await expect(database.tenant('one', (tx) => tx.run(statement))).rejects.toThrow(refused);
  });
});
