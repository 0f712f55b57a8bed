/** The rules of accounts, pure: passwords, addresses, networks, growing delays, links. */
import ipaddr from 'ipaddr.js';
import { bounds, patterns, type TenantSpec } from '../../crds/index.ts';
import type { Role } from '../core/auth/schema.ts';
import { delayMsAfter } from '../core/backoff.ts';
import { limits } from '../core/limits.ts';
import { comparableAddress } from '../core/mail-address.ts';
import { problem } from '../core/problems.ts';
import { isText } from '../core/text.ts';
import { accountProblem } from './problems.ts';
import type { Account, AccountRow, AttemptKind, AttemptRow } from './schema.ts';

export function accountOf(row: AccountRow): Account {
  return Object.freeze({
    ...{ id: row.id, email: row.email, emailVerified: row.email_verified },
    ...(row.display_name === null ? {} : { displayName: row.display_name }),
    ...(row.language === null ? {} : { language: row.language }),
    ...{ enabled: row.enabled, hasPassword: row.password_encrypted !== null, epoch: row.epoch },
    ...{ createdAt: row.created_at, updatedAt: row.updated_at },
  });
}

/** What is hashed of a password: NFKC in UTF-8, so that it is the same on every keyboard. Undefined: it cannot be one. */
export function passwordBytes(password: string): Buffer | undefined {
  // Normalizing at most makes 18 of one; what is longer than the bound in any form is not normalized.
  if (password.length > limits.passwordBytesMax || !isText(password)) return undefined;
  const bytes = Buffer.from(password.normalize('NFKC'));
  return bytes.length > limits.passwordBytesMax ? undefined : bytes;
}

/** Whether it is one of the passwords that are tried first, in small letters. */
export type WeakList = { has(password: string): boolean };

/**
 * Whether it may be chosen as a password.
 * @param words that an attacker tries with this account: the tenant's name, parts of the address
 * @throws Problem password_too_short, password_too_long, password_too_common, password_like_account
 */
export function checkPassword(password: string, words: readonly string[], weak: WeakList): void {
  const code = wrongPassword(password, words, weak);
  if (code === undefined) return;
  const detail = accountProblem.catalogue[code].when;
  throw accountProblem(code, { detail, errors: [{ pointer: '/password', detail }] });
}

type Wrong = 'password_too_short' | 'password_too_long' | 'password_too_common' | 'password_like_account';

function wrongPassword(password: string, words: readonly string[], weak: WeakList): Wrong | undefined {
  const text = passwordBytes(password)?.toString();
  if (text === undefined) return 'password_too_long';
  if ([...text].length < limits.passwordCharsMin) return 'password_too_short';
  const small = text.toLowerCase();
  const inside = small.replace(/^[^\p{L}]{0,4}|[^\p{L}]{0,4}$/gu, '');
  if (weak.has(small) || weak.has(inside) || new Set(small).size < 4) return 'password_too_common';
  const left = words.reduce((rest, word) => rest.replaceAll(word, ''), small);
  return left !== small && [...left].length < limits.passwordCharsMin ? 'password_like_account' : undefined;
}

/** What a password of this account must not consist of: words of at least 4 characters, the longest first. */
export function wordsAround(address: string, tenant: string, displayName: string): string[] {
  const [local = '', domain = ''] = address.split('@', 2);
  const whole = [address, local, domain, tenant, displayName].map((one) => one.normalize('NFKC').toLowerCase());
  const parts = whole.flatMap((one) => [one, ...one.split(/[^\p{L}\p{N}]+/u)]);
  return [...new Set(parts)].filter((one) => [...one].length >= 4).sort((a, b) => b.length - a.length);
}

/** @throws Problem invalid_request */
export function checkAddress(email: string): string {
  const read = comparableAddress(email);
  if (read.ok) return read.address;
  throw problem('invalid_request', { detail: read.detail, errors: [{ pointer: '/email', detail: read.detail }] });
}

const ONE_LINE = new RegExp(patterns.oneLine.source, 'u');
const LANGUAGE = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/;

/** @returns the name without space around it; undefined: none was given. @throws Problem invalid_request */
export function checkDisplayName(name: string | undefined): string | undefined {
  const trimmed = name?.trim();
  if (trimmed === undefined || trimmed === '') return undefined;
  if (isText(trimmed) && ONE_LINE.test(trimmed) && [...trimmed].length <= limits.accountNameCharsMax) return trimmed;
  const detail = `A name is one line of at most ${limits.accountNameCharsMax} characters.`;
  throw problem('invalid_request', { detail, errors: [{ pointer: '/displayName', detail }] });
}

/** A language tag; undefined where it is none, because a browser says it and not a person. */
export function languageOf(language: string | undefined): string | undefined {
  return language !== undefined && language.length <= 35 && LANGUAGE.test(language) ? language : undefined;
}

/** Whether somebody may sign up. @param isInvited to the address, by an invitation */
export function maySignUp({ login }: Pick<TenantSpec, 'login'>, isInvited: boolean): boolean {
  const who = login?.selfRegistration ?? 'invitation';
  return who === 'open' || (who === 'invitation' && isInvited);
}

/** What attempts are counted by: what somebody typed as the address, also when it is none. */
export function attemptKeyOf(email: string): string {
  const read = comparableAddress(email.slice(0, 2 * bounds.emailCharsMax).trim());
  return read.ok ? read.address : email.slice(0, bounds.emailCharsMax).toLowerCase();
}

/** The network that one party has to itself: an IPv4 address, or 64 bits of an IPv6 one. Undefined: it is no address. */
export function networkOf(address: string | undefined): string | undefined {
  if (address === undefined || !ipaddr.isValid(address)) return undefined;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

/** `forgetOneMs`: after each, one is taken off the count. Without it, only a pause of loginForgetMs ends the count. */
type Growing = { freeMax: number; minMs: number; maxMs: number; forgetOneMs?: number };

const mailDelays = { minMs: limits.accountMailDelayMsMin, maxMs: limits.accountMailDelayMsMax };
const loginDelays = { minMs: limits.loginDelayMsMin, maxMs: limits.loginDelayMsMax };
const growing: Record<AttemptKind, Growing> = {
  account: { freeMax: limits.loginFailuresFreeMax, ...loginDelays },
  network: {
    ...{ freeMax: limits.loginNetworkFailuresFreeMax, ...loginDelays },
    forgetOneMs: limits.loginNetworkForgetOneMs,
  },
  mail: { freeMax: limits.accountMailsFreeMax, ...mailDelays },
  mail_network: {
    ...{ freeMax: limits.accountMailsNetworkFreeMax, ...mailDelays },
    forgetOneMs: limits.accountMailsNetworkForgetOneMs,
  },
};

/** What a count becomes. `countedAt`: since when it goes down by one each `forgetOneMs`, or when the last attempt was. */
type Count = { failures: number; countedAt: number; blockedUntil: number };

/** What is left of a count. */
function remaining(kind: AttemptKind, row: AttemptRow, now: number): Pick<Count, 'failures' | 'countedAt'> {
  const { forgetOneMs } = growing[kind];
  const since = Date.parse(row.counted_at);
  if (since + limits.loginForgetMs <= now) return { failures: 0, countedAt: now };
  if (forgetOneMs === undefined) return { failures: row.failures, countedAt: now };
  // Whole steps only: the rest of a step is not lost, however often somebody tries.
  const steps = Math.max(0, Math.floor((now - since) / forgetOneMs));
  if (steps >= row.failures) return { failures: 0, countedAt: now };
  return { failures: row.failures - steps, countedAt: since + steps * forgetOneMs };
}

/**
 * What becomes of a count by another attempt.
 * @returns `blocked`: it must not be tried now. Otherwise it is counted as a failure already, until it succeeds.
 */
export function countAttempt(kind: AttemptKind, row: AttemptRow, now: number): Count & { blocked: boolean } {
  const { freeMax, ...delays } = growing[kind];
  const until = Date.parse(row.blocked_until);
  // Below freeMax it is the instant of an attempt, which another server's clock may not have reached.
  if (row.failures >= freeMax && until > now)
    return { failures: row.failures, countedAt: Date.parse(row.counted_at), blockedUntil: until, blocked: true };
  const { failures: before, countedAt } = remaining(kind, row, now);
  const failures = before + 1;
  const waitMs = failures < freeMax ? 0 : delayMsAfter(failures - freeMax + 1, delays);
  return { failures, countedAt, blockedUntil: now + waitMs, blocked: false };
}

/**
 * What becomes of a count when one of its attempts succeeded, or was none.
 * @param delay that the attempt made others wait for, and what was there before: it ends with the attempt, and that of a later one stays
 */
export function uncountAttempt(
  kind: AttemptKind,
  row: AttemptRow,
  now: number,
  delay?: { until: number; before: number },
): Count {
  const { failures, countedAt } = remaining(kind, row, now);
  const until = Date.parse(row.blocked_until);
  const blockedUntil = until === delay?.until ? delay.before : until;
  return { failures: Math.max(0, failures - 1), countedAt, blockedUntil };
}

/** Paths of the pages that links of mails lead to; the token is `token` in their query. */
export const accountPaths = {
  verify: '/account/verify',
  reset: '/account/reset',
  logIn: '/account',
} as const;

/** @param baseUrl as it is configured: never what a request says of its host */
export function linkTo(baseUrl: string, tenant: string, path: keyof typeof accountPaths, token?: string): string {
  const url = `${baseUrl}/${tenant}${accountPaths[path]}`;
  return token === undefined ? url : `${url}?token=${token}`;
}

/** `a***@example.com`: enough for who knows the address. */
export function maskedAddress(address: string): string {
  const at = address.lastIndexOf('@');
  return `${at > 1 ? String.fromCodePoint(address.codePointAt(0) as number) : ''}***${address.slice(at)}`;
}

/** With what the addresses begin that are searched for. @throws Problem forbidden for who sees no addresses */
export function searchPrefix(role: Role, prefix: string): string {
  if (role !== 'support') return prefix.normalize('NFC').toLowerCase();
  throw problem('forbidden', { detail: 'The support desk sees addresses masked, and cannot search for them.' });
}
