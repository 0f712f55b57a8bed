/**
 * Sessions of the portal, and of the pages of a tenant's persons: a random value in a cookie, of which the database has the SHA-256.
 * The value ends with a keyed digest of its beginning, so that one that somebody made up costs no query.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Account, type AccountServices, readAccount } from '../accounts/index.ts';
import { utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import type { Device } from '../http/device.ts';
import { isIssuerSessionLive, type OfAccountServices } from '../oidc/index.ts';
import { write } from '../writes/index.ts';
import { deleteOwnSessions, deleteSession, insertSession, readOwnSessions, readSession } from './store.ts';

export type Session = {
  /** What the cookie holds. */
  value: string;
  account: Account;
  /** ms */
  authenticatedAt: number;
  /** RFC 3339 */
  expiresAt: string;
  /** The log-in at the issuer that it came from, as the issuer stores it. */
  issuerSession?: Buffer;
};

/** What is known of a session when it begins. */
export type Origin = { issuerSession?: Buffer | undefined; device?: Device };

/** Of the value: 160 bits that nobody guesses, and 96 of their digest. */
const [RANDOM_BYTES, DIGEST_BYTES] = [20, 12];
const VALUE = /^[\w-]{43}$/;
const hashOf = (value: string) => createHash('sha256').update(value).digest();

type Keyed = Pick<AccountServices, 'encrypter'>;

function digestOf({ encrypter }: Keyed, tenant: string, random: Buffer): Buffer {
  return Buffer.from(encrypter.digest(random, ['page_session', tenant]), 'base64url').subarray(0, DIGEST_BYTES);
}

function newValue(keyed: Keyed, tenant: string): string {
  const random = randomBytes(RANDOM_BYTES);
  return Buffer.concat([random, digestOf(keyed, tenant, random)]).toString('base64url');
}

/** Whether we made a value for a session of the tenant; it may have ended. */
function isOurs(keyed: Keyed, tenant: string, value: string): boolean {
  if (!VALUE.test(value)) return false;
  const bytes = Buffer.from(value, 'base64url');
  return timingSafeEqual(bytes.subarray(RANDOM_BYTES), digestOf(keyed, tenant, bytes.subarray(0, RANDOM_BYTES)));
}

/** Begins a session. @param authenticatedAt ms, when the person proved who it is */
export async function beginSession(
  services: AccountServices,
  tenant: string,
  account: Pick<Account, 'id' | 'epoch'>,
  authenticatedAt: number,
  { issuerSession, device = {} }: Origin = {},
): Promise<string> {
  const value = newValue(services, tenant);
  await write(services, { tenant }, { locks: 'records' }, ({ tx, now, nowText }) =>
    insertSession(tx, tenant, {
      ...{ id: hashOf(value), account: account.id, epoch: account.epoch, now: nowText },
      ...{ authenticatedAt: utc(authenticatedAt), expiresAt: utc(now + limits.pageSessionTtlMs) },
      ...{ issuerSession: issuerSession ?? null, device },
    }),
  );
  return value;
}

/** `oidc`: the issuer that log-ins are of. */
export type SessionServices = { accounts: AccountServices; oidc: OfAccountServices };

/**
 * Undefined when it is over: also when the account was disabled, another password chosen, or the log-in at the issuer that it came
 * from has ended.
 */
export async function findSession(
  { accounts: services, oidc }: SessionServices,
  tenant: string,
  value: string | undefined,
): Promise<Session | undefined> {
  if (value === undefined || !isOurs(services, tenant, value)) return undefined;
  const now = utc(services.clock.now());
  const row = await services.database.read(tenant, (tx) => readSession(tx, tenant, hashOf(value), now));
  if (row === undefined) return undefined;
  const account = await readAccount(services, tenant, row.account);
  if (account?.epoch !== row.epoch) return undefined;
  const { authenticated_at: at, expires_at: expiresAt, issuer_session: issuerSession } = row;
  if (issuerSession !== null && !(await isIssuerSessionLive(oidc, tenant, issuerSession))) {
    await endSession(services, tenant, value);
    return undefined;
  }
  const session = { value, account, authenticatedAt: Date.parse(at), expiresAt };
  return issuerSession === null ? session : { ...session, issuerSession };
}

export async function endSession(services: AccountServices, tenant: string, value: string): Promise<void> {
  await write(services, { tenant }, { locks: 'records' }, ({ tx }) => deleteSession(tx, tenant, hashOf(value)));
}

/** A session of an account that came from no log-in at the issuer. `id`: base64url, of its hash. */
export type OwnSession = { id: string; since: string; device: Device };

export async function listOwnSessions(
  { database, clock }: Pick<AccountServices, 'database' | 'clock'>,
  tenant: string,
  { id: account, epoch }: Pick<Account, 'id' | 'epoch'>,
): Promise<OwnSession[]> {
  const of = { account, epoch, now: utc(clock.now()), limit: limits.accountItemsMax };
  const rows = await database.read(tenant, (tx) => readOwnSessions(tx, tenant, of));
  return rows.map(({ id, created_at: since, device }) => ({ id: id.toString('base64url'), since, device }));
}

/** As listOwnSessions names it. */
export const ownSessionId = (value: string): string => hashOf(value).toString('base64url');

/**
 * Ends sessions of an account that came from no log-in at the issuer.
 * @param which `id` of one, or the value of the one that stays
 * @returns how many
 */
export async function endOwnSessions(
  services: AccountServices,
  tenant: string,
  account: string,
  which: { id: string } | { except: string },
): Promise<number> {
  const those = 'id' in which ? { id: Buffer.from(which.id, 'base64url') } : { except: hashOf(which.except) };
  const { result } = await write(services, { tenant }, { locks: 'records' }, ({ tx }) =>
    deleteOwnSessions(tx, tenant, account, those),
  );
  return result;
}

/** Whether the person proved lately enough who it is for what harms if somebody else does it. */
export function isRecent({ authenticatedAt }: Pick<Session, 'authenticatedAt'>, now: number): boolean {
  return now - authenticatedAt < limits.portalRecentLogInMs;
}
