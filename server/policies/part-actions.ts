/** The verbs on libraries and data documents. The Config API and the operator call the same ones. */
import { isDeepStrictEqual } from 'node:util';
import { authorOf } from '../core/author.ts';
import type { Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { checkDeletionOwnership, checkOwnership, type Owner, type Writer } from '../core/ownership.ts';
import type { ProblemPlace } from '../core/problems.ts';
import { checkIfMatch } from '../http/config-api.ts';
import type { LibraryModule, RegoError } from '../rego/index.ts';
import type { ConfigWritten } from '../tenants/index.ts';
import { type ConfigUnit, type ConfigWriteServices, transferRow, write } from '../writes/index.ts';
import type { PolicyServices } from './actions.ts';
import { compilerFailed, describe, isForeign } from './artifacts.ts';
import {
  checkDependents,
  checkLibrary,
  type LibraryUses,
  type Recompiled,
  readSeen,
  type Seen,
  seenNow,
  setWith,
} from './dependents.ts';
import { policyUpdated } from './events.ts';
import { Moved, unlessMoved } from './moved.ts';
import type { OwnedPartRow, UserRow } from './part-schema.ts';
import {
  addPartRevision,
  countParts,
  nextPartNumber,
  readContent,
  readPart,
  readUsers,
  removePart,
  replaceUses,
  updatePartOwner,
  upsertPart,
} from './part-store.ts';
import {
  checkOverlap,
  checkPackages,
  checkPartName,
  contentOf,
  digestOf,
  isSamePart,
  modulesOf,
  outwardRefs,
  type Part,
  type PartBody,
  type PartName,
  type PartSet,
  usedParts,
} from './parts.ts';
import { policyProblem } from './problems.ts';
import { insertArtifact, updateAllowTested, updateCompiled } from './store.ts';

export type PutPartOptions = { ifMatch?: string; dryRun?: boolean };
type Prepared = {
  name: PartName;
  content: string;
  digest: string;
  bytes: number;
  refs: string[][];
  uses: readonly Part[];
  seen: Seen;
  recompiled: Recompiled[];
  libraries: LibraryUses[];
};

/**
 * Creates or replaces a library or a data document. Every policy that uses it is compiled and tested with it first: all
 * of them change with it, or nothing does. Unchanged, it does nothing.
 * @throws Problem policy_part_name_invalid, policy_library_invalid, policy_library_cycle, policy_data_invalid,
 *   policy_reference_unknown, policy_part_overlaps, policy_part_breaks_policies, too_many_dependents, policy_part_quota_reached,
 *   policy_parts_changing, precondition_failed, tenant_not_found, compiler_busy, evaluator_busy, and those of ownership
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
  return unlessMoved(async () => {
    const prepared = await prepare(services, tenant, part, content);
    return write(services, authorOf(tenant, writer), { locks: 'configuration' }, (unit) =>
      replace(unit, writer, prepared, options),
    );
  });
}

/** All that can be done without the lock. */
async function prepare(services: PolicyServices, tenant: string, name: PartName, content: string): Promise<Prepared> {
  const seen = await readSeen(services.database, tenant, name);
  checkOverlap(name, seen.parts);
  const digest = digestOf(content);
  const own = name.kind === 'library' ? modulesOf(name.name, content) : [];
  const refs = await refsOf(services, tenant, name.name, own);
  const before = seen.parts.find((one) => isSamePart(one, name));
  const bytes = Buffer.byteLength(content);
  const prepared = { name, content, digest, bytes, refs, seen };
  if (before?.digest === digest) return { ...prepared, uses: [], recompiled: [], libraries: [] };
  const part: Part = { ...name, number: (before?.number ?? 0) + 1, digest, bytes, refs };
  const set = setWith(services, tenant, seen.parts, part, content);
  const uses = usedParts(set.parts, { package: name.kind === 'library' ? name.name : '', refs }, name.name);
  if (name.kind === 'library') await checkItself(services, tenant, set, { library: name.name, own });
  return { ...prepared, uses, ...(await checkDependents(services, tenant, part, { seen, set })) };
}

async function refsOf(
  { artifacts }: PolicyServices,
  tenant: string,
  library: string,
  own: readonly LibraryModule[],
): Promise<string[][]> {
  if (own.length === 0) return [];
  const needs = await artifacts.compiler.needs(tenant, own).catch(compilerFailed);
  checkPackages(library, needs);
  return outwardRefs(library, needs);
}

/** @throws Problem policy_library_invalid with module, line and column; policy_reference_unknown */
async function checkItself(
  services: PolicyServices,
  tenant: string,
  set: PartSet,
  { library, own }: { library: string; own: readonly LibraryModule[] },
): Promise<void> {
  const { errors } = await checkLibrary(services, tenant, set, library);
  throwLibraryErrors(errors, own);
}

/** @throws Problem policy_library_invalid, policy_reference_unknown where there is an error */
export function throwLibraryErrors(errors: readonly RegoError[], own: readonly LibraryModule[]): void {
  if (errors.length === 0) return;
  throw policyProblem(errors.every(isForeign) ? 'policy_reference_unknown' : 'policy_library_invalid', {
    detail: errors.map(describe).join('; '),
    errors: errors.map((error): ProblemPlace => {
      const index = own.findIndex(({ name }) => name === error.file);
      if (index < 0) return { pointer: '/modules', detail: describe(error) };
      return { pointer: `/modules/${index}/rego`, detail: error.message, line: error.row, column: error.col };
    }),
  });
}

async function replace(unit: ConfigUnit, writer: Writer, prepared: Prepared, options: PutPartOptions) {
  const { tx, tenant, revision } = unit;
  const { name, digest, bytes, refs, content, uses, recompiled, libraries } = prepared;
  const row = await readPart(tx, tenant, name);
  const ownership = checkOwnership(row?.owner, writer, unit.tenantRow.spec.configAuthority);
  checkIfMatch(options.ifMatch, row?.number);
  if (row?.digest === digest && isDeepStrictEqual(row.owner, writer.owner)) return { number: row.number };
  await checkAsSeen(unit, prepared);
  if (row === undefined) await checkQuota(unit);
  if (options.dryRun) return { number: row?.number ?? 0 };
  const isSame = row?.digest === digest; // and of another owner
  const action = ownership === 'adopted' ? 'adopt' : 'put';
  const number = await nextPartNumber(tx, tenant, name);
  const part = isSame ? row : { ...name, number, digest, bytes, refs };
  await upsertPart(tx, tenant, { ...part, revision }, writer);
  if (!isSame) {
    const entry = { ...name, number, action, revision, digest, content };
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
  const { name, digest, about, packed, allowTested } = policy;
  if (part.kind === 'data') return updateAllowTested(tx, tenant, name, allowTested);
  if (packed) await insertArtifact(tx, tenant, digest, { ...packed, about });
  const number = policy.number + 1;
  const stored = { name, number, revision, artifact: digest, reads: about.reads, allowTested };
  await updateCompiled(tx, tenant, stored, writer, limits.policyRevisionsKept);
  await replaceUses(tx, tenant, { kind: 'policy', name }, policy.uses);
  unit.changed('policy', name, 'library', { number, library: part.name });
  unit.emit(policyUpdated, { requestor: writer.actor, name, number });
}

/** @throws Moved */
async function checkAsSeen({ tx, tenant }: ConfigUnit, { name, seen }: Prepared): Promise<void> {
  const now = await seenNow(tx, tenant, name);
  if (!isDeepStrictEqual(now, seen)) throw new Moved();
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
  options: { ifMatch?: string } = {},
): Promise<ConfigWritten<void>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const { tx, revision } = unit;
    const row = await readPart(tx, tenant, name);
    if (row === undefined) {
      if (writer.owner.source === 'api') throw policyProblem('policy_part_not_found');
      return;
    }
    checkDeletionOwnership(row.owner, writer, unit.tenantRow.spec.configAuthority);
    checkIfMatch(options.ifMatch, row.number);
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

/** Gives the writer's library or document to another owner as it is; does nothing when it is not (any more) the writer's. */
export function transferPart(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  part: PartName,
  to: Owner,
): Promise<ConfigWritten<void>> {
  const row = {
    kind: `policy_${part.kind}`,
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
