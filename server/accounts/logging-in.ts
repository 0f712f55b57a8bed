/**
 * Logging in by password. Every place that asks for a password counts an attempt first (beginAttempt) and compares the password
 * here (verifyAttempt).
 */
import { write } from '../writes/index.ts';
import { type Attempt, beginAttempt, endAttempt, type Trying, takeBackAttempt } from './lockout.ts';
import { accountOf, attemptKeyOf } from './rules.ts';
import type { Account, AccountRow } from './schema.ts';
import { type AccountServices, storedPassword } from './services.ts';
import { readAccountRow, readByEmail } from './store.ts';

export type LoggingIn = Trying & { password: string };

/** How somebody proved to be whose account it is (RFC 8176): one factor each. */
export type ProofOf = readonly ['pwd'] | readonly ['pop', 'user'] | readonly ['fed'];

export type LoggedIn = { account: Account; amr: ProofOf };
/**
 * The address is unknown, the password is wrong, the account is disabled or has none, or there were too many attempts: which, is
 * told to nobody. `retryAfterSeconds` follows from the attempts alone.
 */
export type Refused = { refused: 'credentials'; retryAfterSeconds?: number };

/**
 * Logs somebody in.
 * @throws Problem passwords_busy
 */
export async function logIn(services: AccountServices, tenant: string, given: LoggingIn): Promise<LoggedIn | Refused> {
  const row = await provePassword(services, tenant, given, (tx) => readByEmail(tx, tenant, attemptKeyOf(given.email)));
  return 'refused' in row ? row : { account: accountOf(row), amr: ['pwd'] };
}

type Reading = (tx: Parameters<typeof readByEmail>[0]) => Promise<AccountRow | undefined>;

/**
 * The account, when the password is its own now and it is enabled.
 * @param find the account that it is to be
 */
export async function provePassword(
  services: AccountServices,
  tenant: string,
  { password, ...trying }: LoggingIn,
  find: Reading,
): Promise<AccountRow | Refused> {
  const { attempt, row } = await begin(services, tenant, trying, find);
  const { network } = trying;
  const stored = storedPassword(services, tenant, row);
  const isRight = await verifyAttempt(services, tenant, { password, network, attempt }, stored);
  const proved = isRight && row?.enabled ? await conclude(services, tenant, attempt, row) : undefined;
  if (proved !== undefined) return proved;
  const { retryAfterSeconds } = attempt;
  return { refused: 'credentials', ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}

async function begin(services: AccountServices, tenant: string, trying: Trying, find: Reading) {
  const { result } = await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    const attempt: Attempt = await beginAttempt(services.encrypter, unit, 'login', trying);
    return { attempt, row: await find(unit.tx) };
  });
  return result;
}

/**
 * Whether the password of an attempt is the stored one. A blocked attempt takes no hash: whether it is blocked follows from
 * attempts alone, and nobody waits behind it.
 * @throws Problem passwords_busy: nobody looked at the password, and the attempt does not count
 */
export async function verifyAttempt(
  services: AccountServices,
  tenant: string,
  { password, network, attempt }: { password: string; network?: string | undefined; attempt: Attempt },
  stored: string | undefined,
): Promise<boolean> {
  if (attempt.blocked) return false;
  try {
    return await services.passwords.verify({ tenant, network }, password, stored);
  } catch (error) {
    await write(services, { tenant }, { locks: 'records' }, (unit) => takeBackAttempt(unit, attempt));
    throw error;
  }
}

/** The password was right; it counts only while it is still the account's, because hashing takes its time. */
async function conclude(services: AccountServices, tenant: string, attempt: Attempt, { id, epoch }: AccountRow) {
  const { result } = await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    const now = await readAccountRow(unit.tx, tenant, id, true);
    if (!now?.enabled || now.epoch !== epoch) return undefined;
    await endAttempt(unit, attempt);
    return now;
  });
  return result;
}
