/**
 * Refusing tokens of the tenant's own issuer that have not expired. Each is a change of the tenant's configuration: what was
 * refused is refused from the revision on that the write makes, by every server that decides.
 */
import { erasedName, grantName } from '../core/auth/claims.ts';
import { limits } from '../core/limits.ts';
import type { TenantUnit } from '../tenants/index.ts';
import { countDeniedTokens, deleteDenials, readDenial, upsertDenial } from './denied-store.ts';
import { keyProblem } from './problems.ts';

const names = /^(client|subject|grant|erased|jti):/;

/** Whether a change of configuration (its name) removed denials, besides what it added. */
export const isErasureName = (name: string): boolean => name.startsWith('erased:');

/** Whether a change of configuration (its name) is one of what is denied, and of nothing else of a tenant's tokens. */
export const isDenialName = (name: string): boolean => names.test(name);

/** What a write of configuration gives to its work (server/writes ConfigUnit). */
export type DenyingUnit = Pick<TenantUnit, 'tx' | 'tenant' | 'revision' | 'changed'> & { readonly now: number };

/**
 * Which tokens are refused. `issued`: those that were issued until now. `all`: those that are issued later, too, until they
 * are allowed again. `gone`: as `all`, for what does not come back, and forgotten when the last token has expired.
 */
export type Denial = 'issued' | 'all' | 'gone';

/** Refuses tokens that were issued to a client, for itself or for users. */
export async function denyClientTokens(unit: DenyingUnit, clientId: string, denial: Denial = 'issued'): Promise<void> {
  await deny(unit, 'client', clientId, denial);
}

/** Those that are issued to the client from now on are good again; does nothing where none was refused. */
export function allowClientTokens(unit: DenyingUnit, clientId: string): Promise<void> {
  return allow(unit, 'client', clientId);
}

/** Refuses tokens that were issued for a subject (`sub`), such as an account. */
export async function denySubjectTokens(unit: DenyingUnit, sub: string, denial: Denial = 'issued'): Promise<void> {
  await deny(unit, 'subject', sub, denial);
}

/**
 * Refuses tokens of a person who is being erased. Neither the list nor what is told of the change has the id.
 * @param replacement what stands for the id in records that stay
 */
export async function denyErasedSubject(
  unit: DenyingUnit,
  sub: string,
  denial: 'issued' | 'gone',
  replacement: string,
): Promise<void> {
  const changed = await deny(unit, 'erased', erasedName(sub), denial, replacement);
  const removed = await deleteDenials(unit.tx, unit.tenant, sub);
  // Servers read the list anew by this name, and forget the id.
  if (removed > 0 && !changed) unit.changed('denied_token', `erased:${replacement}`, 'deny');
}

/** Refuses tokens that were issued to a client for a subject. */
export async function denyGrantTokens(unit: DenyingUnit, sub: string, clientId: string): Promise<void> {
  await deny(unit, 'grant', grantName(sub, clientId), 'issued', grantName(erasedName(sub), clientId));
}

/** Those that are issued for the subject from now on are good again; does nothing where none was refused. */
export function allowSubjectTokens(unit: DenyingUnit, sub: string): Promise<void> {
  return allow(unit, 'subject', sub);
}

/**
 * Refuses one token until it expires; does nothing when it has.
 * @param expiresAtMs its `exp`
 * @throws Problem denied_tokens_quota_reached
 */
export async function denyToken(unit: DenyingUnit, jti: string, expiresAtMs: number): Promise<void> {
  const { tx, tenant, now } = unit;
  if (expiresAtMs <= now || (await readDenial(tx, tenant, 'jti', jti)) !== undefined) return;
  if ((await countDeniedTokens(tx, tenant, instant(now))) >= limits.deniedTokensMax)
    throw keyProblem('denied_tokens_quota_reached');
  const expiresAt = instant(Math.min(expiresAtMs, now + limits.accessTokenTtlMsMax) + limits.clockToleranceMs);
  await upsertDenial(tx, tenant, { kind: 'jti', id: jti, issuedUntil: null, expiresAt, revision: unit.revision });
  unit.changed('denied_token', `jti:${jti}`, 'deny');
}

/** @returns whether that is a change */
async function deny(
  unit: DenyingUnit,
  kind: 'client' | 'subject' | 'grant' | 'erased',
  id: string,
  denial: Denial,
  /** As the audit names it: a subject by its hash, because entries outlive the person. */
  name: string = kind === 'subject' ? erasedName(id) : id,
): Promise<boolean> {
  const { tx, tenant, now, revision } = unit;
  const before = await readDenial(tx, tenant, kind, id);
  // What is refused whenever it was issued stays so.
  if (denial === 'issued' && before !== undefined && before.issued_until === null) return false;
  const issuedUntil = denial === 'issued' ? instant(now) : null;
  const expiresAt = denial === 'all' ? null : lastExpiry(now);
  await upsertDenial(tx, tenant, { kind, id, issuedUntil, expiresAt, revision });
  unit.changed('denied_token', `${kind}:${name}`, 'deny');
  return true;
}

async function allow(unit: DenyingUnit, kind: 'client' | 'subject', id: string): Promise<void> {
  const { tx, tenant, now, revision } = unit;
  const before = await readDenial(tx, tenant, kind, id);
  if (before === undefined || before.issued_until !== null) return;
  await upsertDenial(tx, tenant, { kind, id, issuedUntil: instant(now), expiresAt: lastExpiry(now), revision });
  unit.changed('denied_token', `${kind}:${kind === 'subject' ? erasedName(id) : id}`, 'allow');
}

/** When the last token has expired that can have been issued until now. */
function lastExpiry(now: number): string {
  return instant(now + limits.accessTokenTtlMsMax + limits.clockToleranceMs);
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
