/** The verbs on libraries and data documents. The Config API and the operator call the same ones. */
import { isDeepStrictEqual } from 'node:util';
import { authorOf } from '../core/author.ts';
import type { Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { checkDeletionOwnership, checkOwnership, type Owner, type Writer } from '../core/ownership.ts';
import { checkPreconditions, type Preconditions } from '../http/config-api.ts';
import type { ConfigWritten } from '../tenants/index.ts';
import { type ConfigUnit, type ConfigWriteServices, transferRow, write } from '../writes/index.ts';
import type { PolicyServices } from './actions.ts';
import { ConflictError, retryOnConflict } from './conflict.ts';
import {
  type Checking,
  checkDependents,
  type LibraryUses,
  partSetWith,
  type Recompiled,
  readSeen,
  type Seen,
  seenNow,
} from './dependents.ts';
import { checkOwnershipEarly } from './early-ownership.ts';
import { policyUpdated } from './events.ts';
import { checkLibrary, partOf } from './part-compiling.ts';
import type { OwnedPartRow, UserRow } from './part-schema.ts';
import {
  addPartRevision,
  countParts,
  nextPartNumber,
  readContent,
  readPart,
  readPartRevision,
  readUsers,
  removePart,
  replaceUses,
  updatePartOwner,
  upsertPart,
} from './part-store.ts';
import {
  checkOverlap,
  checkPartName,
  contentOf,
  digestOf,
  isSamePart,
  type Part,
  type PartBody,
  type PartName,
  type PartRevision,
} from './parts.ts';
import { policyProblem } from './problems.ts';
import { updateAllowTested, updateCompiled } from './store.ts';

type PutPartOptions = Checking & Preconditions & { action?: 'put' | 'restore' };
type Prepared = {
  /** Unchanged, it is as it is stored. */
  part: Part;
  content: string;
  uses: readonly Part[];
  seen: Seen;
  recompiled: Recompiled[];
  libraries: LibraryUses[];
};

/**
 * Creates or replaces a library or a data document. Every policy that uses it is compiled and tested with it first: all
 * of them change with it, or nothing does. Unchanged, it does nothing.
 * @throws Problem policy_part_name_invalid, policy_library_invalid, policy_library_cycle, policy_data_invalid,
 *   policy_reference_unknown, policy_part_overlaps, policy_part_breaks_policies, policy_libraries_too_large, too_many_dependents,
 *   policy_part_quota_reached, client_closed_request, policy_parts_changing, precondition_failed, tenant_not_found, compiler_busy, evaluator_busy, and those of ownership
 */
export async function putPart(
  services: PolicyServices,
  writer: Writer,
  tenant: string,
  name: string,
  body: PartBody,
  options: PutPartOptions = {},
): Promise<ConfigWritten<{ number: number }>> {
  const part = { kind: body.kind, name };
  checkPartName(part);
  const content = contentOf(body);
  return retryOnConflict(async () => {
    await checkOwnershipEarly(services, writer, tenant, (tx) => readPart(tx, tenant, part));
    const prepared = await prepare(services, tenant, part, { content, options });
    return write(services, authorOf(tenant, writer), { locks: 'configuration' }, (unit) =>
      replace(unit, writer, prepared, options),
    );
  });
}

/** All that can be done without the lock. */
async function prepare(
  services: PolicyServices,
  tenant: string,
  name: PartName,
  { content, options }: { content: string; options: Checking },
): Promise<Prepared> {
  const seen = await readSeen(services.database, tenant, name);
  checkOverlap(name, seen.parts);
  const before = seen.parts.find((one) => isSamePart(one, name));
  const nothing = { uses: [], recompiled: [], libraries: [] };
  if (before?.digest === digestOf(content)) return { part: before, content, seen, ...nothing };
  const { compiler } = services.artifacts;
  const part = await partOf(compiler, tenant, { ...name, number: (before?.number ?? 0) + 1 }, content);
  const set = partSetWith(services, tenant, seen.parts, part, content);
  const uses = part.kind === 'library' ? await checkLibrary(compiler, tenant, set, part) : [];
  return { part, content, uses, seen, ...(await checkDependents(services, tenant, part, { seen, set }, options)) };
}

async function replace(unit: ConfigUnit, writer: Writer, prepared: Prepared, options: PutPartOptions) {
  const { tx, tenant, revision } = unit;
  const { content, uses, recompiled, libraries } = prepared;
  const { kind, name: called, digest } = prepared.part;
  const name = { kind, name: called };
  const row = await readPart(tx, tenant, name);
  const ownership = checkOwnership(row?.owner, writer, unit.tenantRow.spec.configAuthority);
  checkPreconditions(options, row?.number);
  if (row?.digest === digest && isDeepStrictEqual(row.owner, writer.owner)) return { number: row.number };
  await checkAsSeen(unit, prepared);
  if (row === undefined) await checkQuota(unit);
  if (options.dryRun) return { number: row?.number ?? 0 };
  const isSame = row?.digest === digest; // and of another owner
  const action = ownership === 'adopted' ? 'adopt' : (options.action ?? 'put');
  const number = await nextPartNumber(tx, tenant, name);
  const part = isSame ? row : { ...prepared.part, number };
  await upsertPart(tx, tenant, { ...part, revision }, writer);
  if (!isSame) {
    const entry = { ...name, number, action, revision, of: { part, content } };
    await addPartRevision(tx, tenant, entry, writer, limits.policyPartRevisionsKept);
    if (name.kind === 'library') await replaceUses(tx, tenant, { kind: 'library', name: name.name }, uses);
  }
  unit.changed(`policy_${name.kind}`, name.name, action, { number: part.number });
  for (const library of libraries) await replaceUses(tx, tenant, { ...library, kind: 'library' }, library.uses);
  for (const policy of recompiled) await storeRecompiled(unit, writer, name, policy);
  return { number: part.number };
}

/** A document changes no policy; what its tests say may be another. */
async function storeRecompiled(unit: ConfigUnit, writer: Writer, part: PartName, policy: Recompiled): Promise<void> {
  const { tx, tenant, revision } = unit;
  const { name, digest, about, allowTested } = policy;
  if (part.kind === 'data') return updateAllowTested(tx, tenant, name, allowTested, writer);
  const number = policy.number + 1;
  const stored = { name, number, revision, artifact: digest, reads: about.reads, allowTested };
  await updateCompiled(tx, tenant, stored, writer, limits.policyRevisionsKept);
  await replaceUses(tx, tenant, { kind: 'policy', name }, policy.uses);
  unit.changed('policy', name, 'library', { number, library: part.name });
  unit.emit(policyUpdated, { requestor: writer.actor, name, number });
}

/** @throws ConflictError */
async function checkAsSeen({ tx, tenant }: ConfigUnit, { part, seen }: Prepared): Promise<void> {
  const now = await seenNow(tx, tenant, part);
  if (!isDeepStrictEqual(now, seen)) throw new ConflictError();
}

/** @throws Problem policy_part_quota_reached */
async function checkQuota({ tx, tenant }: ConfigUnit): Promise<void> {
  if ((await countParts(tx, tenant)) < limits.policyPartsMax) return;
  const detail = `A tenant can have at most ${limits.policyPartsMax} libraries and data documents.`;
  throw policyProblem('policy_part_quota_reached', { detail });
}

/**
 * Removes a library or a document that nothing uses.
 * @throws Problem policy_part_not_found for an API caller, policy_part_in_use, precondition_failed, ownership
 */
export async function deletePart(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  name: PartName,
  options: Preconditions = {},
): Promise<ConfigWritten<void>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const { tx, revision } = unit;
    const row = await readPart(tx, tenant, name);
    if (row === undefined) {
      if (writer.owner.source === 'api') throw policyProblem('policy_part_not_found');
      return;
    }
    checkDeletionOwnership(row.owner, writer, unit.tenantRow.spec.configAuthority);
    checkPreconditions(options, row.number);
    const users = await readUsers(tx, tenant, name);
    if (users.length > 0) throw policyProblem('policy_part_in_use', { detail: describeUsers(name, users) });
    const number = await nextPartNumber(tx, tenant, name);
    await removePart(tx, tenant, name);
    if (name.kind === 'library') await replaceUses(tx, tenant, { kind: 'library', name: name.name }, []);
    const entry = { ...name, number, action: 'delete', revision };
    await addPartRevision(tx, tenant, entry, writer, limits.policyPartRevisionsKept);
    unit.changed(`policy_${name.kind}`, name.name, 'delete');
  });
}

const NAMED_MAX = 20;

function describeUsers({ kind, name }: PartName, users: readonly UserRow[]): string {
  const named = users.slice(0, NAMED_MAX).map(({ user_kind, user_name }) => `${user_kind} ${user_name}`);
  const more = users.length > NAMED_MAX ? [`and ${users.length - NAMED_MAX} more`] : [];
  return `The ${kind === 'data' ? 'data document' : kind} ${name} is used by ${[...named, ...more].join(', ')}.`;
}

/**
 * Puts an earlier revision back as the newest one.
 * @throws Problem policy_part_revision_not_found, and what putPart throws
 */
export async function restorePart(
  services: PolicyServices,
  writer: Writer,
  tenant: string,
  revision: PartRevision,
  options: Pick<PutPartOptions, keyof Preconditions | 'signal'> = {},
): Promise<ConfigWritten<{ number: number }>> {
  const row = await services.database.read(tenant, (tx) => readPartRevision(tx, tenant, revision));
  if (row === undefined || row.content === null) throw policyProblem('policy_part_revision_not_found');
  const held = JSON.parse(row.content);
  const { kind, name } = revision;
  const body: PartBody = kind === 'library' ? { kind, modules: held } : { kind, value: held };
  return putPart(services, writer, tenant, name, body, { ...options, action: 'restore' });
}

/** Gives the writer's library or document to another owner as it is; does nothing when it is not (any more) the writer's. */
export function transferPart(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  part: PartName,
  to: Owner,
): Promise<ConfigWritten<void>> {
  const row = {
    kind: `policy_${part.kind}` as const,
    name: part.name,
    ownerOf: async (tx: Transaction) => (await readPart(tx, tenant, part))?.owner,
    setOwner: (tx: Transaction, owner: Owner) => updatePartOwner(tx, tenant, part, owner),
  };
  return transferRow(services, tenant, writer, row, to);
}

/** A library or document as it is stored. @throws Problem policy_part_not_found */
export async function requirePart(
  tx: Transaction,
  tenant: string,
  name: PartName,
): Promise<{ row: OwnedPartRow; content: string }> {
  const row = await readPart(tx, tenant, name);
  const content = row && (await readContent(tx, tenant, row));
  if (row === undefined || content === undefined) throw policyProblem('policy_part_not_found');
  return { row, content };
}
