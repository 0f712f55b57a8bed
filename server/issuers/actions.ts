/** The verbs on trusted issuers and the token mapping. The Config API and the operator call the same ones. */

import { isDeepStrictEqual } from 'node:util';
import { authorOf } from '../core/author.ts';
import type { Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { checkDeletionOwnership, checkOwnership, type Owner, type Writer } from '../core/ownership.ts';
import { problem } from '../core/problems.ts';
import { checkPreconditions, type Preconditions } from '../http/config-api.ts';
import { type ConfigWritten, readTenant, storeSecrets, type TenantRow } from '../tenants/index.ts';
import { type ConfigUnit, type ConfigWriteServices, transferRow, write } from '../writes/index.ts';
import { issuerProblem } from './problems.ts';
import { checkIssuer, issuerSpecOf, keepsLoginSecret, type LoginSecret, withLoginSecret } from './rules.ts';
import type { IssuerRow, IssuerSpec, TokenMappingSpec } from './schema.ts';
import { loadIssuers, readIssuer, removeIssuer, updateOwner, updateTokenMapping, upsertIssuer } from './store.ts';

export type IssuerServices = ConfigWriteServices & {
  /** No issuer under it can be trusted: they are this installation's own. */
  baseUrl: string;
  encrypter: Pick<Encrypter, 'encrypt' | 'digest'>;
};

/**
 * Trusts an issuer, or changes how; unchanged, it does nothing.
 * @param given of a checked manifest or body (checkIssuerBody); what only a manifest has is left out
 * @throws Problem issuer_is_ours, issuer_audience_unknown, duplicate_issuer, issuer_mixes_actors, issuer_quota_reached,
 *   login_secret_missing, precondition_failed, tenant_not_found, and those of ownership; nothing is changed then
 */
export async function putIssuer(
  services: IssuerServices,
  writer: Writer,
  tenant: string,
  name: string,
  given: IssuerSpec,
  options: Preconditions & { loginSecret?: LoginSecret } = {},
): Promise<ConfigWritten<{ revision: number }>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const all = await loadIssuers(unit.tx, tenant);
    const row = all.find((issuer) => issuer.name === name);
    const ownership = checkOwnership(row?.owner, writer, unit.tenantRow.spec.configAuthority);
    checkPreconditions(options, row?.revision);
    const told = issuerSpecOf(given);
    const spec = writer.owner.source === 'api' ? withLoginSecret(told, row?.spec, options.loginSecret) : told;
    checkIssuer(
      spec,
      all.filter((issuer) => issuer !== row),
      unit.tenantRow.spec,
      services.baseUrl,
    );
    await storeLoginSecret(services, unit, writer, { name, before: row?.spec, spec, secret: options.loginSecret });
    if (row && isDeepStrictEqual(row.spec, spec) && isDeepStrictEqual(row.owner, writer.owner))
      return { revision: row.revision };
    await upsertIssuer(unit.tx, tenant, { name, spec, revision: unit.revision }, writer);
    unit.changed('trusted_issuer', name, ownership === 'adopted' ? 'adopt' : 'put', { issuer: spec.issuer });
    return { revision: unit.revision };
  });
}

/** Where the secret of the log-in of an issuer's users lies among the tenant's, as `{client_secret}`. */
export function loginSecretName(issuer: string): string {
  return `trusted_issuer/${issuer}/login`;
}

/** A secret that is not told stays where it is sent to the same place; without a secretRef none stays. */
async function storeLoginSecret(
  { encrypter }: { encrypter: Pick<Encrypter, 'encrypt' | 'digest'> },
  unit: ConfigUnit,
  writer: Writer,
  of: { name: string; before: IssuerSpec | undefined; spec: IssuerSpec | undefined; secret: LoginSecret },
): Promise<void> {
  const { name, before, spec } = of;
  const isWanted = spec?.login?.secretRef !== undefined;
  const secret = isWanted ? (of.secret ?? undefined) : undefined;
  if (isWanted && secret === undefined && keepsLoginSecret(before, spec)) return;
  const secrets = secret === undefined ? {} : { [loginSecretName(name)]: { client_secret: secret } };
  await storeSecrets(encrypter, unit, secrets, writer, loginSecretName(name));
}

/**
 * Trusts an issuer no longer: its tokens are refused by every server that serves the returned revision.
 * @throws Problem issuer_not_found for an API caller (a manifest's deletion is idempotent), precondition_failed, ownership
 */
export async function deleteIssuer(
  services: IssuerServices,
  writer: Writer,
  tenant: string,
  name: string,
  options: Preconditions = {},
): Promise<ConfigWritten<void>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const row = await readIssuer(unit.tx, tenant, name);
    if (row === undefined) {
      if (writer.owner.source === 'api') throw issuerProblem('issuer_not_found');
      return;
    }
    checkDeletionOwnership(row.owner, writer, unit.tenantRow.spec.configAuthority);
    checkPreconditions(options, row.revision);
    await removeIssuer(unit.tx, tenant, name);
    const none = { before: row.spec, spec: undefined, secret: undefined };
    await storeLoginSecret(services, unit, writer, { name, ...none });
    unit.changed('trusted_issuer', name, 'delete', { issuer: row.spec.issuer });
  });
}

/** Gives the writer's issuer to another owner as it is; does nothing when it is not (any more) the writer's. */
export function transferIssuer(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  name: string,
  to: Owner,
): Promise<ConfigWritten<void>> {
  const row = {
    kind: 'trusted_issuer' as const,
    name,
    ownerOf: async (tx: Transaction) => (await readIssuer(tx, tenant, name))?.owner,
    setOwner: (tx: Transaction, owner: Owner) => updateOwner(tx, tenant, name, owner),
  };
  return transferRow(services, tenant, writer, row, to);
}

/** @throws Problem issuer_not_found */
export async function requireIssuer(tx: Transaction, tenant: string, name: string): Promise<IssuerRow> {
  const row = await readIssuer(tx, tenant, name);
  if (row === undefined) throw issuerProblem('issuer_not_found');
  return row;
}

/** The tenant's row, which holds the token mapping. @throws Problem tenant_not_found */
export async function requireTenant(tx: Transaction, tenant: string): Promise<TenantRow> {
  const row = await readTenant(tx, tenant);
  if (row === undefined) throw problem('tenant_not_found');
  return row;
}

/**
 * Replaces the tenant's token mapping, which is part of the Tenant and has the same owner.
 * @param options compared with the tenant's revision
 * @throws Problem owned_by_manifest, config_authority, precondition_failed, tenant_not_found
 */
export async function putTokenMapping(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  mapping: TokenMappingSpec,
  options: Preconditions = {},
): Promise<ConfigWritten<void>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const { owner, spec, revision } = unit.tenantRow;
    checkOwnership(owner, writer, spec.configAuthority);
    checkPreconditions(options, revision);
    if (isDeepStrictEqual(spec.tokenMapping, mapping)) return;
    await updateTokenMapping(unit.tx, tenant, mapping, writer);
    unit.changed('tenant', tenant, 'put', { tokenMapping: mapping });
  });
}
