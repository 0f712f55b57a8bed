/**
 * Growing delays: attempts are counted by the address that was typed, whether it has an account or not, and by the network. An
 * attempt counts as failed before its password is looked at, so that many at once are not more tries than one after another.
 */
import type { Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { utc } from '../core/instants.ts';
import { deleteAttempt, lockAttempt, updateAttempt } from './attempt-store.ts';
import { attemptKeyOf, countAttempt, networkOf, uncountAttempt } from './rules.ts';
import type { AttemptKind } from './schema.ts';

/** Who tries: the address as it was typed, and the IP address that the request came from. */
export type Trying = { email: string; network?: string | undefined };
/** `retryAfterSeconds`: the next attempt must wait so long, unless this one succeeds. */
export type Attempt = { blocked: boolean; retryAfterSeconds?: number };

type Unit = { readonly tx: Transaction; readonly tenant: string; readonly now: number; readonly nowText: string };
type Digester = Pick<Encrypter, 'digest'>;
/** In the order in which they are locked. */
const kinds = { login: ['account', 'network'], mail: ['mail', 'mail_network'] } as const;
type AttemptOf = keyof typeof kinds;
type Key = { kind: AttemptKind; digest: string };

/** @param value as attempts are counted by (attemptKeyOf, networkOf) */
export function attemptDigest(digester: Digester, tenant: string, kind: AttemptKind, value: string): string {
  return digester.digest(Buffer.from(value), ['login_attempt', tenant, kind]);
}

function keysOf(digester: Digester, tenant: string, of: AttemptOf, { email, network }: Trying) {
  const [byAddress, byNetwork] = kinds[of];
  const place = networkOf(network);
  const key = (kind: AttemptKind, value: string): Key => ({
    kind,
    digest: attemptDigest(digester, tenant, kind, value),
  });
  return {
    address: key(byAddress, attemptKeyOf(email)),
    ...(place === undefined ? {} : { network: key(byNetwork, place) }),
  };
}

/** Counts an attempt as failed, where it may be made now. */
export async function beginAttempt(digester: Digester, unit: Unit, of: AttemptOf, trying: Trying): Promise<Attempt> {
  const { tx, tenant, now, nowText } = unit;
  const { address, network } = keysOf(digester, tenant, of, trying);
  const keys = network === undefined ? [address] : [address, network];
  const counted = [];
  for (const key of keys)
    counted.push({ key, ...countAttempt(key.kind, await lockAttempt(tx, tenant, key, nowText), now) });
  const blocked = counted.some((one) => one.blocked);
  for (const { key, failures, blockedUntil } of blocked ? [] : counted) {
    await updateAttempt(tx, tenant, key, { failures, now: nowText, blockedUntil: utc(blockedUntil) });
  }
  const waitMs = Math.max(...counted.map((one) => (one.blocked || !blocked ? one.blockedUntil : now))) - now;
  return { blocked, ...(waitMs > 0 ? { retryAfterSeconds: Math.ceil(waitMs / 1000) } : {}) };
}

/** The attempt succeeded: the address begins anew; of the network only this one is taken back, because others try there too. */
export async function endAttempt(digester: Digester, unit: Unit, of: AttemptOf, trying: Trying): Promise<void> {
  const { address, network } = keysOf(digester, unit.tenant, of, trying);
  await deleteAttempt(unit.tx, unit.tenant, address);
  if (network !== undefined) await takeBack(unit, network);
}

/** The attempt was none: it alone does not count. */
export async function takeBackAttempt(digester: Digester, unit: Unit, of: AttemptOf, trying: Trying): Promise<void> {
  const { address, network } = keysOf(digester, unit.tenant, of, trying);
  await takeBack(unit, address);
  if (network !== undefined) await takeBack(unit, network);
}

async function takeBack({ tx, tenant, now, nowText }: Unit, key: Key): Promise<void> {
  const { failures, blockedUntil } = uncountAttempt(key.kind, await lockAttempt(tx, tenant, key, nowText), now);
  await updateAttempt(tx, tenant, key, { failures, now: nowText, blockedUntil: utc(blockedUntil) });
}
