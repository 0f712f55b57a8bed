/** Secrets of clients: made by a random generator, shown or handed over once, and recognized by a keyed digest. */

import { randomBytes, randomUUID } from 'node:crypto';
import { authorOf } from '../core/author.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import type { Writer } from '../core/ownership.ts';
import type { ConfigWritten } from '../tenants/index.ts';
import { type ConfigUnit, type ConfigWriteServices, write } from '../writes/index.ts';
import { requireOwnClient } from './found.ts';
import { clientProblem } from './problems.ts';
import { isLive, secretDigest } from './rules.ts';
import type { SecretRow } from './schema.ts';
import { expireSecret, insertSecret, loadSecrets, removeSecrets } from './store.ts';

export type SecretServices = { encrypter: Pick<Encrypter, 'digest'> };

const SECRET_BYTES = 32;

/** Form-decoding, which clients do before Basic authentication (RFC 6749 section 2.3.1), leaves these characters alone. */
const acceptable = new RegExp(`^[A-Za-z0-9._~-]{32,${limits.clientSecretCharsMax}}$`);

export function generateSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/**
 * Generates a secret beside the one that the client has.
 * @throws Problem client_not_found, client_has_no_secrets, client_secrets_full, ownership
 */
export function addSecret(
  services: ConfigWriteServices & SecretServices,
  writer: Writer,
  tenant: string,
  clientId: string,
): Promise<ConfigWritten<{ id: string; secret: string }>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    await requireOwnClient(unit, writer, clientId);
    const live = await liveSecrets(unit, clientId);
    if (live.length >= limits.clientSecretsMax) throw clientProblem('client_secrets_full');
    const secret = generateSecret();
    const id = await insert(services, unit, clientId, secret);
    return { id, secret };
  });
}

/** Ends a secret. @throws Problem client_not_found, client_has_no_secrets, client_secret_not_found, ownership */
export function deleteSecret(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  { clientId, id }: { clientId: string; id: string },
): Promise<ConfigWritten<void>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    await requireOwnClient(unit, writer, clientId);
    const live = await liveSecrets(unit, clientId);
    if (!live.some((one) => one.id === id)) throw clientProblem('client_secret_not_found');
    await removeSecrets(unit.tx, tenant, clientId, [id]);
    unit.changed('oauth_client', clientId, 'delete_secret', { secret: id });
  });
}

/**
 * Makes the client's secret this one, as its manifest's Secret has it. The one before works for
 * limits.clientSecretOverlapMs more, so that those who read it once have time to read it again.
 * @throws Problem client_secret_weak
 */
export async function storeSecret(
  services: SecretServices,
  unit: ConfigUnit,
  clientId: string,
  secret: string,
): Promise<void> {
  const { tx, tenant } = unit;
  if (!acceptable.test(secret)) throw clientProblem('client_secret_weak');
  const digest = digestOf(services, unit, clientId, secret);
  const live = await liveSecrets(unit, clientId);
  const same = live.find((one) => one.digest === digest);
  if (same !== undefined && same.expires_at === null && live.every((one) => one === same || one.expires_at !== null))
    return;
  const [newest, ...older] = live.filter((one) => one !== same);
  const surplus = older.map(({ id }) => id);
  if (surplus.length > 0) await removeSecrets(tx, tenant, clientId, surplus);
  if (newest?.expires_at === null)
    await expireSecret(tx, tenant, newest.id, new Date(unit.now + limits.clientSecretOverlapMs).toISOString());
  if (same !== undefined) {
    await expireSecret(tx, tenant, same.id, null);
    unit.changed('oauth_client', clientId, 'put_secret', { secret: same.id });
  } else await insert(services, unit, clientId, secret);
}

/** Those that have not expired, the newest first; the others are removed. */
async function liveSecrets(unit: ConfigUnit, clientId: string): Promise<SecretRow[]> {
  const { tx, tenant, now } = unit;
  const rows = await loadSecrets(tx, tenant, clientId);
  const lives = isLive(now);
  const ended = rows.filter((row) => !lives(row)).map(({ id }) => id);
  if (ended.length > 0) await removeSecrets(tx, tenant, clientId, ended);
  return rows.filter(lives);
}

async function insert(services: SecretServices, unit: ConfigUnit, clientId: string, secret: string): Promise<string> {
  const id = randomUUID();
  const digest = digestOf(services, unit, clientId, secret);
  await insertSecret(unit.tx, unit.tenant, {
    ...{ client_id: clientId, id, digest },
    ...{ created_at: unit.nowText, created_by: unit.by.actor },
  });
  unit.changed('oauth_client', clientId, 'put_secret', { secret: id });
  return id;
}

function digestOf({ encrypter }: SecretServices, unit: ConfigUnit, clientId: string, secret: string): string {
  const place = { tenant: unit.tenant, tenantCreatedAt: unit.tenantRow.created_at };
  return secretDigest(encrypter, place, clientId, secret);
}
