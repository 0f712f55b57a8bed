import { Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { sql } from '../core/db/sql.ts';
import type { Device } from '../http/device.ts';
import { LogInLinkRow, OwnSessionRow, SessionRow } from './schema.ts';

type NewSession = {
  id: Buffer;
  account: string;
  epoch: number;
  authenticatedAt: string;
  issuerSession: Buffer | null;
  device: Device;
  expiresAt: string;
  now: string;
};

/** Adds a session and forgets some that have expired. */
export async function insertSession(tx: Transaction, tenant: string, session: NewSession): Promise<void> {
  await tx.run(sql`delete from accord.page_session where ctid = any(array(
    select ctid from accord.page_session where tenant = ${tenant} and expires_at <= ${session.now}
    order by expires_at limit 100 for update skip locked))`);
  await tx.run(sql`insert into accord.page_session (tenant, id, account, epoch, authenticated_at, issuer_session, device,
      created_at, expires_at)
    values (${tenant}, ${session.id}, ${session.account}, ${session.epoch}, ${session.authenticatedAt},
      ${session.issuerSession}, ${JSON.stringify(session.device)}, ${session.now}, ${session.expiresAt})`);
}

export function readSession(tx: Transaction, tenant: string, id: Buffer, now: string): Promise<SessionRow | undefined> {
  return tx.maybe(
    SessionRow,
    sql`select account, epoch, authenticated_at, expires_at, issuer_session from accord.page_session
      where tenant = ${tenant} and id = ${id} and expires_at > ${now}`,
  );
}

export async function deleteSession(tx: Transaction, tenant: string, id: Buffer): Promise<void> {
  await tx.run(sql`delete from accord.page_session where tenant = ${tenant} and id = ${id}`);
}

type OfAccount = { account: string; epoch: number; now: string };

/** Those of an account that came from no log-in at the issuer, newest first. */
export function readOwnSessions(
  tx: Transaction,
  tenant: string,
  { account, epoch, now, limit }: OfAccount & { limit: number },
): Promise<OwnSessionRow[]> {
  return tx.many(
    OwnSessionRow,
    sql`select id, created_at, device from accord.page_session where tenant = ${tenant} and account = ${account}
      and epoch = ${epoch} and issuer_session is null and expires_at > ${now} order by created_at desc, id limit ${limit}`,
  );
}

/** Removes sessions of an account that came from no log-in at the issuer: one, or all but one. @returns how many */
export function deleteOwnSessions(
  tx: Transaction,
  tenant: string,
  account: string,
  which: { id: Buffer } | { except: Buffer },
): Promise<number> {
  const those = 'id' in which ? sql`id = ${which.id}` : sql`id <> ${which.except}`;
  return tx.run(sql`delete from accord.page_session
    where tenant = ${tenant} and account = ${account} and issuer_session is null and ${those}`);
}

/** Notes that somebody may be a member of the tenant `code` from now on. */
export async function insertMembership(tx: Transaction, tenant: string, account: string, code: string): Promise<void> {
  await tx.run(sql`insert into accord.portal_membership (tenant, account, code) values (${tenant}, ${account}, ${code})
    on conflict do nothing`);
}

const Code = Type.Object({ code: Type.String() });

/** At most `limit`, by their codes. */
export async function listMemberships(
  tx: Transaction,
  tenant: string,
  account: string,
  limit: number,
): Promise<string[]> {
  const rows = await tx.many(
    Code,
    sql`select code from accord.portal_membership where tenant = ${tenant} and account = ${account} order by code limit ${limit}`,
  );
  return rows.map(({ code }) => code);
}

type NewLogInLink = { code: string; email: string; tokenHash: Buffer; expiresAt: string };

/** Takes the place of the one that the tenant `code` has. */
export async function putLogInLink(
  tx: Transaction,
  tenant: string,
  { code, email, tokenHash, expiresAt }: NewLogInLink,
): Promise<void> {
  await tx.run(sql`insert into accord.portal_log_in_link (tenant, code, token_hash, email, expires_at)
    values (${tenant}, ${code}, ${tokenHash}, ${email}, ${expiresAt})
    on conflict (tenant, code) do update
      set token_hash = excluded.token_hash, email = excluded.email, expires_at = excluded.expires_at`);
}

/** Uses a link up; of many at once, one gets it. @returns undefined when there is none, or it has expired */
export function takeLogInLink(
  tx: Transaction,
  tenant: string,
  { code, tokenHash, now }: { code: string; tokenHash: Buffer; now: string },
): Promise<LogInLinkRow | undefined> {
  return tx.maybe(
    LogInLinkRow,
    sql`delete from accord.portal_log_in_link
      where tenant = ${tenant} and code = ${code} and token_hash = ${tokenHash} and expires_at > ${now} returning email`,
  );
}
