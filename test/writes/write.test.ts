/** The write unit on a real Postgres: all or nothing, retried, each Idempotency-Key once, events after the commit. */
import { randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import type { Caller } from '../../server/core/auth/schema.ts';
import { authorOf } from '../../server/core/author.ts';
import type { Transaction } from '../../server/core/db/database.ts';
import { sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { begin } from '../../server/idempotency/actions.ts';
import { EventHints, eventData, eventType } from '../../server/room/events.ts';
import { readTenant } from '../../server/tenants/index.ts';
import { type RecordUnit, write } from '../../server/writes/index.ts';
import { pauseMs } from '../../server/writes/retry.ts';
import { asAdmin } from '../helpers/admin.ts';
import { EmittedEvents } from '../helpers/emitted.ts';
import { createTestServer, manifestWriter } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { entry } from '../ledger/chain.ts';

const server = await createTestServer();
const { database } = server.services;
const events = new EmittedEvents(server.db);
const services = { database, clock: server.services.clock, pseudonymizer: server.services.encrypter };
const by = { actor: 'client:test', requestId: 'r1' };
const records = { locks: 'records' } as const;
const configuration = { locks: 'configuration' } as const;

const Member = Type.Object({ email: Type.String() });
const addMember = (tx: Transaction, tenant: string, email: string) =>
  tx.run(sql`insert into accord.member (tenant, email, role) values (${tenant}, ${email}, 'support')`);
const membersOf = async (tenant: string) =>
  (
    await database.read(tenant, (tx) =>
      tx.many(Member, sql`select email from accord.member where tenant = ${tenant} order by email`),
    )
  ).map(({ email }) => email);
const touchMember = (tx: Transaction, tenant: string, email: string) =>
  tx.run(sql`update accord.member set role = 'support' where tenant = ${tenant} and email = ${email}`);
/** What Postgres answers to a transaction that another one was in the way of. */
const failSerialization = (tx: Transaction) =>
  tx.run(sql`do $$ begin raise exception 'could not serialize' using errcode = '40001'; end $$`);

/** How much a tenant's writes have left behind. */
async function traces(tenant: string) {
  const counts = ['audit_entry', 'ledger_inbox', 'config_change', 'idempotency_key'].map(async (table) => {
    const [row] = await asAdmin<{ n: number }>(
      server.db.adminUrl,
      `select count(*)::int as n from accord.${table} where tenant = $1`,
      [tenant],
    );
    return [table, row?.n];
  });
  const row = await database.read(tenant, (tx) => readTenant(tx, tenant));
  return { ...Object.fromEntries(await Promise.all(counts)), revision: row?.revision };
}

const emitted = async () =>
  (await events.take()).map(({ type }) => type).filter((type) => type !== 'CONFIGURATION_CHANGED');
const noteDeleted = eventType('NOTE_DELETED', {
  ...{ when: 'A note was deleted.', operations: [], data: eventData({ name: Type.String() }) },
  ...{ example: { requestor: 'client:test', name: 'p' }, keyOf: ({ name }) => `note/${name}` },
});
const deleted = { requestor: by.actor, name: 'p' };

describe('all or nothing', () => {
  test('a write of records leaves its rows, audit, ledger and events', async () => {
    const tenant = await server.tenant();
    const before = await traces(tenant);
    const { result, revision } = await write(services, { tenant, by }, records, async (unit) => {
      await addMember(unit.tx, tenant, 'a@x');
      unit.audit({ action: 'create', kind: 'member', name: 'a' });
      unit.appendToLedger([entry(), entry()]);
      unit.emit(noteDeleted, deleted);
      return 'done';
    });
    expect(result).toBe('done');
    expect(revision).toMatch(/^r\d+$/);
    expect(await membersOf(tenant)).toEqual(['a@x']);
    const { audit_entry, ledger_inbox } = before as Record<string, number>;
    const more = { audit_entry: (audit_entry as number) + 1, ledger_inbox: (ledger_inbox as number) + 2 };
    expect(await traces(tenant)).toEqual({ ...before, ...more });
    expect(await emitted()).toEqual(['NOTE_DELETED']);
  });

  test('a write of records that fails leaves nothing', async () => {
    const tenant = await server.tenant();
    const before = await traces(tenant);
    const failing = write(services, { tenant, by }, records, async (unit) => {
      await addMember(unit.tx, tenant, 'a@x');
      unit.audit({ action: 'create', kind: 'member', name: 'a' });
      unit.appendToLedger([entry()]);
      unit.emit(noteDeleted, deleted);
      throw new Error('undone');
    });
    await expect(failing).rejects.toThrow('undone');
    expect(await membersOf(tenant)).toEqual([]);
    expect(await traces(tenant)).toEqual(before);
    expect(await emitted()).toEqual([]);
  });

  test('what cannot be recorded undoes the rows', async () => {
    const tenant = await server.tenant();
    const failing = write(services, { tenant, by }, records, async (unit) => {
      await addMember(unit.tx, tenant, 'a@x');
      unit.audit({ action: 'create', kind: 'member', name: 'nul \0 byte' });
      unit.emit(noteDeleted, deleted);
    });
    await expect(failing).rejects.toThrow(/invalid byte sequence/);
    expect(await membersOf(tenant)).toEqual([]);
    expect(await emitted()).toEqual([]);
  });

  test('a write of configuration that fails makes no revision; one that changes nothing leaves no trace', async () => {
    const tenant = await server.tenant();
    const author = authorOf(tenant, manifestWriter);
    const before = await traces(tenant);
    const failing = write(services, author, configuration, async (unit) => {
      unit.changed('policy', 'p', 'delete');
      unit.emit(noteDeleted, deleted);
      throw new Error('undone');
    });
    await expect(failing).rejects.toThrow('undone');
    const unchanged = await write(services, author, configuration, async () => 'same');
    expect(unchanged).toEqual({ result: 'same', revision: before.revision, changed: false });
    expect(await traces(tenant)).toEqual(before);
    expect(await emitted()).toEqual([]);
    const changed = await write(services, author, configuration, async (unit) => {
      unit.changed('policy', 'p', 'delete');
      return unit.revision;
    });
    const next = (before.revision as number) + 1;
    expect(changed).toEqual({ result: next, revision: next, changed: true });
    expect((await traces(tenant)).revision).toBe(next);
  });

  test('configuration of a tenant that is not there is not written', async () => {
    const writing = write(services, authorOf('nowhere', manifestWriter), configuration, async () => {});
    await expect(writing).rejects.toMatchObject({ code: 'tenant_not_found' });
  });

  test('an author without a name audits nothing, by its type', async () => {
    const tenant = await server.tenant();
    await write(services, { tenant }, records, async (unit: RecordUnit) => {
      // @ts-expect-error: only the unit of an author that the audit names has audit
      expect(unit.audit).toBeDefined();
    });
  });
});

describe('events', () => {
  test('are seen only after the commit', async () => {
    const tenant = await server.tenant();
    let hints = 0;
    const eventHints = new EventHints();
    eventHints.onCommitted(() => hints++);
    await write({ ...services, eventHints }, { tenant, by }, records, async (unit) => {
      unit.emit(noteDeleted, deleted);
      await addMember(unit.tx, tenant, 'a@x');
      expect(hints).toBe(0);
      expect(await emitted()).toEqual([]);
    });
    expect(hints).toBe(1);
    expect(await emitted()).toEqual(['NOTE_DELETED']);
    expect(await membersOf(tenant)).toEqual(['a@x']);
  });

  test('carry the instant of their write', async () => {
    const tenant = await server.tenant();
    const { result: now } = await write(services, { tenant, by }, records, async (unit) => {
      unit.emit(noteDeleted, deleted);
      await until('the clock to go on', () => services.clock.now() > unit.now);
      return unit.now;
    });
    expect((await events.take()).filter(({ type }) => type === 'NOTE_DELETED')).toEqual([
      { type: 'NOTE_DELETED', tenant, time: now, key: 'note/p', data: deleted },
    ]);
  });
});

describe('a conflict', () => {
  test('of two writers that deadlock is resolved by trying again, and nothing is recorded twice', async () => {
    const tenant = await server.tenant();
    await write(services, { tenant }, records, async ({ tx }) => {
      for (const email of ['a@x', 'b@x']) await addMember(tx, tenant, email);
    });
    const before = await traces(tenant);
    let attempts = 0;
    const holding = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const writer = (own: 0 | 1, first: string, second: string) =>
      write(services, { tenant, by }, records, async (unit) => {
        attempts++;
        unit.audit({ action: 'put', kind: 'member', name: first });
        unit.appendToLedger([entry()]);
        unit.emit(noteDeleted, deleted);
        await touchMember(unit.tx, tenant, first);
        holding[own]?.resolve();
        await holding[1 - own]?.promise;
        await touchMember(unit.tx, tenant, second);
      });
    await Promise.all([writer(0, 'a@x', 'b@x'), writer(1, 'b@x', 'a@x')]);
    expect(attempts).toBe(3);
    const { audit_entry, ledger_inbox } = before as Record<string, number>;
    const more = { audit_entry: (audit_entry as number) + 2, ledger_inbox: (ledger_inbox as number) + 2 };
    expect(await traces(tenant)).toEqual({ ...before, ...more });
    expect(await emitted()).toEqual(['NOTE_DELETED', 'NOTE_DELETED']);
  });

  /** Writes configuration that fails so often. @returns how often it was tried, and what came of it */
  async function failing(times: number) {
    const tenant = await server.tenant();
    const before = (await traces(tenant)).revision as number;
    let attempts = 0;
    const error = await write(services, authorOf(tenant, manifestWriter), configuration, async (unit) => {
      attempts++;
      unit.changed('policy', 'p', 'put');
      unit.emit(noteDeleted, deleted);
      if (attempts <= times) await failSerialization(unit.tx);
    }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return {
      attempts,
      error,
      revisions: ((await traces(tenant)).revision as number) - before,
      events: await emitted(),
    };
  }

  test('is retried writeAttemptsMax - 1 times, and not once more', async () => {
    const most = limits.writeAttemptsMax;
    const done = { attempts: most, error: undefined, revisions: 1, events: ['NOTE_DELETED'] };
    expect(await failing(most - 1)).toEqual(done);
    const given = { attempts: most, error: expect.objectContaining({ code: '40001' }), revisions: 0, events: [] };
    expect(await failing(most)).toEqual(given);
  });

  test('is seen behind a later statement that the work waited for first', async () => {
    const tenant = await server.tenant();
    let attempts = 0;
    await write(services, { tenant }, records, async ({ tx }) => {
      if (attempts++ > 0) return;
      failSerialization(tx).catch(() => {});
      await touchMember(tx, tenant, 'a@x');
    });
    expect(attempts).toBe(2);
  });

  test('is waited out for at most writeRetryMsMax, by chance less', () => {
    expect([pauseMs(1, 1), pauseMs(1, 0.5), pauseMs(30, 1)]).toEqual([20, 10, limits.writeRetryMsMax]);
  });

  test('is no other error: that is thrown at once', async () => {
    const tenant = await server.tenant();
    let attempts = 0;
    const failed = write(services, { tenant }, records, async ({ tx }) => {
      attempts++;
      await tx.run(sql`select 1 / 0`);
    });
    await expect(failed).rejects.toThrow(/division by zero/);
    expect(attempts).toBe(1);
  });
});

describe('an Idempotency-Key', () => {
  const keyOf = async (tenant: string, key: string) => {
    const caller: Caller = { kind: 'backend', tenant, clientId: 'c', scopes: new Set(), issuer: 'i' };
    const begun = await begin(server.services.idempotency, { caller, route: 'POST /x', key, target: 'x' });
    if (!('idempotency' in begun)) throw new Error('answered before');
    return begun.idempotency;
  };

  test('is claimed once by a write that is retried', async () => {
    const tenant = await server.tenant();
    const key = randomUUID();
    let attempts = 0;
    await write(services, { tenant, idempotency: await keyOf(tenant, key) }, records, async ({ tx }) => {
      if (attempts++ === 0) await failSerialization(tx);
      await addMember(tx, tenant, 'a@x');
    });
    expect([attempts, (await traces(tenant)).idempotency_key]).toEqual([2, 1]);
    await expect(keyOf(tenant, key)).rejects.toMatchObject({ code: 'idempotency_key_in_use' });
  });

  test('lets one of two writes happen, of records and of configuration', async () => {
    const tenant = await server.tenant();
    const key = randomUUID();
    const [one, other] = [await keyOf(tenant, key), await keyOf(tenant, key)];
    await write(services, { tenant, idempotency: one }, records, ({ tx }) => addMember(tx, tenant, 'a@x'));
    const again = write(services, { tenant, idempotency: other }, records, ({ tx }) => addMember(tx, tenant, 'b@x'));
    await expect(again).rejects.toMatchObject({ code: 'idempotency_key_in_use' });
    const config = { ...authorOf(tenant, manifestWriter), idempotency: other };
    const third = write(services, config, configuration, async (unit) => unit.changed('policy', 'p', 'put'));
    await expect(third).rejects.toMatchObject({ code: 'idempotency_key_in_use' });
    expect(await membersOf(tenant)).toEqual(['a@x']);
  });

  test('of a write that fails is free again', async () => {
    const tenant = await server.tenant();
    const idempotency = await keyOf(tenant, 'k');
    const failed = write(services, { tenant, idempotency }, records, async () => {
      throw new Error('undone');
    });
    await expect(failed).rejects.toThrow('undone');
    expect((await traces(tenant)).idempotency_key).toBe(0);
    await write(services, { tenant, idempotency }, records, async () => {});
    expect((await traces(tenant)).idempotency_key).toBe(1);
  });
});
