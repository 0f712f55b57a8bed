/** All SQL of the oidc room. `now`: RFC 3339. */
import { Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { removeDue } from '../core/db/due.ts';
import { none, type Sql, sql } from '../core/db/sql.ts';
import {
  ClientConsentRow,
  type Granted,
  ModelRow,
  OwnSessionRow,
  type RecordKey,
  RecordRow,
  SessionRow,
  type StoredRecord,
} from './schema.ts';

const columns = sql`id, payload, extract(epoch from consumed_at)::int as consumed`;

/** A crash may lose what was written: the browser begins again. */
export const withoutWaiting = (tx: Transaction): Promise<number> => tx.run(sql`set local synchronous_commit = off`);

export function readRecord(tx: Transaction, { tenant, model, id }: RecordKey, now: string) {
  return tx.maybe(
    RecordRow,
    sql`select ${columns} from accord.oidc_record
      where tenant = ${tenant} and model = ${model} and id = ${id} and expires_at > ${now}`,
  );
}

/** A record and the grant that it belongs to, in any order. */
export function readWithGrant(tx: Transaction, { tenant, model, id }: RecordKey, now: string) {
  return tx.many(
    ModelRow,
    sql`with found as (
        select model, ${columns}, grant_id from accord.oidc_record
        where tenant = ${tenant} and model = ${model} and id = ${id} and expires_at > ${now})
      select model, id, payload, consumed from found
      union all
      select g.model, g.id, g.payload, null from found f join accord.oidc_record g
        on g.tenant = ${tenant} and g.model = 'Grant' and g.id = f.grant_id and g.expires_at > ${now}`,
  );
}

export function readByUserCode(tx: Transaction, tenant: string, userCode: Buffer, now: string) {
  return tx.maybe(
    RecordRow,
    sql`select ${columns} from accord.oidc_record
      where tenant = ${tenant} and user_code = ${userCode} and expires_at > ${now}`,
  );
}

const sessionColumns = (now: string): Sql =>
  sql`id, payload, (consumed_at is null and ended_at is null and expires_at > ${now}) as live, (ended_at is not null) as ended`;

/** The session of an id and those of the same log-in, its siblings. */
export function readSessions(tx: Transaction, { tenant, id }: Omit<RecordKey, 'model'>, now: string) {
  return tx.many(
    SessionRow,
    sql`select ${sessionColumns(now)} from accord.oidc_record where tenant = ${tenant} and model = 'Session' and uid =
      (select uid from accord.oidc_record where tenant = ${tenant} and model = 'Session' and id = ${id})`,
  );
}

export function readSessionsByUid(tx: Transaction, tenant: string, uid: Buffer, now: string) {
  return tx.many(
    SessionRow,
    sql`select ${sessionColumns(now)} from accord.oidc_record where tenant = ${tenant} and model = 'Session' and uid = ${uid}`,
  );
}

/** The same, locked in the order of their ids. */
export function lockSessions(tx: Transaction, tenant: string, uid: Buffer, now: string) {
  return tx.many(
    SessionRow,
    sql`select ${sessionColumns(now)} from accord.oidc_record where tenant = ${tenant} and model = 'Session' and uid = ${uid}
      order by id for update`,
  );
}

/** What is read of an account. `now`: RFC 3339. */
type OfAccount = { account: string; now: string; limit: number };

/** Log-ins of an account, of which several records may be one; the newest expire last. */
export function readSessionsOfAccount(tx: Transaction, tenant: string, { account, now, limit }: OfAccount) {
  return tx.many(
    OwnSessionRow,
    sql`select id, payload, uid from accord.oidc_record where tenant = ${tenant} and account = ${account}
      and model = 'Session' and uid is not null and consumed_at is null and ended_at is null and expires_at > ${now}
      order by expires_at desc, id limit ${limit}`,
  );
}

/** Everything that a client has of an account, also log-ins under way. */
export async function removeOfAccountAndClient(
  tx: Transaction,
  tenant: string,
  { account, client }: { account: string; client: string },
): Promise<void> {
  await tx.run(sql`delete from accord.oidc_record
    where tenant = ${tenant} and account = ${account} and client = ${client}`);
}

const Live = Type.Object({ live: Type.Boolean() });

export async function isSessionLive(tx: Transaction, tenant: string, uid: Buffer, now: string): Promise<boolean> {
  const row = await tx.one(
    Live,
    sql`select exists (select from accord.oidc_record where tenant = ${tenant} and model = 'Session' and uid = ${uid}
      and consumed_at is null and ended_at is null and expires_at > ${now}) as live`,
  );
  return row.live;
}

/** Its cookie is worth nothing from here on, and the sessions that follow it are its siblings. */
export async function supersedeSession(tx: Transaction, { tenant, id }: Omit<RecordKey, 'model'>, now: string) {
  await tx.run(sql`update accord.oidc_record set consumed_at = ${now}
    where tenant = ${tenant} and model = 'Session' and id = ${id} and consumed_at is null`);
}

/** What remains until it expires says that it has ended: a request that is under way must not write it again. */
export async function endSessions(tx: Transaction, tenant: string, uid: Buffer, now: string, expiresAt: string) {
  await tx.run(sql`update accord.oidc_record set ended_at = ${now}, payload = '', account = null, expires_at = ${expiresAt}
    where tenant = ${tenant} and model = 'Session' and uid = ${uid}`);
}

const values = ({ tenant, model, id }: RecordKey, one: StoredRecord): Sql =>
  sql`(tenant, model, id, payload, grant_id, uid, user_code, account, client, expires_at)
    select ${tenant}, ${model}, ${id}::bytea, ${one.payload}::bytea, ${one.grantId}::bytea, ${one.uid}::bytea,
      ${one.userCode}::bytea, ${one.account}, ${one.client}, ${one.expiresAt}::timestamptz`;

export async function putRecord(tx: Transaction, key: RecordKey, one: StoredRecord): Promise<void> {
  await tx.run(sql`insert into accord.oidc_record ${values(key, one)}
    on conflict (tenant, model, id) do update set payload = excluded.payload, grant_id = excluded.grant_id,
      uid = excluded.uid, user_code = excluded.user_code, account = excluded.account, client = excluded.client,
      expires_at = excluded.expires_at`);
}

/** @returns whether there was none */
export async function insertRecord(tx: Transaction, key: RecordKey, one: StoredRecord): Promise<boolean> {
  return (await tx.run(sql`insert into accord.oidc_record ${values(key, one)} on conflict do nothing`)) > 0;
}

/** Puts a record in the place of another, which is consumed. @returns whether that was there, and not consumed */
export async function replaceRecord(
  tx: Transaction,
  { tenant, model, id }: RecordKey,
  { key, one }: { key: RecordKey; one: StoredRecord },
  now: string,
): Promise<boolean> {
  const inserted = await tx.run(sql`with consumed as (
      update accord.oidc_record set consumed_at = ${now}
      where tenant = ${tenant} and model = ${model} and id = ${id} and consumed_at is null returning 1)
    insert into accord.oidc_record ${values(key, one)} where exists (select from consumed)`);
  return inserted > 0;
}

/** @returns whether it was there, and not consumed */
export async function consumeRecord(tx: Transaction, { tenant, model, id }: RecordKey, now: string): Promise<boolean> {
  const consumed = await tx.run(sql`update accord.oidc_record set consumed_at = ${now}
    where tenant = ${tenant} and model = ${model} and id = ${id} and consumed_at is null`);
  return consumed > 0;
}

/** Everything of the grant that a record belongs to, and the grant: what anybody saves for it later is worth nothing. */
export async function removeFamily(tx: Transaction, { tenant, model, id }: RecordKey): Promise<void> {
  await tx.run(sql`
    with of_grant as (
      select grant_id from accord.oidc_record where tenant = ${tenant} and model = ${model} and id = ${id} and grant_id is not null)
    delete from accord.oidc_record r using of_grant g where r.tenant = ${tenant}
      and (r.grant_id = g.grant_id or (r.model = 'Grant' and r.id = g.grant_id))`);
}

export async function removeRecord(tx: Transaction, { tenant, model, id }: RecordKey): Promise<void> {
  await tx.run(sql`delete from accord.oidc_record where tenant = ${tenant} and model = ${model} and id = ${id}`);
}

export async function removeOfGrant(tx: Transaction, tenant: string, model: string, grantId: Buffer): Promise<void> {
  await tx.run(
    sql`delete from accord.oidc_record where tenant = ${tenant} and model = ${model} and grant_id = ${grantId}`,
  );
}

/**
 * Removes those of a model that one account has, and one client where they belong to one, but for the newest, and what belongs to those that go. What was
 * ended or superseded meanwhile is not counted.
 */
export async function removeOldest(
  tx: Transaction,
  { tenant, model }: RecordKey,
  { account, client }: StoredRecord,
  keep: number,
): Promise<void> {
  if (account === null) return;
  await tx.run(sql`
    with oldest as (
      select id from accord.oidc_record where tenant = ${tenant} and account = ${account} and model = ${model}
        and client is not distinct from ${client} and consumed_at is null and ended_at is null
      order by expires_at desc, id offset ${keep})
    delete from accord.oidc_record r using oldest o
    where r.tenant = ${tenant} and ((r.model = ${model} and r.id = o.id) or r.grant_id = o.id)`);
}

/** Removes consumed records of a grant, but for those that were consumed last. */
export async function removeConsumed(
  tx: Transaction,
  { tenant, model }: RecordKey,
  { grantId }: StoredRecord,
  keep: number,
): Promise<void> {
  await tx.run(sql`delete from accord.oidc_record where tenant = ${tenant} and model = ${model} and id in (
    select id from accord.oidc_record where tenant = ${tenant} and grant_id = ${grantId} and model = ${model}
      and consumed_at is not null order by consumed_at desc, id offset ${keep})`);
}

/**
 * Removes at most `limit` records of an account; how many. By their keys: a record that is written meanwhile moves (ctid), and stays
 * its account's.
 */
export function removeOfAccount(tx: Transaction, tenant: string, account: string, limit: number): Promise<number> {
  return tx.run(sql`delete from accord.oidc_record where tenant = ${tenant} and (model, id) in (
    select model, id from accord.oidc_record where tenant = ${tenant} and account = ${account} limit ${limit})`);
}

/** Removes at most `limit` expired records of all tenants, in a system transaction; how many. Servers share the work. */
export function removeExpired(tx: Transaction, now: string, limit: number): Promise<number> {
  return removeDue(tx, ['oidc_record', 'expires_at'], now, limit);
}

type ConsentKey = { account: string; clientId: string };
const locks = { share: sql`for share`, update: sql`for update` };

export function readClientConsent(
  tx: Transaction,
  tenant: string,
  { account, clientId }: ConsentKey,
  lock?: keyof typeof locks,
): Promise<ClientConsentRow | undefined> {
  return tx.maybe(
    ClientConsentRow,
    sql`select client_id, granted, created_at from accord.client_consent
      where tenant = ${tenant} and account = ${account} and client_id = ${clientId} ${lock === undefined ? none : locks[lock]}`,
  );
}

export async function putClientConsent(
  tx: Transaction,
  tenant: string,
  { account, clientId, granted, now }: ConsentKey & { granted: Granted; now: string },
): Promise<void> {
  await tx.run(sql`insert into accord.client_consent (tenant, account, client_id, granted, created_at, updated_at)
    values (${tenant}, ${account}, ${clientId}, ${JSON.stringify(granted)}, ${now}, ${now})
    on conflict (tenant, account, client_id) do update set granted = excluded.granted, updated_at = excluded.updated_at`);
}

/** By the ids of the clients. */
export function listClientConsentRows(tx: Transaction, tenant: string, account: string): Promise<ClientConsentRow[]> {
  return tx.many(
    ClientConsentRow,
    sql`select client_id, granted, created_at from accord.client_consent
      where tenant = ${tenant} and account = ${account} order by client_id`,
  );
}

/** @returns 0 when there was none */
export function deleteClientConsent(
  tx: Transaction,
  tenant: string,
  { account, clientId }: ConsentKey,
): Promise<number> {
  return tx.run(sql`delete from accord.client_consent
    where tenant = ${tenant} and account = ${account} and client_id = ${clientId}`);
}
