/**
 * Growing delays: attempts are counted by the address that was typed, whether it has an account or not, and by the network. An
 * attempt counts as failed before its password is looked at, so that many at once are not more tries than one after another.
 */
import type { Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { deleteAttempt, lockAttempt, updateAttempt } from './attempt-store.ts';
import { accountProblem } from './problems.ts';
import { attemptKeyOf, countAttempt, networkOf, uncountAttempt } from './rules.ts';
import type { AttemptKind } from './schema.ts';

/** Who tries: the address as it was typed, and the IP address that the request came from. */
export type Trying = { email: string; network?: string | undefined };
type Key = { kind: AttemptKind; digest: string };
/** Where an attempt was counted. `until`: how long others wait for it; `before`: how long they had to wait without it. */
type Counted = { key: Key; until: number; before: number };
/**
 * `retryAfterSeconds`: the next attempt must wait so long, unless this one succeeds. `networkMs`: so long the network must wait,
 * whatever the address.
 */
export type Attempt = {
  blocked: boolean;
  retryAfterSeconds?: number;
  networkMs?: number;
  counted: readonly Counted[];
};

type Unit = { readonly tx: Transaction; readonly tenant: string; readonly now: number; readonly nowText: string };
type Digester = Pick<Encrypter, 'digest'>;
/** In the order in which they are locked. */
const kinds = { login: ['account', 'network'], mail: ['mail', 'mail_network'] } as const;
type AttemptOf = keyof typeof kinds;
const ofNetwork = ({ kind }: Key) => kind === 'network' || kind === 'mail_network';

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
  const network = counts.find(({ key, blocked }) => blocked && ofNetwork(key));
  return {
    blocked,
    ...(network === undefined ? {} : { networkMs: network.blockedUntil - now }),
    ...(waitMs > 0 ? { retryAfterSeconds: Math.ceil(waitMs / 1000) } : {}),
    counted: blocked ? [] : counts.map(({ key, blockedUntil: until, before }) => ({ key, until, before })),
  };
}

/** The attempt succeeded: the address begins anew; of the network only this one is taken back, because others try there too. */
export async function endAttempt(unit: Unit, { counted }: Attempt): Promise<void> {
  for (const one of counted) {
    if (ofNetwork(one.key)) await takeBack(unit, one.key, one);
    else await deleteAttempt(unit.tx, unit.tenant, one.key);
  }
}

/**
 * Asks for a mail to an address.
 * @returns undefined when too many were asked for to this address, which nobody is told; `askedBy` is what endMail takes
 * @throws Problem account_mails_limited when the network asked for too many
 */
export async function beginMail(
  digester: Digester,
  unit: Unit,
  trying: Trying,
): Promise<{ askedBy?: string } | undefined> {
  const { blocked, networkMs, counted } = await beginAttempt(digester, unit, 'mail', trying);
  if (networkMs !== undefined) {
    const headers = { 'retry-after': String(Math.ceil(networkMs / 1000)) };
    throw accountProblem('account_mails_limited', { headers });
  }
  const network = counted.find(({ key }) => ofNetwork(key));
  return blocked ? undefined : { ...(network === undefined ? {} : { askedBy: network.key.digest }) };
}

/** The link of a mail was used by who has the mailbox: mails to it begin anew, and the one is taken back where it was asked for. */
export async function endMail(
  digester: Digester,
  unit: Unit,
  { email, askedBy }: { email: string; askedBy?: string | undefined },
): Promise<void> {
  const [address] = keysOf(digester, unit.tenant, 'mail', { email }) as [Key];
  await deleteAttempt(unit.tx, unit.tenant, address);
  if (askedBy !== undefined) await takeBack(unit, { kind: 'mail_network', digest: askedBy });
}

/** The attempt was none: it alone does not count. */
export async function takeBackAttempt(unit: Unit, { counted }: Attempt): Promise<void> {
  for (const one of counted) await takeBack(unit, one.key, one);
}

async function takeBack({ tx, tenant, now, nowText }: Unit, key: Key, delay?: Counted): Promise<void> {
  const row = await lockAttempt(tx, tenant, key, nowText);
  await updateAttempt(tx, tenant, key, uncountAttempt(key.kind, row, now, delay));
}
