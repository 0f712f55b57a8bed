/** The verbs on keys: making a tenant's, making the installation's, and proving that the master key is the right one. */
import type { CryptoKey } from 'jose';
import { importJWK } from 'jose';
import type { Clock } from '../core/clock.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import type { TenantSpec } from '../tenants/index.ts';
import { makeKeyPair, openKey } from './key-pair.ts';
import { signingAlgorithm } from './rules.ts';
import type { LastingPurpose, SigningKey } from './schema.ts';
import {
  deleteRetiredKeys,
  insertAccessKey,
  insertInvitationKey,
  insertLastingKey,
  insertPortalKey,
  readAccessKey,
  readAnyKey,
  readInvitationKey,
  readLastingKey,
  readPortalKey,
  retireAccessKey,
  retireInvitationKey,
} from './store.ts';

const portalPlace = { table: 'installation_key', tenant: '', purpose: 'portal' } as const;

/**
 * Makes the tenant's access-token key when it has none for the algorithm that its spec wants; runs under the tenant's
 * row lock. The key before it verifies until the last token that it may have signed has expired: as long as the longest
 * lifetime that a tenant may ask for, because the spec may have asked for another one then.
 * @returns whether a key was made
 */
export async function ensureKeys(
  services: { encrypter: Encrypter; clock: Clock },
  write: { tx: Transaction; tenant: string; spec: TenantSpec },
): Promise<boolean> {
  const { tx, tenant, spec } = write;
  const algorithm = signingAlgorithm(spec);
  const current = await readAccessKey(tx, tenant);
  if (current?.algorithm === algorithm) return false;
  const nowMs = services.clock.now();
  await deleteRetiredKeys(tx, tenant, new Date(nowMs).toISOString());
  await retireAccessKey(tx, tenant, new Date(nowMs + limits.accessTokenTtlMsMax).toISOString());
  const place = { table: 'signing_key', tenant, purpose: 'access' } as const;
  await insertAccessKey(tx, tenant, await makeKeyPair(services.encrypter, algorithm, place));
  return true;
}

/** The key that signs the tenant's access tokens now. @throws Error when it has none, MasterKeyError */
export async function accessKey(encrypter: Encrypter, tx: Transaction, tenant: string): Promise<SigningKey> {
  const row = await readAccessKey(tx, tenant);
  if (row === undefined) throw new Error(`the tenant ${tenant} has no signing key`);
  return openKey(encrypter, row, { table: 'signing_key', tenant, purpose: 'access' });
}

/**
 * The key that signs the tenant's invitations now, made when there is none or it is limits.invitationKeyAgeMsMax old. The
 * one before it verifies as long as the longest invitation that it may have signed.
 * @throws MasterKeyError
 */
export async function invitationKey(
  services: { encrypter: Encrypter; clock: Clock },
  tx: Transaction,
  tenant: string,
): Promise<SigningKey> {
  const { encrypter, clock } = services;
  const place = { table: 'signing_key', tenant, purpose: 'invitation' } as const;
  const nowMs = clock.now();
  let row = await readInvitationKey(tx, tenant);
  if (row === undefined || Date.parse(row.created_at) + limits.invitationKeyAgeMsMax <= nowMs) {
    const now = new Date(nowMs).toISOString();
    if (row !== undefined) {
      await deleteRetiredKeys(tx, tenant, now);
      const retiresAt = new Date(nowMs + limits.invitationAgeMsMax).toISOString();
      await retireInvitationKey(tx, tenant, row.kid, retiresAt);
    }
    await insertInvitationKey(tx, tenant, await makeKeyPair(encrypter, 'ES256', place), now);
    row = await readInvitationKey(tx, tenant);
  }
  if (row === undefined) throw new Error(`the invitation key of ${tenant} was not stored`);
  return openKey(encrypter, row, place);
}

/**
 * The key that signs the tenant's receipts or checkpoints, made when there is none. It is not replaced by age: what it
 * signed is verified years later, and a key that must be kept for that anyway is not safer for having a successor.
 * @throws MasterKeyError
 */
export async function nonRotatingKey(
  encrypter: Encrypter,
  tx: Transaction,
  tenant: string,
  purpose: LastingPurpose,
): Promise<SigningKey> {
  const place = { table: 'signing_key', tenant, purpose } as const;
  let row = await readLastingKey(tx, tenant, purpose);
  if (row === undefined) {
    await insertLastingKey(tx, tenant, purpose, await makeKeyPair(encrypter, 'ES256', place));
    // Another transaction may have been first; then its key is the tenant's.
    row = await readLastingKey(tx, tenant, purpose);
  }
  if (row === undefined) throw new Error(`the ${purpose} key of ${tenant} was not stored`);
  return openKey(encrypter, row, place);
}

export type InstallationKey = SigningKey & { publicKey: CryptoKey };

/**
 * The installation's key for portal tokens, made at the first start; to be called at each start, because it also proves
 * the master key on what the database already holds.
 * @throws MasterKeyError when ACCORD_MASTER_KEY is another one
 */
export async function openInstallationKey(services: {
  database: Database;
  encrypter: Encrypter;
}): Promise<InstallationKey> {
  const { database, encrypter } = services;
  const existing = await database.system(async (tx) => {
    const sample = await readAnyKey(tx);
    if (sample !== undefined)
      await openKey(encrypter, sample, { table: 'signing_key', tenant: sample.tenant, purpose: 'access' });
    return readPortalKey(tx);
  });
  const row = existing ?? (await makeInstallationKey(services));
  const opened = await openKey(encrypter, row, portalPlace);
  return { ...opened, publicKey: (await importJWK(row.public_jwk, row.algorithm)) as CryptoKey };
}

async function makeInstallationKey({ database, encrypter }: { database: Database; encrypter: Encrypter }) {
  const made = await makeKeyPair(encrypter, 'ES256', portalPlace);
  await database.system((tx) => insertPortalKey(tx, made));
  // Another process may have been first; then its key is the installation's.
  const row = await database.system(readPortalKey);
  if (row === undefined) throw new Error('the installation key was not stored');
  return row;
}
