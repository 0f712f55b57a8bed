/** The verbs on keys: making a tenant's, making the installation's, and proving that the master key is the right one. */
import type { CryptoKey } from 'jose';
import { importJWK } from 'jose';
import type { Algorithm } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import { apiOwner, type Writer } from '../core/ownership.ts';
import type { ConfigWritten, TenantSpec, WriteTenant } from '../tenants/index.ts';
import { removeExpiredDenials } from './denied-store.ts';
import { signingKeyRotated } from './events.ts';
import { makeKeyPair, openJwk, openKey } from './key-pair.ts';
import { signingAlgorithm, statesOf, tokenKeysOf } from './rules.ts';
import type { KeyView, LastingPurpose, SigningKey, TokenKeys, TokenPurpose } from './schema.ts';
import {
  deleteRetiredKeys,
  insertInvitationKey,
  insertLastingKey,
  insertPortalKey,
  insertTokenKey,
  readAnyKey,
  readInvitationKey,
  readKeys,
  readLastingKey,
  readNewestKey,
  readPortalKey,
  readSigningKey,
  readTenantsOfOldKeys,
  readTokenKeys,
  retireInvitationKey,
  retireTokenKey,
} from './store.ts';

const portalPlace = { table: 'installation_key', tenant: '', purpose: 'portal' } as const;

/**
 * Makes the tenant's access-token key when it has none for the algorithm that its spec wants; runs under the tenant's
 * row lock.
 * @returns whether a key was made
 */
export async function ensureKeys(
  services: KeyMaking,
  write: { tx: Transaction; tenant: string; spec: TenantSpec },
): Promise<boolean> {
  const { tx, tenant, spec } = write;
  const algorithm = signingAlgorithm(spec);
  const newest = await readNewestKey(tx, tenant, 'access');
  if (newest?.algorithm === algorithm) return false;
  await replaceKey(services, { tx, tenant, purpose: 'access', algorithm });
  return true;
}

/**
 * Makes a key of tokens that signs from limits.keyPublishedAheadMs on: whoever verifies has read it by then. The one
 * before it signs until then, and verifies for as long as what it signed is used. The first one signs at once.
 */
async function replaceKey(
  { encrypter, clock }: KeyMaking,
  { tx, tenant, purpose, algorithm }: { tx: Transaction; tenant: string; purpose: TokenPurpose; algorithm: Algorithm },
): Promise<void> {
  const nowMs = clock.now();
  const now = new Date(nowMs).toISOString();
  await deleteRetiredKeys(tx, tenant, now);
  const isFirst = (await readNewestKey(tx, tenant, purpose)) === undefined;
  const activatesAtMs = isFirst ? nowMs : nowMs + limits.keyPublishedAheadMs;
  await retireTokenKey(tx, tenant, purpose, new Date(activatesAtMs + usedForMs[purpose]).toISOString());
  const made = await makeKeyPair(encrypter, algorithm, { table: 'signing_key', tenant, purpose });
  await insertTokenKey(tx, tenant, purpose, made, {
    createdAt: now,
    activatesAt: new Date(activatesAtMs).toISOString(),
  });
}

/** By the schedule, or by whoever asks. */
type Rotation = {
  /** Only keys that are so old. */
  olderThanMs?: number;
};

/** `activatesAt`: when the new key begins to sign. */
type Rotated = { purpose: TokenPurpose; kid: string; activatesAt: string };

/**
 * Makes new keys of the tenant's tokens. No token and no session ends: the keys before go on to verify. One that was made
 * and does not sign yet is not replaced.
 * @returns the newest key of each purpose that the tenant has
 * @throws Problem tenant_not_found
 */
export async function rotateKeys(
  services: KeyMaking & { write: WriteTenant },
  tenant: string,
  writer: Writer,
  { olderThanMs = 0 }: Rotation = {},
): Promise<ConfigWritten<Rotated[]>> {
  return services.write(tenant, writer, async (unit) => {
    const { tx, tenantRow } = unit;
    const rotated: Rotated[] = [];
    for (const purpose of ['access', 'identity'] as const) {
      const before = await readNewestKey(tx, tenant, purpose);
      if (before === undefined) continue;
      const nowMs = services.clock.now();
      const isDue = Date.parse(before.activates_at) <= nowMs && Date.parse(before.created_at) + olderThanMs <= nowMs;
      if (isDue) {
        const algorithm = purpose === 'access' ? signingAlgorithm(tenantRow.spec) : before.algorithm;
        await replaceKey(services, { tx, tenant, purpose, algorithm });
        unit.changed('key', purpose, 'rotate');
      }
      const newest = isDue ? await readNewestKey(tx, tenant, purpose) : before;
      if (newest === undefined) continue;
      const made = { purpose, kid: newest.kid, activatesAt: newest.activates_at };
      if (isDue) unit.emit(signingKeyRotated, { requestor: writer.actor, ...made });
      rotated.push(made);
    }
    return rotated;
  });
}

/** The tenant's keys that sign, will sign or still verify. */
export async function listKeys({ database, clock }: TokenKeyServices, tenant: string): Promise<KeyView[]> {
  const nowMs = clock.now();
  const rows = await database.read(tenant, (tx) => readKeys(tx, tenant, new Date(nowMs).toISOString()));
  return statesOf(rows, nowMs);
}

/** Rotates the keys of all tenants that are limits.signingKeyAgeMsMax old. @throws what the first failure threw, at the end */
export async function rotateOldKeys(services: TokenKeyServices & { write: WriteTenant }): Promise<void> {
  const olderThanMs = limits.signingKeyAgeMsMax;
  const before = new Date(services.clock.now() - olderThanMs).toISOString();
  const failures: unknown[] = [];
  for (const tenant of await services.database.system((tx) => readTenantsOfOldKeys(tx, before))) {
    await rotateKeys(services, tenant, itself, { olderThanMs }).catch((error) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

/** Denied tokens that have expired need not be known any more. */
export async function forgetExpiredDenials({ database, clock }: Pick<TokenKeyServices, 'database' | 'clock'>) {
  const now = new Date(clock.now()).toISOString();
  await database.system((tx) => removeExpiredDenials(tx, now));
}

/** Nobody asked for it. */
const itself: Writer = { owner: apiOwner, actor: 'accord' };

/** For how long after its last signature a key verifies: the longest lifetime that a tenant may ever have asked for. */
const usedForMs = { access: limits.accessTokenTtlMsMax, identity: limits.sessionTtlMsMax } as const;

/** The key that signs the tenant's access tokens now. @throws Error when it has none, MasterKeyError */
export async function accessKey({ encrypter, clock }: KeyMaking, tx: Transaction, tenant: string): Promise<SigningKey> {
  const row = await readSigningKey(tx, tenant, 'access', new Date(clock.now()).toISOString());
  if (row === undefined) throw new Error(`the tenant ${tenant} has no signing key`);
  return openKey(encrypter, row, { table: 'signing_key', tenant, purpose: 'access' });
}

type KeyMaking = { encrypter: Encrypter; clock: Clock };
export type TokenKeyServices = KeyMaking & { database: Database };

/** The keys of the tenant's access tokens. @throws MasterKeyError */
export function accessKeys(services: TokenKeyServices, tenant: string): Promise<TokenKeys> {
  return tokenKeys(services, tenant, 'access');
}

/**
 * The keys of the tenant's ID tokens: RS256, which every relying party must know (OpenID Connect Core section 15.1). The
 * first one is made when it is first asked for.
 * @throws MasterKeyError
 */
export async function identityKeys(
  services: TokenKeyServices & { write: WriteTenant },
  tenant: string,
): Promise<TokenKeys> {
  const found = await tokenKeys(services, tenant, 'identity');
  if (found.keys.length > 0) return found;
  const { encrypter, clock } = services;
  // Before the transaction: it takes 200 ms and more.
  const made = await makeKeyPair(encrypter, 'RS256', { table: 'signing_key', tenant, purpose: 'identity' });
  await services.write(tenant, itself, async (unit) => {
    // Another server may have been first; then its key is the tenant's.
    if ((await readNewestKey(unit.tx, tenant, 'identity')) !== undefined) return;
    const now = new Date(clock.now()).toISOString();
    await insertTokenKey(unit.tx, tenant, 'identity', made, { createdAt: now, activatesAt: now });
    unit.changed('key', 'identity', 'create');
  });
  return tokenKeys(services, tenant, 'identity');
}

async function tokenKeys(
  { database, encrypter, clock }: TokenKeyServices,
  tenant: string,
  purpose: TokenPurpose,
): Promise<TokenKeys> {
  const nowMs = clock.now();
  const rows = await database.read(tenant, (tx) => readTokenKeys(tx, tenant, purpose, new Date(nowMs).toISOString()));
  const place = { table: 'signing_key', tenant, purpose } as const;
  return tokenKeysOf(rows, nowMs, (row) => openJwk(encrypter, row, place));
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
