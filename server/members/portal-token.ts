/**
 * Portal tokens: made for 24 hours, and judged at each request by their signature and by what the database says
 * now, so that a revoked token or a changed role counts at once.
 */

import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from 'jose';
import { isCompactJws } from '../core/auth/compact.ts';
import { invalidToken } from '../core/auth/problems.ts';
import type { Caller, Role } from '../core/auth/schema.ts';
import { notJwt } from '../core/auth/token-kind.ts';
import { limits } from '../core/limits.ts';
import type { Writer } from '../core/ownership.ts';
import { problem } from '../core/problems.ts';
import { UUID } from '../core/uuid.ts';
import { type InstallationKey, type Minted, portalIssuer } from '../keys/index.ts';
import { readTenant } from '../tenants/index.ts';
import { type AuditedUnit, type WriteServices, write } from '../writes/index.ts';
import { memberAuthor } from './actions.ts';
import { localMemberEmail } from './rules.ts';
import type { MemberRow } from './schema.ts';
import { insertPortalToken, readTokenMember, upsertMember } from './store.ts';

const TYPE = 'accord-portal+jwt';
const AUDIENCE = 'accord-portal';

export type PortalServices = WriteServices & { installationKey: InstallationKey; baseUrl: string };

/**
 * The member that `accord token --role` speaks as: one for each role, whose address no mail reaches.
 * @throws Problem tenant_not_found
 */
export async function ensureLocalMember(services: WriteServices, tenant: string, role: Role): Promise<MemberRow> {
  const { result } = await write(services, { tenant }, { locks: 'records' }, async ({ tx }) => {
    if ((await readTenant(tx, tenant))?.state !== 'active') throw problem('tenant_not_found');
    return upsertMember(tx, tenant, localMemberEmail(role), role);
  });
  return result;
}

/**
 * Makes a portal token for a member, lists it, and records that.
 * @param actor who asked for it, for the audit: `cli`, `member:<email>`
 */
export async function mintPortalToken(
  services: PortalServices,
  tenant: string,
  member: Pick<MemberRow, 'id' | 'email'>,
  actor: string,
  { requestId, idempotency }: Pick<Writer, 'requestId' | 'idempotency'> = {},
): Promise<Minted> {
  const by = { actor, ...(requestId === undefined ? {} : { requestId }) };
  const { result: listed } = await write(services, { tenant, by, idempotency }, { locks: 'records' }, (unit) =>
    listPortalToken(unit, member),
  );
  return signPortalToken(services, tenant, listed);
}

/** A portal token that is listed and not yet signed. */
type ListedToken = { jti: string; member: string; issuedAtSeconds: number; expiresAtSeconds: number };

/** The part of making a portal token that is the database's. */
export async function listPortalToken(
  unit: AuditedUnit,
  member: Pick<MemberRow, 'id' | 'email'>,
): Promise<ListedToken> {
  const { tx, tenant, nowText: now } = unit;
  const issuedAtSeconds = Math.floor(unit.now / 1000);
  const expiresAtSeconds = issuedAtSeconds + limits.portalTokenTtlMs / 1000;
  const expiresAt = timeOf(expiresAtSeconds);
  const jti = await insertPortalToken(tx, tenant, { member: member.id, now, expiresAt });
  unit.audit({ action: 'create', kind: 'portal_token', name: jti, detail: { member: member.email, expiresAt } });
  return { jti, member: member.id, issuedAtSeconds, expiresAtSeconds };
}

/** The other part: it needs the installation's key and no database. */
export async function signPortalToken(
  { installationKey: key, baseUrl }: PortalServices,
  tenant: string,
  { jti, member, issuedAtSeconds, expiresAtSeconds }: ListedToken,
): Promise<Minted> {
  const token = await new SignJWT({ tenant })
    .setProtectedHeader({ alg: key.algorithm, typ: TYPE, kid: key.kid })
    .setIssuer(portalIssuer(baseUrl))
    .setAudience(AUDIENCE)
    .setSubject(member)
    .setJti(jti)
    .setIssuedAt(issuedAtSeconds)
    .setExpirationTime(expiresAtSeconds)
    .sign(key.privateKey);
  return { token, jti, expiresAt: timeOf(expiresAtSeconds) };
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

/**
 * The member who sends a portal token to a tenant's Config API.
 * @throws Problem unauthenticated
 */
export async function authenticateMember(services: PortalServices, token: string, tenant: string): Promise<Caller> {
  const jti = await verify(services, token, tenant);
  const now = new Date(services.clock.now()).toISOString();
  const member = await services.database.tenantSnapshot(tenant, (tx) => readTokenMember(tx, tenant, jti, now));
  if (member === undefined) throw invalidToken('the token was revoked or has expired');
  return { kind: 'member', tenant, id: member.id, email: member.email, role: member.role, jti };
}

/** What it is instead, by its form alone; undefined: it may be one. */
function notPortalToken(token: string): string | undefined {
  if (!isCompactJws(token)) return notJwt(token) ?? 'the token is malformed';
  try {
    const { typ } = decodeProtectedHeader(token);
    if (typ === TYPE) return undefined;
    return typ?.toLowerCase() === 'at+jwt' ? 'not a portal token, but an access token' : 'not a portal token';
  } catch {
    return 'the token is malformed';
  }
}

async function verify(services: PortalServices, token: string, tenant: string): Promise<string> {
  const { installationKey: key, clock, baseUrl } = services;
  if (token.length > limits.tokenBytesMax) throw invalidToken('the token is too long');
  const create = `${baseUrl}/portal/t/${tenant}/settings/token`;
  const other = notPortalToken(token);
  if (other !== undefined) throw invalidToken(`${other}; the Config API takes portal tokens: create one at ${create}`);
  const { payload } = await jwtVerify(token, key.publicKey, {
    algorithms: [key.algorithm],
    typ: TYPE,
    issuer: portalIssuer(baseUrl),
    audience: AUDIENCE,
    currentDate: new Date(clock.now()),
    requiredClaims: ['sub', 'jti', 'exp', 'iat', 'tenant'],
  }).catch((error) => {
    if (!(error instanceof errors.JWTExpired)) throw invalidToken('the portal token is not valid');
    throw invalidToken(`the portal token has expired; create another at ${create}`);
  });
  if (payload.tenant !== tenant || typeof payload.jti !== 'string' || !UUID.test(payload.jti)) {
    throw invalidToken('the portal token is not valid for this tenant');
  }
  return payload.jti;
}

/** Audits that the support desk looked at something of the tenant. */
export async function recordSupportUse(
  services: WriteServices,
  caller: { tenant: string; email: string },
  use: { route: string; requestId: string },
): Promise<void> {
  await write(services, memberAuthor(caller, use.requestId), { locks: 'records' }, async (unit) => {
    unit.audit({ action: 'read', kind: 'route', name: use.route });
  });
}
