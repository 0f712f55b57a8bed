/**
 * Growing delays: attempts are counted by the address that was typed, whether it has an account or not, and by the network. An
 * attempt counts as failed before its password is looked at, so that many at once are not more tries than one after another.
 */
import type { Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { deleteAttempt, lockAttempt, updateAttempt } from './attempt-store.ts';
import { attemptKeyOf, countAttempt, networkOf, uncountAttempt } from './rules.ts';
import type { AttemptKind } from './schema.ts';

/** Who tries: the address as it was typed, and the IP address that the request came from. */
export type Trying = { email: string; network?: string | undefined };
type Key = { kind: AttemptKind; digest: string };
/** Where an attempt was counted. `until`: how long others wait for it; `before`: how long they had to wait without it. */
type Counted = { key: Key; until: number; before: number };
/** `retryAfterSeconds`: the next attempt must wait so long, unless this one succeeds. */
export type Attempt = { blocked: boolean; retryAfterSeconds?: number; counted: readonly Counted[] };

type Unit = { readonly tx: Transaction; readonly tenant: string; readonly now: number; readonly nowText: string };
type Digester = Pick<Encrypter, 'digest'>;
/** In the order in which they are locked. */
const kinds = { login: ['account', 'network'], mail: ['mail', 'mail_network'] } as const;
type AttemptOf = keyof typeof kinds;

/** @param value as attempts are counted by (attemptKeyOf, networkOf) */
export function attemptDigest(digester: Digester, tenant: string, kind: AttemptKind, value: string): string {
  return digester.digest(Buffer.from(value), ['login_attempt', tenant, kind]);
}

function keysOf(digester: Digester, tenant: string, of: AttemptOf, { email, network }: Trying): Key[] {
  const [byAddress, byNetwork] = kinds[of];
  const from = networkOf(network);
  const key = (kind: AttemptKind, value: string): Key => ({
    kind,
    digest: attemptDigest(digester, tenant, kind, value),
  });
  return [key(byAddress, attemptKeyOf(email)), ...(from === undefined ? [] : [key(byNetwork, from)])];
}

/** Counts an attempt as failed, where it may be made now. */
export async function beginAttempt(digester: Digester, unit: Unit, of: AttemptOf, trying: Trying): Promise<Attempt> {
  const { tx, tenant, now, nowText } = unit;
  const counts = [];
  for (const key of keysOf(digester, tenant, of, trying)) {
    const row = await lockAttempt(tx, tenant, key, nowText);
    counts.push({ key, before: Date.parse(row.blocked_until), ...countAttempt(key.kind, row, now) });
  }
  const blocked = counts.some((one) => one.blocked);
  for (const { key, ...count } of blocked ? [] : counts) await updateAttempt(tx, tenant, key, count);
  const waitMs = Math.max(...counts.map((one) => (one.blocked || !blocked ? one.blockedUntil : now))) - now;
  return {
    blocked,
    ...(waitMs > 0 ? { retryAfterSeconds: Math.ceil(waitMs / 1000) } : {}),
    counted: blocked ? [] : counts.map(({ key, blockedUntil: until, before }) => ({ key, until, before })),
  };
}

/** The attempt succeeded: the address begins anew; of the network only this one is taken back, because others try there too. */
export async function endAttempt(unit: Unit, { counted }: Attempt): Promise<void> {
  for (const one of counted) {
    if (one.key.kind === 'network') await takeBack(unit, one);
    else await deleteAttempt(unit.tx, unit.tenant, one.key);
  }
}

/** The attempt was none: it alone does not count. */
export async function takeBackAttempt(unit: Unit, { counted }: Attempt): Promise<void> {
  for (const one of counted) await takeBack(unit, one);
}

async function takeBack({ tx, tenant, now, nowText }: Unit, { key, ...delay }: Counted): Promise<void> {
  const row = await lockAttempt(tx, tenant, key, nowText);
  await updateAttempt(tx, tenant, key, uncountAttempt(key.kind, row, now, delay));
}
