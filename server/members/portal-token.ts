/**
 * Owns portal tokens: made for 24 hours, and judged at each request by their signature and by what the database says
 * now, so that a revoked token or a changed role counts at once.
 */
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { recordAudit } from '../audit/index.ts';
import { isCompactJws } from '../core/auth/compact.ts';
import { invalidToken } from '../core/auth/problems.ts';
import type { Caller, Role } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { UUID } from '../core/uuid.ts';
import { type InstallationKey, type Minted, portalIssuer } from '../keys/index.ts';
import { readTenant, tenantProblem } from '../tenants/index.ts';
import type { MemberRow } from './schema.ts';
import { insertPortalToken, readTokenMember, upsertMember } from './store.ts';

const TYPE = 'accord-portal+jwt';
const AUDIENCE = 'accord-portal';

export type PortalServices = { database: Database; installationKey: InstallationKey; clock: Clock; baseUrl: string };

/**
 * The member that `accord token --role` speaks as: one for each role, whose address no mail reaches.
 * @throws Problem tenant_not_found
 */
export async function ensureLocalMember(
  services: Pick<PortalServices, 'database'>,
  tenant: string,
  role: Role,
): Promise<MemberRow> {
  return services.database.tenant(tenant, async (tx) => {
    if ((await readTenant(tx, tenant))?.state !== 'active') throw tenantProblem('tenant_not_found');
    return upsertMember(tx, tenant, `${role}@localhost`, role);
  });
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
): Promise<Minted> {
  const listed = await services.database.tenant(tenant, (tx) =>
    listPortalToken(services, tx, tenant, member, { actor }),
  );
  return signPortalToken(services, tenant, listed);
}

/** A portal token that is listed and not yet signed. */
type ListedToken = { jti: string; member: string; issuedAtSeconds: number; expiresAtSeconds: number };

/** The part of making a portal token that is the database's, in the caller's transaction. */
export async function listPortalToken(
  { clock }: Pick<PortalServices, 'clock'>,
  tx: Transaction,
  tenant: string,
  member: Pick<MemberRow, 'id' | 'email'>,
  by: { actor: string; requestId?: string },
): Promise<ListedToken> {
  const issuedAtSeconds = Math.floor(clock.now() / 1000);
  const expiresAtSeconds = issuedAtSeconds + limits.portalTokenTtlMs / 1000;
  const expiresAt = timeOf(expiresAtSeconds);
  const now = new Date(clock.now()).toISOString();
  const jti = await insertPortalToken(tx, tenant, { member: member.id, now, expiresAt });
  const detail = { member: member.email, expiresAt };
  await recordAudit(tx, tenant, { ...by, action: 'create', kind: 'portal_token', name: jti, detail });
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
  const member = await services.database.tenant(tenant, (tx) => readTokenMember(tx, tenant, jti, now));
  if (member === undefined) throw invalidToken('the token was revoked or has expired');
  return { kind: 'member', tenant, id: member.id, email: member.email, role: member.role, jti };
}

async function verify(services: PortalServices, token: string, tenant: string): Promise<string> {
  const { installationKey: key, clock, baseUrl } = services;
  if (token.length > limits.tokenBytesMax) throw invalidToken('the token is too long');
  try {
    if (!isCompactJws(token) || decodeProtectedHeader(token).typ !== TYPE) throw new Error('another kind of token');
  } catch {
    throw invalidToken('this is not a portal token');
  }
  const { payload } = await jwtVerify(token, key.publicKey, {
    algorithms: [key.algorithm],
    typ: TYPE,
    issuer: portalIssuer(baseUrl),
    audience: AUDIENCE,
    currentDate: new Date(clock.now()),
    requiredClaims: ['sub', 'jti', 'exp', 'iat', 'tenant'],
  }).catch(() => {
    throw invalidToken('the portal token is not valid');
  });
  if (payload.tenant !== tenant || typeof payload.jti !== 'string' || !UUID.test(payload.jti)) {
    throw invalidToken('the portal token is not valid here');
  }
  return payload.jti;
}

/** Audits that the support desk looked at something of the tenant. */
export async function recordSupportUse(
  database: Database,
  caller: { tenant: string; email: string },
  use: { route: string; requestId: string },
): Promise<void> {
  const entry = {
    actor: `member:${caller.email}`,
    action: 'read',
    kind: 'route',
    name: use.route,
    requestId: use.requestId,
  };
  await database.tenant(caller.tenant, (tx) => recordAudit(tx, caller.tenant, entry));
}
