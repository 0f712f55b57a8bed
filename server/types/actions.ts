/** The verbs on types. The Config API and the operator call the same ones. */
import { isDeepStrictEqual } from 'node:util';
import { authorOf } from '../core/author.ts';
import type { Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { checkDeletionOwnership, checkOwnership, type Owner, type Writer } from '../core/ownership.ts';
import { checkPreconditions, type Preconditions } from '../http/config-api.ts';
import type { ConfigWritten } from '../tenants/index.ts';
import { type ConfigUnit, type ConfigWriteServices, transferRow, write } from '../writes/index.ts';
import { type Peers, resolveReferences, usesOfRelationshipType } from './inheritance.ts';
import { typeProblem } from './problems.ts';
import { checkTypeName, typeKeyOf } from './rules.ts';
import type {
  EntityKind,
  EntityTypeRow,
  EntityTypeSpec,
  RelationshipTypeRow,
  RelationshipTypeSpec,
  TypeKey,
} from './schema.ts';
import {
  countTypes,
  readEntityType,
  readRelationshipType,
  removeEntityType,
  removeRelationshipType,
  retireRelationshipType,
  updateEntityTypeOwner,
  updateRelationshipTypeOwner,
  upsertEntityType,
  upsertRelationshipType,
  usesOfEntityType,
} from './store.ts';

export type TypeServices = ConfigWriteServices;
export type PutTypeOptions = Preconditions & { dryRun?: boolean };
/** `peers`: types that name one another are written together. */
type PutRelationshipTypeOptions = PutTypeOptions & { peers?: Peers };

/**
 * Creates or replaces a type of actors or resources; unchanged, it does nothing.
 * @throws Problem type_name_invalid, type_name_taken, type_quota_reached, precondition_failed, and those of ownership
 */
export async function putEntityType(
  services: TypeServices,
  writer: Writer,
  tenant: string,
  type: { kind: EntityKind; name: string; spec: EntityTypeSpec },
  options: PutTypeOptions = {},
): Promise<ConfigWritten<{ revision: number }>> {
  const { kind, name, spec } = type;
  checkTypeName(name);
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const row = await readEntityType(unit.tx, tenant, name);
    if (row !== undefined && row.kind !== kind) {
      throw typeProblem('type_name_taken', { detail: `${name} is already the name of a type of ${row.kind}s.` });
    }
    const ownership = checkOwnership(row?.owner, writer, unit.tenantRow.spec.configAuthority);
    checkPreconditions(options, row?.revision);
    if (row && isDeepStrictEqual(row.spec, spec) && isDeepStrictEqual(row.owner, writer.owner))
      return { revision: row.revision };
    if (row === undefined) await checkQuota(unit, 'entity');
    if (options.dryRun) return { revision: row?.revision ?? 0 };
    await upsertEntityType(unit.tx, tenant, { name, kind, spec, revision: unit.revision }, writer);
    unit.changed(`${kind}_type`, name, ownership === 'adopted' ? 'adopt' : 'put');
    return { revision: unit.revision };
  });
}

/**
 * Removes a type of actors or resources.
 * @throws Problem type_not_found for an API caller (a manifest's deletion is idempotent), type_in_use,
 *   precondition_failed, ownership
 */
export async function deleteEntityType(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  { kind, name }: { kind: EntityKind; name: string },
  options: Preconditions = {},
): Promise<ConfigWritten<void>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const row = await readEntityType(unit.tx, tenant, name, 'delete');
    if (row === undefined || row.kind !== kind) return missing(writer);
    checkDeletionOwnership(row.owner, writer, unit.tenantRow.spec.configAuthority);
    checkPreconditions(options, row.revision);
    const use = await usesOfEntityType(unit.tx, tenant, name);
    if (use !== undefined) throw typeProblem('type_in_use', { detail: `The type is still used by ${use}.` });
    await removeEntityType(unit.tx, tenant, name);
    unit.changed(`${kind}_type`, name, 'delete');
  });
}

/** Gives the writer's type to another owner as it is; does nothing when it is not (any more) the writer's. */
export function transferEntityType(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  { kind, name }: { kind: EntityKind; name: string },
  to: Owner,
): Promise<ConfigWritten<void>> {
  const row = {
    kind: `${kind}_type` as const,
    name,
    ownerOf: async (tx: Transaction) => {
      const found = await readEntityType(tx, tenant, name);
      return found?.kind === kind ? found.owner : undefined;
    },
    setOwner: (tx: Transaction, owner: Owner) => updateEntityTypeOwner(tx, tenant, name, owner),
  };
  return transferRow(services, tenant, writer, row, to);
}

/**
 * Creates or replaces a relationship type; unchanged, it does nothing. Relationships that are there stay as they are.
 * @throws Problem type_unknown, type_quota_reached, precondition_failed, and those of ownership
 */
export async function putRelationshipType(
  services: TypeServices,
  writer: Writer,
  tenant: string,
  key: TypeKey,
  spec: RelationshipTypeSpec,
  options: PutRelationshipTypeOptions = {},
): Promise<ConfigWritten<{ revision: number }>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const row = await readRelationshipType(unit.tx, tenant, key);
    const ownership = checkOwnership(
      row?.retired ? undefined : row?.owner,
      writer,
      unit.tenantRow.spec.configAuthority,
    );
    checkPreconditions(options, row?.revision);
    const same = row && !row.retired && isDeepStrictEqual(row.spec, spec);
    if (same && isDeepStrictEqual(row.owner, writer.owner)) return { revision: row.revision };
    const together = await resolveReferences(unit, { key, spec }, options.peers);
    await checkQuota(unit, 'relationship', together.length + (row === undefined ? 1 : 0));
    if (options.dryRun) return { revision: row?.revision ?? 0 };
    await upsertRelationshipType(unit.tx, tenant, { key, spec, revision: unit.revision }, writer);
    unit.changed('relationship_type', typeKeyOf(key), ownership === 'adopted' ? 'adopt' : 'put');
    for (const peer of together) {
      await upsertRelationshipType(unit.tx, tenant, { ...peer, revision: unit.revision }, peer.writer);
      unit.changed('relationship_type', typeKeyOf(peer.key), 'put', undefined, peer.writer.actor);
    }
    return { revision: unit.revision };
  });
}

/**
 * Removes a relationship type. While relationships of it hold, the API is refused; a manifest that goes leaves it
 * retired: they go on holding, and no new ones are made.
 * @throws Problem type_not_found for an API caller, type_in_use, precondition_failed, ownership
 */
export async function deleteRelationshipType(
  services: TypeServices,
  writer: Writer,
  tenant: string,
  key: TypeKey,
  options: Preconditions = {},
): Promise<ConfigWritten<void>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const row = await readRelationshipType(unit.tx, tenant, key, 'delete');
    const byApi = writer.owner.source === 'api';
    if (row === undefined || (row.retired && !byApi)) return missing(writer);
    checkDeletionOwnership(row.owner, writer, unit.tenantRow.spec.configAuthority);
    checkPreconditions(options, row.revision);
    const now = unit.nowText;
    const uses = await usesOfRelationshipType(unit.tx, tenant, key, now);
    if (uses.use === undefined) {
      for (const one of [key, ...uses.with]) {
        await removeRelationshipType(unit.tx, tenant, one);
        unit.changed('relationship_type', typeKeyOf(one), 'delete');
      }
      return;
    }
    if (byApi) throw typeProblem('type_in_use', { detail: `The type is still used by ${uses.use}.` });
    await retireRelationshipType(unit.tx, tenant, key, unit.revision, writer);
    unit.changed('relationship_type', typeKeyOf(key), 'retire');
  });
}

/** Gives the writer's type to another owner as it is; does nothing when it is not (any more) the writer's. */
export function transferRelationshipType(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  key: TypeKey,
  to: Owner,
): Promise<ConfigWritten<void>> {
  const row = {
    kind: 'relationship_type' as const,
    name: typeKeyOf(key),
    ownerOf: async (tx: Transaction) => (await readRelationshipType(tx, tenant, key))?.owner,
    setOwner: (tx: Transaction, owner: Owner) => updateRelationshipTypeOwner(tx, tenant, key, owner),
  };
  return transferRow(services, tenant, writer, row, to);
}

/** @throws Problem type_quota_reached */
async function checkQuota({ tx, tenant }: ConfigUnit, table: 'entity' | 'relationship', more = 1): Promise<void> {
  if (more === 0 || (await countTypes(tx, tenant, table)) + more <= limits.typesMax) return;
  throw typeProblem('type_quota_reached', { detail: `A tenant can have at most ${limits.typesMax} of them.` });
}

function missing(writer: Writer): void {
  if (writer.owner.source === 'api') throw typeProblem('type_not_found');
}

/** @throws Problem type_not_found */
export async function requireEntityType(
  tx: Transaction,
  tenant: string,
  { kind, name }: { kind: EntityKind; name: string },
): Promise<EntityTypeRow> {
  const row = await readEntityType(tx, tenant, name);
  if (row === undefined || row.kind !== kind) throw typeProblem('type_not_found');
  return row;
}

/** @throws Problem type_not_found */
export async function requireRelationshipType(
  tx: Transaction,
  tenant: string,
  key: TypeKey,
): Promise<RelationshipTypeRow> {
  const row = await readRelationshipType(tx, tenant, key);
  if (row === undefined) throw typeProblem('type_not_found');
  return row;
}
