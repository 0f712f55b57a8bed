/** Sealing and verifying: what a superuser of the database does to a sealed ledger, and what verifying says of it. */
import { decodeProtectedHeader } from 'jose';
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { chained, genesis, leafOf } from '../../server/ledger/digest.ts';
import { eraseIn, sealing as sealingTask, sealWaiting, verifyLedger } from '../../server/ledger/index.ts';
import type { HashedRow } from '../../server/ledger/schema.ts';
import { sealTenant } from '../../server/ledger/seal.ts';
import { runTasks } from '../../server/room/tasks.ts';
import { eraseTenant, putTenant } from '../../server/tenants/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer, manifestWriter, tenantSpec } from '../helpers/server.ts';
import { untilPasses } from '../helpers/wait.ts';
import { entriesOf, entry, type Row, sealed, T0 } from './chain.ts';

const server = await createTestServer();
const { database, ledger: sealing } = server.services;
const { ledger } = sealing;
const admin = <Row extends object>(text: string, values: unknown[] = []) =>
  asAdmin<Row>(server.db.adminUrl, text, values);
const verify = (tenant: string, earlier?: string) =>
  verifyLedger({ database }, tenant, earlier === undefined ? {} : { earlier });
const update = (tenant: string, sequence: number, set: string) =>
  admin(`update accord.ledger_entry set ${set} where tenant = $1 and sequence = $2`, [tenant, sequence]);
const remove = (tenant: string, from: number, to = from) =>
  admin('delete from accord.ledger_entry where tenant = $1 and sequence between $2 and $3', [tenant, from, to]);
const idOf = async (tenant: string, sequence: number) => (await entriesOf(server, tenant))[sequence - 1]?.id;

/** Seals of 3, 4 and 2 entries: 1 to 3, 4 to 7, 8 and 9. */
async function ledgerOf9() {
  const tenant = await server.tenant();
  await sealed(server, tenant, [3, 4, 2]);
  return tenant;
}

/** Entry `number` is copied to be of the number `at`, without any regard to hashes. */
const copyTo = (tenant: string, number: number, at: number) =>
  admin(
    `insert into accord.ledger_entry select (jsonb_populate_record(e, jsonb_build_object('id', uuidv7(), 'sequence', $3::bigint))).*
     from accord.ledger_entry e where tenant = $1 and sequence = $2`,
    [tenant, number, at],
  );
const shift = (tenant: string, from: number, by: number) =>
  admin('update accord.ledger_entry set sequence = sequence + $3 where tenant = $1 and sequence >= $2', [
    tenant,
    from,
    by,
  ]);

describe('sealing', () => {
  test('numbers entries without gaps, across seals, and signs a checkpoint for each seal', async () => {
    const tenant = await ledgerOf9();
    const rows = await entriesOf(server, tenant);
    expect(rows.map(({ sequence, name }) => [Number(sequence), name])).toEqual(
      Array.from({ length: 9 }, (_, i) => [i + 1, `n${i + 1}`]),
    );
    const checkpoints = await admin<{ first: string; last: string; signed: string; hash: Buffer }>(
      'select * from accord.ledger_checkpoint where tenant = $1 order by last',
      [tenant],
    );
    expect(checkpoints.map(({ first, last }) => [Number(first), Number(last)])).toEqual([
      [1, 3],
      [4, 7],
      [8, 9],
    ]);
    expect(checkpoints.map(({ hash }) => hash)).toEqual([rows[2]?.hash, rows[6]?.hash, rows[8]?.hash]);
    const logged = server.observations.filter((one) => one.kind === 'ledger_sealed' && one.tenant === tenant);
    expect(logged).toEqual(
      checkpoints.map(({ signed }, i) => ({
        kind: 'ledger_sealed',
        tenant,
        entries: [3, 4, 2][i],
        checkpoint: signed,
      })),
    );
    expect(decodeProtectedHeader(checkpoints[0]?.signed as string)).toEqual({
      alg: 'ES256',
      typ: 'accord-checkpoint',
      kid: expect.any(String),
    });
    expect(await verify(tenant)).toEqual({ valid: true, entries: 9, checkpoint: checkpoints[2]?.signed });
    expect(await admin('select from accord.ledger_inbox where tenant = $1', [tenant])).toEqual([]);
  });

  test('by many servers at once seals each entry once', async () => {
    const tenant = await server.tenant();
    const waves = Array.from({ length: 20 }, async (_, i) => {
      await ledger.append(tenant, [entry({ time: T0 + i }), entry({ time: T0 + i })]);
      await Promise.all([sealTenant(sealing, tenant), sealTenant(sealing, tenant), sealTenant(sealing, tenant)]);
    });
    await Promise.all(waves);
    await sealWaiting(sealing);
    expect(await verify(tenant)).toMatchObject({ valid: true, entries: 40 });
  });

  test('takes at most ledgerSealEntriesMax entries into a seal, and all of them in the end', async () => {
    const tenant = await server.tenant();
    const most = limits.ledgerSealEntriesMax;
    // More than a page of ledgerVerifyPageItemsMax, in full seals and one entry more.
    const count = Math.ceil(limits.ledgerVerifyPageItemsMax / most) * most + 1;
    await ledger.append(
      tenant,
      Array.from({ length: count }, (_, i) => entry({ time: T0 + i })),
    );
    await sealWaiting(sealing);
    const seals = await admin<{ n: string }>(
      'select last - first + 1 as n from accord.ledger_checkpoint where tenant = $1 order by last',
      [tenant],
    );
    expect(seals.map(({ n }) => Number(n))).toEqual([...Array((count - 1) / most).fill(most), 1]);
    expect(await verify(tenant)).toMatchObject({ valid: true, entries: count });
    await update(tenant, limits.ledgerVerifyPageItemsMax, "outcome = 'x'");
    expect((await verify(tenant)).firstBad).toMatchObject({ sequence: limits.ledgerVerifyPageItemsMax });
  });

  test('ends when the server stops, and goes on when it is started again', async () => {
    const tenant = await server.tenant();
    await ledger.append(tenant, [entry({ time: T0 })]);
    await sealWaiting(sealing, AbortSignal.abort());
    const waiting = () => admin('select from accord.ledger_inbox where tenant = $1', [tenant]);
    expect(await waiting()).toHaveLength(1);
    await sealWaiting(sealing);
    expect(await waiting()).toEqual([]);
  });

  test('goes by slices of ledgerSealSliceEntriesMax, of which the last may fail: then nothing of the seal is there', async () => {
    const tenant = await server.tenant();
    const count = 2 * limits.ledgerSealSliceEntriesMax + 1;
    await ledger.append(
      tenant,
      Array.from({ length: count }, (_, i) => entry({ time: T0 + i })),
    );
    // One of the last slice's is in the way of itself.
    const copied = 'id, time, type, outcome, request_id, personal_digest';
    await admin(
      `insert into accord.ledger_entry (tenant, ${copied}, sequence, hash) select tenant, ${copied}, 1, personal_digest
       from accord.ledger_inbox where tenant = $1 order by time desc limit 1`,
      [tenant],
    );
    await expect(sealTenant(sealing, tenant)).rejects.toThrow(/ledger_entry_rest_pkey/);
    const waiting = await admin('select from accord.ledger_inbox where tenant = $1', [tenant]);
    const moved = await admin('select from accord.ledger_entry where tenant = $1', [tenant]);
    expect([waiting.length, moved.length]).toEqual([count, 1]);
    await remove(tenant, 1);
    expect(await sealTenant(sealing, tenant)).toBe(count);
    expect(await verify(tenant)).toMatchObject({ valid: true, entries: count });
  });

  test('goes on by itself until it is stopped', async () => {
    const tenant = await server.tenant();
    const stop = runTasks([sealingTask(sealing)], () => {});
    for (const entries of [1, 2]) {
      await ledger.append(tenant, [entry({ time: T0 + entries })]);
      await untilPasses('the entry', async () => expect(await verify(tenant)).toMatchObject({ valid: true, entries }));
    }
    await stop();
    await ledger.append(tenant, [entry()]);
    expect(await verify(tenant)).toMatchObject({ entries: 2 });
    await sealWaiting(sealing);
    expect(await verify(tenant)).toMatchObject({ entries: 3 });
  });

  test('of a tenant that cannot be sealed leaves the others to be sealed', async () => {
    const [good, bad] = [await server.tenant(), await server.tenant()];
    for (const tenant of [good, bad]) await ledger.append(tenant, [entry()]);
    await admin(
      `insert into accord.signing_key (tenant, kid, purpose, algorithm, public_jwk, private_key)
       values ($1, 'k', 'checkpoint', 'ES256', '{}', 'not sealed by us')`,
      [bad],
    );
    expect(await sealWaiting(sealing)).toBe(false);
    expect(await verify(good)).toMatchObject({ valid: true, entries: 1 });
    expect(await verify(bad)).toEqual({ valid: true, entries: 0 });
    expect(server.observations).toContainEqual({
      kind: 'background_failed',
      task: `sealing the ledger of ${bad}`,
      error: expect.any(Error),
    });
    await admin('delete from accord.signing_key where tenant = $1 and kid = $2', [bad, 'k']);
    expect(await sealWaiting(sealing)).toBe(true);
    expect(await verify(bad)).toMatchObject({ valid: true, entries: 1 });
  });
});

describe('verifying finds', () => {
  // First of the chain, inside a seal, last of a seal, first of a seal, last of the chain.
  const places = [1, 2, 3, 4, 9];

  test.each(places)('a changed entry: %i', async (at) => {
    const tenant = await ledgerOf9();
    await update(tenant, at, "outcome = 'refused'");
    const id = await idOf(tenant, at);
    expect(await verify(tenant)).toMatchObject({
      valid: false,
      entries: at - 1,
      firstBad: { sequence: at, id, problem: 'changed' },
    });
  });

  test.each(['user_id', 'actor_id', 'salt', 'actor_type'])('a changed personal field: %s', async (field) => {
    const tenant = await ledgerOf9();
    const id = await idOf(tenant, 5);
    const changed = { valid: false, entries: 4, firstBad: { sequence: 5, id, problem: 'changed' } };
    await update(tenant, 5, field === 'salt' ? "salt = '0123456789abcdef'" : `${field} = 'mallory'`);
    expect(await verify(tenant)).toMatchObject(changed);
    await update(tenant, 5, `${field} = null`); // not all of them: no erasure
    expect(await verify(tenant)).toMatchObject(changed);
  });

  test.each(places)('a missing entry: %i', async (at) => {
    const tenant = await ledgerOf9();
    await remove(tenant, at);
    const problem = at === 9 ? 'cut' : 'missing';
    expect(await verify(tenant)).toMatchObject({ valid: false, entries: at - 1, firstBad: { sequence: at, problem } });
  });

  test.each([1, 2, 3, 4, 8])('a missing entry, the later ones renumbered: %i', async (at) => {
    const tenant = await ledgerOf9();
    await remove(tenant, at);
    await shift(tenant, at + 1, -1);
    const { firstBad } = await verify(tenant);
    expect(firstBad).toMatchObject({ sequence: at, problem: 'missing' });
  });

  test.each([
    [9, 9],
    [8, 9],
    [7, 9],
    [1, 9],
  ])('a chain that is cut, checkpoints left: %i to %i', async (from, to) => {
    const tenant = await ledgerOf9();
    await remove(tenant, from, to);
    expect(await verify(tenant)).toMatchObject({
      valid: false,
      entries: from - 1,
      firstBad: { sequence: from, problem: 'cut' },
    });
  });

  test.each([1, 2, 4, 9])('an inserted entry with the number of another: %i', async (at) => {
    const tenant = await ledgerOf9();
    await copyTo(tenant, 6, at);
    const { firstBad } = await verify(tenant);
    const [{ id } = { id: '' }] = await admin<{ id: string }>(
      'select id from accord.ledger_entry where tenant = $1 order by id desc limit 1',
      [tenant],
    );
    expect(firstBad).toEqual({ sequence: at, id, problem: 'inserted' });
  });

  test.each([1, 2, 4, 9])('an inserted entry, the later ones renumbered: %i', async (at) => {
    const tenant = await ledgerOf9();
    await shift(tenant, at, 1);
    await copyTo(tenant, at === 1 ? 5 : 1, at);
    expect(await verify(tenant)).toMatchObject({
      valid: false,
      entries: at - 1,
      firstBad: { sequence: at, id: await idOf(tenant, at), problem: 'inserted' },
    });
  });

  test('an entry added behind the last seal, with the right hash', async () => {
    const tenant = await ledgerOf9();
    await copyTo(tenant, 9, 10);
    const last = (await entriesOf(server, tenant)).at(-1) as Row;
    const hash = chained(last.hash.toString('hex'), leafOf(hashedOf(last)));
    await admin("update accord.ledger_entry set hash = decode($2, 'hex') where tenant = $1 and sequence = 10", [
      tenant,
      hash,
    ]);
    expect((await verify(tenant)).firstBad).toEqual({ sequence: 10, id: last.id, problem: 'unsigned' });
  });

  test.each([
    [1, 2],
    [3, 4],
    [2, 6],
    [8, 9],
  ])('reordered entries, with their hashes: %i and %i', async (one, other) => {
    const tenant = await ledgerOf9();
    await admin(
      `update accord.ledger_entry set sequence = case sequence when $2 then $3 else $2 end
       where tenant = $1 and sequence in ($2, $3)`,
      [tenant, one, other],
    );
    expect((await verify(tenant)).firstBad).toEqual({
      sequence: one,
      id: await idOf(tenant, one),
      problem: 'reordered',
    });
  });

  test.each([
    [1, 2],
    [3, 4],
    [8, 9],
  ])('reordered entries, the hashes left: %i and %i', async (one, other) => {
    const tenant = await ledgerOf9();
    await admin(
      `update accord.ledger_entry e set sequence = o.sequence, hash = o.hash from accord.ledger_entry o
       where e.tenant = $1 and o.tenant = $1 and e.sequence in ($2, $3) and o.sequence = $2 + $3 - e.sequence`,
      [tenant, one, other],
    );
    expect((await verify(tenant)).firstBad).toEqual({
      sequence: one,
      id: await idOf(tenant, one),
      problem: 'reordered',
    });
  });

  test('an entry that was moved to the end, leaving a gap', async () => {
    const tenant = await ledgerOf9();
    const id = await idOf(tenant, 4);
    await update(tenant, 4, 'sequence = 10');
    expect((await verify(tenant)).firstBad).toEqual({ sequence: 4, id, problem: 'reordered' });
  });
});

/** As the hashes are made from it. */
const hashedOf = (row: Row) =>
  ({
    ...row,
    time_ms: row.time.getTime(),
    personal_digest: row.personal_digest.toString('hex'),
  }) as unknown as HashedRow;

/** Computes the chain anew over what is stored now, as whoever has the code and the database can. */
async function rehash(tenant: string): Promise<void> {
  let hash = genesis(tenant);
  for (const row of await entriesOf(server, tenant)) {
    hash = chained(hash, leafOf(hashedOf(row)));
    await admin("update accord.ledger_entry set hash = decode($3, 'hex') where tenant = $1 and sequence = $2", [
      tenant,
      row.sequence,
      hash,
    ]);
  }
}
const rehashCheckpoints = (tenant: string) =>
  admin(
    `update accord.ledger_checkpoint c set hash = e.hash from accord.ledger_entry e
     where c.tenant = $1 and e.tenant = $1 and e.sequence = c.last`,
    [tenant],
  );
const signedOf = async (tenant: string) =>
  (
    await admin<{ signed: string }>('select signed from accord.ledger_checkpoint where tenant = $1 order by last', [
      tenant,
    ])
  ).map(({ signed }) => signed);

describe('an attacker who computes all hashes anew', () => {
  test('is caught by the checkpoint after the change', async () => {
    const tenant = await ledgerOf9();
    await update(tenant, 5, "outcome = 'refused'");
    await rehash(tenant);
    expect((await verify(tenant)).firstBad).toEqual({ sequence: 4, problem: 'rewritten' });
  });
  test('and those of the checkpoints, by their signatures', async () => {
    const tenant = await ledgerOf9();
    await update(tenant, 5, "outcome = 'refused'");
    await rehash(tenant);
    await rehashCheckpoints(tenant);
    expect((await verify(tenant)).firstBad).toEqual({ sequence: 4, problem: 'rewritten' });
  });
  test('and signs them with a key of another tenant', async () => {
    const [tenant, other] = [await ledgerOf9(), await ledgerOf9()];
    const theirs = await signedOf(other);
    await admin('update accord.ledger_checkpoint set signed = $2 where tenant = $1 and last = 9', [tenant, theirs[2]]);
    expect((await verify(tenant)).firstBad).toEqual({ sequence: 8, problem: 'unsigned' });
  });
  test('and removes the checkpoints that do not fit', async () => {
    const tenant = await ledgerOf9();
    await update(tenant, 5, "outcome = 'refused'");
    await rehash(tenant);
    await admin('delete from accord.ledger_checkpoint where tenant = $1 and last > 3', [tenant]);
    const id = await idOf(tenant, 4);
    expect((await verify(tenant)).firstBad).toEqual({ sequence: 4, id, problem: 'unsigned' });
  });
  test('and has the changed entries sealed again, by a checkpoint that was kept', async () => {
    const tenant = await ledgerOf9();
    const kept = (await signedOf(tenant))[2] as string;
    await admin('delete from accord.ledger_checkpoint where tenant = $1 and last > 3', [tenant]);
    await remove(tenant, 4, 9);
    await ledger.append(
      tenant,
      Array.from({ length: 6 }, (_, i) => entry({ time: T0 + i, outcome: 'refused' })),
    );
    await sealWaiting(sealing);
    expect(await verify(tenant)).toMatchObject({ valid: true, entries: 9 });
    expect((await verify(tenant, kept)).firstBad).toEqual({ sequence: 8, problem: 'rewritten' });
  });
});

describe('a checkpoint that was kept', () => {
  test('holds while the ledger grows', async () => {
    const tenant = await ledgerOf9();
    for (const kept of await signedOf(tenant)) expect(await verify(tenant, kept)).toMatchObject({ valid: true });
  });
  test('tells that the end is cut, checkpoints and all', async () => {
    const tenant = await ledgerOf9();
    const kept = (await signedOf(tenant))[2] as string;
    await remove(tenant, 8, 9);
    await admin('delete from accord.ledger_checkpoint where tenant = $1 and last = 9', [tenant]);
    expect(await verify(tenant)).toMatchObject({ valid: true, entries: 7 });
    expect(await verify(tenant, kept)).toMatchObject({
      valid: false,
      entries: 7,
      firstBad: { sequence: 8, problem: 'cut' },
    });
    await admin('delete from accord.ledger_entry where tenant = $1', [tenant]);
    await admin('delete from accord.ledger_checkpoint where tenant = $1', [tenant]);
    expect((await verify(tenant, kept)).firstBad).toEqual({ sequence: 1, problem: 'cut' });
  });
  test('of another tenant, or changed, or none at all, is refused', async () => {
    const [tenant, other] = [await ledgerOf9(), await ledgerOf9()];
    const [kept, theirs] = [(await signedOf(tenant))[0] as string, (await signedOf(other))[0] as string];
    const [header, , signature] = kept.split('.');
    const payload = Buffer.from(
      JSON.stringify({ tenant, first: 1, last: 3, hash: '0'.repeat(64), time: new Date(T0).toISOString() }),
    ).toString('base64url');
    const bad = [theirs, 'x', '', 'a.b.c', `${header}.${payload}.${signature}`, kept.replace('.', '..')];
    bad.push('x'.repeat(limits.ledgerCheckpointCharsMax), 'x'.repeat(limits.ledgerCheckpointCharsMax + 1));
    for (const one of bad) await expect(verify(tenant, one), one).rejects.toMatchObject({ code: 'checkpoint_invalid' });
  });
});

describe('erasing', () => {
  test('a user leaves a chain that verifies, and nothing that tells who it was', async () => {
    const tenant = await ledgerOf9();
    await ledger.append(tenant, [entry({ userId: 'user4' })]); // not sealed yet
    expect(await database.tenant(tenant, (tx) => eraseIn(tx, tenant, { type: 'user', id: 'user4' }))).toBe(2);
    await sealWaiting(sealing);
    expect(await verify(tenant)).toMatchObject({ valid: true, entries: 10 });
    const rows = await entriesOf(server, tenant);
    for (const row of [rows[3], rows[9]]) {
      expect(row).toMatchObject({ salt: null, actor_type: null, actor_id: null, user_id: null });
    }
    expect(rows.filter(({ salt }) => salt !== null)).toHaveLength(8);
  });
  test("while the user's entries are being sealed misses none", async () => {
    const tenant = await server.tenant();
    for (let i = 0; i < 10; i++) {
      await ledger.append(tenant, [entry({ time: T0 + i })]);
      await Promise.all([
        sealTenant(sealing, tenant),
        database.tenant(tenant, (tx) => eraseIn(tx, tenant, { type: 'user', id: 'alice' })),
        sealTenant(sealing, tenant),
      ]);
      const [left] = await admin<{ n: number }>(
        `select ((select count(*) from accord.ledger_inbox where tenant = $1 and user_id is not null)
          + (select count(*) from accord.ledger_entry where tenant = $1 and user_id is not null))::int as n`,
        [tenant],
      );
      expect(left).toEqual({ n: 0 });
    }
  });
  test('a tenant removes its ledger, and its checkpoints are of no ledger any more', async () => {
    const tenant = await ledgerOf9();
    const kept = (await signedOf(tenant))[2] as string;
    await ledger.append(tenant, [entry()]);
    await eraseTenant(server.services.tenants, manifestWriter, tenant);
    for (const table of ['ledger_inbox', 'ledger_entry', 'ledger_checkpoint']) {
      expect(await admin(`select from accord.${table} where tenant = $1`, [tenant]), table).toEqual([]);
    }
    await expect(verify(tenant, kept)).rejects.toMatchObject({ code: 'checkpoint_invalid' });
  });
  test('a tenant leaves nothing to a successor of its code, also when a server that has not noticed appends', async () => {
    const tenant = await server.tenant();
    await eraseTenant(server.services.tenants, manifestWriter, tenant);
    await ledger.append(tenant, [entry()]);
    expect(await sealWaiting(sealing)).toBe(true);
    await putTenant(server.services.tenants, manifestWriter, tenant, tenantSpec());
    expect(await sealWaiting(sealing)).toBe(true);
    for (const table of ['ledger_inbox', 'ledger_entry']) {
      expect(await admin(`select from accord.${table} where tenant = $1`, [tenant]), table).toEqual([]);
    }
  });
});
