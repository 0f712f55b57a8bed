import { Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { sql } from '../core/db/sql.ts';
import {
  DatedKeyRow,
  EncryptedKeyRow,
  KeyRow,
  type LastingPurpose,
  type PublicKey,
  PublicKeyRow,
  TokenKeyRow,
  type TokenPurpose,
  type VerifyingKey,
  VerifyingKeyRow,
} from './schema.ts';

const columns = sql`kid, algorithm, public_jwk, private_key`;

const tokenColumns = sql`${columns}, created_at, activates_at, retires_at`;

/** The newest key of tokens: the one that signs, or will. */
export function readNewestKey(
  tx: Transaction,
  tenant: string,
  purpose: TokenPurpose,
): Promise<TokenKeyRow | undefined> {
  return tx.maybe(
    TokenKeyRow,
    sql`select ${tokenColumns} from accord.signing_key
      where tenant = ${tenant} and purpose = ${purpose} and retires_at is null`,
  );
}

/** The key that signs tokens at `now`. */
export function readSigningKey(
  tx: Transaction,
  tenant: string,
  purpose: TokenPurpose,
  now: string,
): Promise<TokenKeyRow | undefined> {
  return tx.maybe(
    TokenKeyRow,
    sql`select ${tokenColumns} from accord.signing_key
      where tenant = ${tenant} and purpose = ${purpose} and activates_at <= ${now} and (retires_at is null or retires_at > ${now})
      order by activates_at desc, created_at desc, kid limit 1`,
  );
}

/** The keys of tokens that sign, will sign or still verify at `now`, the last activated first. */
export function readTokenKeys(
  tx: Transaction,
  tenant: string,
  purpose: TokenPurpose,
  now: string,
): Promise<TokenKeyRow[]> {
  return tx.many(
    TokenKeyRow,
    sql`select ${tokenColumns} from accord.signing_key
      where tenant = ${tenant} and purpose = ${purpose} and (retires_at is null or retires_at > ${now})
      order by activates_at desc, created_at desc`,
  );
}

/** Does nothing when another transaction made one first: the unique index decides. */
export async function insertTokenKey(
  tx: Transaction,
  tenant: string,
  purpose: TokenPurpose,
  key: EncryptedKeyRow,
  { createdAt, activatesAt }: { createdAt: string; activatesAt: string },
): Promise<void> {
  await tx.run(sql`
    insert into accord.signing_key
      (tenant, kid, purpose, algorithm, public_jwk, private_key, created_at, activates_at)
    values (${tenant}, ${key.kid}, ${purpose}, ${key.algorithm}, ${JSON.stringify(key.public_jwk)}, ${key.private_key},
      ${createdAt}, ${activatesAt})
    on conflict do nothing`);
}

export async function retireTokenKey(
  tx: Transaction,
  tenant: string,
  purpose: TokenPurpose,
  retiresAt: string,
): Promise<void> {
  await tx.run(sql`
    update accord.signing_key set retires_at = ${retiresAt}
    where tenant = ${tenant} and purpose = ${purpose} and retires_at is null`);
}

export async function deleteRetiredKeys(tx: Transaction, tenant: string, before: string): Promise<void> {
  await tx.run(sql`delete from accord.signing_key where tenant = ${tenant} and retires_at <= ${before}`);
}

/** Public access-token keys, newest first: of one tenant, or of all in a system transaction. */
export async function loadPublicKeys(tx: Transaction, tenant?: string): Promise<PublicKey[]> {
  const rows = await tx.many(
    PublicKeyRow,
    sql`select tenant, purpose, public_jwk, retires_at from accord.signing_key where purpose = 'access'
      ${tenant === undefined ? sql`` : sql`and tenant = ${tenant}`} order by created_at desc, kid`,
  );
  return rows.map((row) => ({
    tenant: row.tenant,
    jwk: row.public_jwk,
    ...(row.retires_at === null ? {} : { retiresAtMs: Date.parse(row.retires_at) }),
  }));
}

/** The key that signs invitations now, and when it was made. */
export function readInvitationKey(tx: Transaction, tenant: string): Promise<DatedKeyRow | undefined> {
  return tx.maybe(
    DatedKeyRow,
    sql`select ${columns}, created_at from accord.signing_key
      where tenant = ${tenant} and purpose = 'invitation' and retires_at is null`,
  );
}

/** Does nothing when another transaction made one first: the unique index decides. */
export async function insertInvitationKey(
  tx: Transaction,
  tenant: string,
  key: EncryptedKeyRow,
  createdAt: string,
): Promise<void> {
  await tx.run(sql`
    insert into accord.signing_key (tenant, kid, purpose, algorithm, public_jwk, private_key, created_at)
    values (${tenant}, ${key.kid}, 'invitation', ${key.algorithm}, ${JSON.stringify(key.public_jwk)}, ${key.private_key},
      ${createdAt})
    on conflict do nothing`);
}

/** @param kid a key that another transaction has retired meanwhile stays as it is */
export async function retireInvitationKey(
  tx: Transaction,
  tenant: string,
  kid: string,
  retiresAt: string,
): Promise<void> {
  await tx.run(sql`update accord.signing_key set retires_at = ${retiresAt}
    where tenant = ${tenant} and kid = ${kid} and purpose = 'invitation' and retires_at is null`);
}

/** Keys that verify invitations at `now`, newest first; or the one of a kid. */
export function readInvitationKeys(
  tx: Transaction,
  tenant: string,
  now: string,
  kid?: string,
): Promise<VerifyingKey[]> {
  return tx.many(
    VerifyingKeyRow,
    sql`select public_jwk from accord.signing_key where tenant = ${tenant} and purpose = 'invitation'
      and (retires_at is null or retires_at > ${now}) ${kid === undefined ? sql`` : sql`and kid = ${kid}`}
      order by created_at desc, kid`,
  );
}

/** The key that signs receipts or checkpoints. */
export function readLastingKey(
  tx: Transaction,
  tenant: string,
  purpose: LastingPurpose,
): Promise<EncryptedKeyRow | undefined> {
  return tx.maybe(
    EncryptedKeyRow,
    sql`select ${columns} from accord.signing_key
      where tenant = ${tenant} and purpose = ${purpose} and retires_at is null`,
  );
}

/** Does nothing when another transaction made one first: the unique index decides. */
export async function insertLastingKey(
  tx: Transaction,
  tenant: string,
  purpose: LastingPurpose,
  key: EncryptedKeyRow,
): Promise<void> {
  await tx.run(sql`
    insert into accord.signing_key (tenant, kid, purpose, algorithm, public_jwk, private_key)
    values (${tenant}, ${key.kid}, ${purpose}, ${key.algorithm}, ${JSON.stringify(key.public_jwk)}, ${key.private_key})
    on conflict do nothing`);
}

/** What verifies receipts or checkpoints of the tenant: the one of a kid, or undefined. */
export function readLastingPublicKey(
  tx: Transaction,
  tenant: string,
  purpose: LastingPurpose,
  kid: string,
): Promise<VerifyingKey | undefined> {
  return tx.maybe(
    VerifyingKeyRow,
    sql`select public_jwk from accord.signing_key
      where tenant = ${tenant} and purpose = ${purpose} and kid = ${kid}`,
  );
}

/** Every public key of the tenant but those of access tokens, newest first, the retired ones too. */
export function readPublishedKeys(tx: Transaction, tenant: string): Promise<PublicKeyRow[]> {
  return tx.many(
    PublicKeyRow,
    sql`select tenant, purpose, public_jwk, retires_at from accord.signing_key
      where tenant = ${tenant} and purpose <> 'access' order by created_at desc, kid`,
  );
}

/** Keys of all purposes that sign, will sign or verify at `now`: of a purpose the one that is activated last first. */
export function readKeys(tx: Transaction, tenant: string, now: string): Promise<KeyRow[]> {
  return tx.many(
    KeyRow,
    sql`select kid, purpose, algorithm, created_at, activates_at, retires_at from accord.signing_key
      where tenant = ${tenant} and (retires_at is null or retires_at > ${now})
      order by array_position(array['access', 'identity', 'invitation', 'receipt', 'checkpoint'], purpose),
        activates_at desc, created_at desc, kid`,
  );
}

/** The installation's portal key, for a system transaction. */
export function readPortalKey(tx: Transaction): Promise<EncryptedKeyRow | undefined> {
  return tx.maybe(
    EncryptedKeyRow,
    sql`select ${columns} from accord.installation_key where purpose = 'portal' and retires_at is null`,
  );
}

/** Does nothing when another process made one first: the unique index decides. */
export async function insertPortalKey(tx: Transaction, key: EncryptedKeyRow): Promise<void> {
  await tx.run(sql`
    insert into accord.installation_key (kid, purpose, algorithm, public_jwk, private_key)
    values (${key.kid}, 'portal', ${key.algorithm}, ${JSON.stringify(key.public_jwk)}, ${key.private_key})
    on conflict do nothing`);
}

const TenantEncryptedKeyRow = Type.Object({ tenant: Type.String(), ...EncryptedKeyRow.properties });

/** Any one tenant's key, for a system transaction: what a master key is tried on. */
export async function readAnyKey(tx: Transaction) {
  return tx.maybe(
    TenantEncryptedKeyRow,
    sql`select tenant, ${columns} from accord.signing_key where purpose = 'access' and retires_at is null limit 1`,
  );
}

const TenantRow = Type.Object({ tenant: Type.String() });

/** In a system transaction: active tenants whose newest key of tokens was made before an instant. */
export async function readTenantsOfOldKeys(tx: Transaction, before: string): Promise<string[]> {
  const rows = await tx.many(
    TenantRow,
    sql`select distinct tenant from accord.signing_key
      where purpose in ('access', 'identity') and retires_at is null and created_at <= ${before}`,
  );
  return rows.map(({ tenant }) => tenant);
}
