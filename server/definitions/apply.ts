/** The verbs of manifests on consent definitions: a whole definition at once, the archive, and giving one away. */
import { isDeepStrictEqual } from 'node:util';
import type { ConsentDefinitionSpec } from '../../crds/index.ts';
import { authorOf } from '../core/author.ts';
import type { Transaction } from '../core/db/database.ts';
import { checkDeletionOwnership, checkOwnership, type Owner, type Writer } from '../core/ownership.ts';
import type { ConfigWritten } from '../tenants/index.ts';
import { type ConfigWriteServices, transferRow, write } from '../writes/index.ts';
import { checkQuota, type DefinitionServices } from './actions.ts';
import { type DefinitionState, planOf, stateOf } from './manifest.ts';
import { isSameDocument } from './rules.ts';
import type { DefinitionPlan, StoredDefinition, StoredVersion, VersionPlan } from './schema.ts';
import {
  archiveDefinition,
  readDefinition,
  removeDocument,
  removeVersion,
  updateDefinitionOwner,
  updateEndOfLife,
  upsertDefinition,
  upsertDocument,
  upsertVersion,
} from './store.ts';

/**
 * Makes a definition what a manifest says; unchanged, it does nothing.
 * @throws Problem of planOf, definition_quota_reached, and those of ownership
 */
export async function applyDefinition(
  services: DefinitionServices,
  writer: Writer,
  tenant: string,
  spec: ConsentDefinitionSpec,
): Promise<ConfigWritten<{ revision: number }>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const stored = await readDefinition(unit.tx, tenant, spec.name);
    const ownership = checkOwnership(
      stored?.archived ? undefined : stored?.owner,
      writer,
      unit.tenantRow.spec.configAuthority,
    );
    const plan = planOf(stored, spec, { tenant: unit.tenantRow.spec, now: unit.now });
    if (stored === undefined) await checkQuota(unit);
    else if (!stored.archived && isDeepStrictEqual(stored.owner, writer.owner) && isSame(stored, plan)) {
      return { revision: revisionOf(stored) };
    }
    await savePlan(unit.tx, tenant, stored, plan, unit.revision, writer);
    const action = ownership === 'adopted' ? 'adopt' : stored?.archived ? 'restore' : 'put';
    unit.changed('consent_definition', spec.name, action);
    return { revision: unit.revision };
  });
}

/** The newest revision of all of it. */
function revisionOf({ revision, versions }: StoredDefinition): number {
  const below = versions.flatMap((one) => [one.revision, ...one.documents.map((document) => document.revision)]);
  return Math.max(revision, ...below);
}

function isSame(stored: StoredDefinition, plan: DefinitionPlan): boolean {
  return isDeepStrictEqual(sorted(stored), sorted(plan));
}

/** Without revisions, in an order of its own. */
function sorted({ name, attributes, languageFallback, versions }: DefinitionPlan): DefinitionPlan {
  const order = (a: string, b: string) => (a < b ? -1 : 1);
  return {
    name,
    attributes,
    ...(languageFallback && { languageFallback }),
    versions: versions
      .map(({ version, attributes, endOfLife, documents }) => ({
        version,
        attributes,
        ...(endOfLife && { endOfLife }),
        documents: documents
          .map(({ version, language, effectiveDate, attributes, content }) => ({
            ...{ version, language, effectiveDate, attributes, ...(content && { content }) },
          }))
          .sort((a, b) => order(`${a.language}/${a.version}`, `${b.language}/${b.version}`)),
      }))
      .sort((a, b) => order(a.version, b.version)),
  };
}

/** Writes what differs. */
async function savePlan(
  tx: Transaction,
  tenant: string,
  stored: StoredDefinition | undefined,
  plan: DefinitionPlan,
  revision: number,
  writer: Writer,
): Promise<void> {
  const { name } = plan;
  await upsertDefinition(tx, tenant, { ...plan, revision }, writer);
  const wanted = new Set(plan.versions.map((one) => one.version));
  for (const { version } of stored?.versions ?? []) {
    if (!wanted.has(version)) await removeVersion(tx, tenant, { name, version });
  }
  for (const version of plan.versions) {
    const before = stored?.versions.find((one) => one.version === version.version);
    await saveVersion(tx, tenant, name, before, version, revision);
  }
}

async function saveVersion(
  tx: Transaction,
  tenant: string,
  name: string,
  stored: StoredVersion | undefined,
  { version, attributes, endOfLife, documents }: VersionPlan,
  revision: number,
): Promise<void> {
  const key = { name, version };
  if (!isDeepStrictEqual(stored?.attributes, attributes))
    await upsertVersion(tx, tenant, key, { attributes, revision });
  if (!isDeepStrictEqual(stored?.endOfLife, endOfLife)) await updateEndOfLife(tx, tenant, key, { endOfLife, revision });
  const isOne = (a: { language: string; version: string }) => (b: { language: string; version: string }) =>
    a.language === b.language && a.version === b.version;
  for (const old of stored?.documents ?? []) {
    if (!documents.some(isOne(old))) await removeDocument(tx, tenant, key, old);
  }
  for (const document of documents) {
    const before = stored?.documents.find(isOne(document));
    if (!before || !isSameDocument(before, document)) await upsertDocument(tx, tenant, key, { document, revision });
  }
}

/** Its manifest is gone: the definition is archived. Consents and the ledger keep what they have. */
export function archiveManifestDefinition(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  name: string,
): Promise<ConfigWritten<void>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const row = await readDefinition(unit.tx, tenant, name);
    if (row === undefined || row.archived) return;
    checkDeletionOwnership(row.owner, writer, unit.tenantRow.spec.configAuthority);
    await archiveDefinition(unit.tx, tenant, { name, revision: unit.revision }, writer);
    unit.changed('consent_definition', name, 'archive');
  });
}

/** Gives the writer's definition to another owner as it is; does nothing when it is not (any more) the writer's. */
export function transferDefinition(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  name: string,
  to: Owner,
): Promise<ConfigWritten<void>> {
  const row = {
    kind: 'consent_definition' as const,
    name,
    ownerOf: async (tx: Transaction) => (await readDefinition(tx, tenant, name))?.owner,
    setOwner: (tx: Transaction, owner: Owner) => updateDefinitionOwner(tx, tenant, name, owner),
  };
  return transferRow(services, tenant, writer, row, to);
}

/** A definition that is not archived, with what is active and locked of it now; undefined when there is none. */
export async function findDefinition(
  { database, clock }: DefinitionServices,
  tenant: string,
  name: string,
): Promise<(Pick<StoredDefinition, 'owner' | 'revision'> & { state: DefinitionState }) | undefined> {
  const row = await database.tenantSnapshot(tenant, (tx) => readDefinition(tx, tenant, name));
  if (row === undefined || row.archived) return undefined;
  return { owner: row.owner, revision: revisionOf(row), state: stateOf(row, clock.now()) };
}
