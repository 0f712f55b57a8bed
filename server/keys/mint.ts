/** Making access tokens of a tenant's own issuer (RFC 9068): what `accord token` prints until the authorization server is there. */
import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Scope } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import { comparableAddress } from '../core/mail-address.ts';
import { problem } from '../core/problems.ts';
import { readTenant } from '../tenants/index.ts';
import { accessKey } from './actions.ts';
import { accessTokenTtlMs, ownIssuer } from './rules.ts';

export type MintServices = { database: Database; encrypter: Encrypter; clock: Clock; baseUrl: string };
export type Minted = { token: string; jti: string; expiresAt: string };

/** The client that tokens of users name; no client and no user may be called so, because sub = client_id means a client. */
const CLI_CLIENT_ID = 'accord-cli';

/**
 * A token of a back end of the tenant, as by client_credentials.
 * @param client ttlMs defaults to the tenant's access-token lifetime, and is at most limits.accessTokenTtlMsMax
 * @throws Problem tenant_not_found, invalid_request
 */
export function mintClientToken(
  services: MintServices,
  tenant: string,
  client: { clientId: string; scopes: readonly Scope[]; ttlMs?: number },
): Promise<Minted> {
  const claims = { sub: client.clientId, client_id: client.clientId, scope: client.scopes.join(' ') };
  return mint(services, tenant, claims, client.ttlMs);
}

/**
 * A token of an end user of the tenant.
 * @param user its email counts as verified
 * @throws Problem tenant_not_found, invalid_request
 */
export async function mintUserToken(
  services: MintServices,
  tenant: string,
  { userId, email, ttlMs }: { userId: string; email?: string; ttlMs?: number },
): Promise<Minted> {
  const claims = { sub: userId, client_id: CLI_CLIENT_ID };
  if (email === undefined) return mint(services, tenant, claims, ttlMs);
  const read = comparableAddress(email);
  if (!read.ok) throw problem('invalid_request', { detail: `email: ${read.detail}` });
  return mint(services, tenant, { ...claims, email, email_verified: true }, ttlMs);
}

async function mint(
  services: MintServices,
  tenant: string,
  claims: { sub: string; client_id: string; scope?: string; email?: string; email_verified?: boolean },
  ttlMs: number | undefined,
): Promise<Minted> {
  if (claims.sub === '' || claims.sub.length > limits.subjectCharsMax || claims.sub === CLI_CLIENT_ID) {
    throw problem('invalid_request', {
      detail: `An id must have 1 to ${limits.subjectCharsMax} characters and must not be ${CLI_CLIENT_ID}.`,
    });
  }
  const { spec, key } = await services.database.tenantSnapshot(tenant, async (tx) => {
    const row = await readTenant(tx, tenant);
    if (row?.state !== 'active' || row.revision === 0) throw problem('tenant_not_found');
    return { spec: row.spec, key: await accessKey(services, tx, tenant) };
  });
  const issuedAt = Math.floor(services.clock.now() / 1000);
  const expiresAt = issuedAt + Math.floor(Math.min(ttlMs ?? accessTokenTtlMs(spec), limits.accessTokenTtlMsMax) / 1000);
  const jti = randomUUID();
  const token = await new SignJWT({ ...claims })
    .setProtectedHeader({ alg: key.algorithm, typ: 'at+jwt', kid: key.kid })
    .setIssuer(ownIssuer(services.baseUrl, tenant))
    .setAudience(spec.audiences[0] as string)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .setJti(jti)
    .sign(key.privateKey);
  return { token, jti, expiresAt: new Date(expiresAt * 1000).toISOString() };
}
