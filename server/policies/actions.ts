/** The verbs on policies. The Config API and the operator call the same ones. */
import { isDeepStrictEqual } from 'node:util';
import { authorOf } from '../core/author.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { checkDeletionOwnership, checkOwnership, type Owner, type Writer } from '../core/ownership.ts';
import { Problem, problem } from '../core/problems.ts';
import { counted } from '../core/text.ts';
import { checkPreconditions, type Preconditions } from '../http/config-api.ts';
import { packCode } from '../rego/index.ts';
import type { Reads } from '../rego/schema.ts';
import type { ConfigWritten } from '../tenants/index.ts';
import { type ConfigUnit, type ConfigWriteServices, transferRow, write } from '../writes/index.ts';
import type { Artifacts, CompiledPolicy } from './artifacts.ts';
import { ConflictError, retryOnConflict } from './conflict.ts';
import { checkRelationship, checkStated, consentNotes } from './data-subjects.ts';
import { checkOwnershipEarly } from './early-ownership.ts';
import type { Engine } from './engine.ts';
import { policyDeleted, policyUpdated } from './events.ts';
import { readParts, replaceUses } from './part-store.ts';
import type { Part, PartSet } from './parts.ts';
import { policyProblem } from './problems.ts';
import { checkPolicyName, effectiveRego, type PolicyBody, type PolicyTest, statedBody } from './rules.ts';
import type { PolicyRow } from './schema.ts';
import {
  addRevision,
  countPolicies,
  insertArtifact,
  nextNumber,
  readPolicy,
  readRevision,
  removePolicy,
  type Tested,
  updateOwner,
  updateTests,
  upsertPolicy,
} from './store.ts';
import { allowTested, textsOf } from './tests.ts';

export type { PolicyBody, PolicyTest } from './rules.ts';
export type PolicyServices = ConfigWriteServices & {
  artifacts: Artifacts;
  engine: Engine;
  /** Makes what was written ready for decisions; absent where nobody decides. */
  preload?: Engine['preload'];
};
type PutPolicyOptions = Preconditions & {
  dryRun?: boolean;
  tests?: readonly PolicyTest[];
  action?: 'put' | 'restore';
};

/**
 * Creates or replaces a policy: converted, compiled and tested first, so that what is stored can be served. Unchanged,
 * it does nothing.
 * @returns the policy's revision number, what it reads, and the tenant's revision
 * @throws Problem policy_name_invalid, policy_without_source, policy_graph_invalid, policy_does_not_compile,
 *   policy_reference_unknown, policy_data_too_large, policy_parts_changing, policy_without_data_subjects, type_unknown, policy_tests_failed, policy_quota_reached, precondition_failed, tenant_not_found, and those of ownership; nothing is changed then
 */
export async function putPolicy(
  services: PolicyServices,
  writer: Writer,
  tenant: string,
  name: string,
  body: PolicyBody,
  options: PutPolicyOptions = {},
): Promise<ConfigWritten<PolicyWritten>> {
  checkPolicyName(name);
  const source = effectiveRego(body);
  return retryOnConflict(() =>
    putPrepared(services, { writer, tenant, name, body, source, options }).catch(async (refusal) => {
      // What is wrong with it is not told to whom it is not: read only now, because most are taken.
      if (refusal instanceof Problem)
        await checkOwnershipEarly(services, writer, tenant, (tx) => readPolicy(tx, tenant, name));
      throw refusal;
    }),
  );
}

/** `notes`: of a dry run, likely mistakes. */
type PolicyWritten = { number: number; reads: Reads; allowTested: boolean | null | undefined; notes: string[] };
type Wanted = {
  writer: Writer;
  tenant: string;
  name: string;
  body: PolicyBody;
  source: string;
  options: PutPolicyOptions;
};

/** @throws ConflictError when a library or document that it uses changes meanwhile, or the tests of what is restored */
async function putPrepared(
  services: PolicyServices,
  { writer, tenant, name, body, source, options }: Wanted,
): Promise<ConfigWritten<PolicyWritten>> {
  const compiled = await services.artifacts.compile(tenant, source, body.graph ? 'graph' : 'rego');
  const { set } = compiled;
  const sources = { source, uses: compiled.uses, set };
  await checkStated(body.dataSubjects, compiled.about.reads, sources);
  const notes = options.dryRun ? await consentNotes(name, body.dataSubjects, compiled.about.reads, sources) : [];
  const before = options.action === 'restore' ? await findPolicy(services.database, tenant, name) : undefined;
  const tests = options.action === 'restore' ? (before?.tests ?? []) : options.tests;
  const tested = tests && (await runOwnTests(services, tenant, { compiled, set }, tests));
  const { reads } = compiled.about;
  const packed = compiled.code && packCode(compiled.code);
  const read = (tx: Transaction) => Promise.all([readPolicy(tx, tenant, name), nextNumber(tx, tenant, name)]);
  const replace = async (unit: ConfigUnit, [row, number]: Awaited<ReturnType<typeof read>>) => {
    const ownership = checkOwnership(row?.owner, writer, unit.tenantRow.spec.configAuthority);
    checkPreconditions(options, row?.number);
    await checkRelationship(unit.tx, tenant, body.dataSubjects);
    await checkPartsUnchanged(unit, compiled.uses);
    if (options.action === 'restore' && !isDeepStrictEqual(row?.tests ?? [], tests)) throw new ConflictError();
    const allowTested = tested === undefined ? row?.allow_tested : tested.allowTested;
    const about = { reads, allowTested, notes };
    if (row && isSame(row, body, compiled, writer)) {
      if (tested && !options.dryRun && !isDeepStrictEqual(row.tests ?? [], tested.tests)) {
        await updateTests(unit.tx, tenant, name, tested, writer);
        unit.changed('policy', name, 'put', { number: row.number, tests: tested.tests.length });
      }
      return { number: row.number, ...about };
    }
    if (row === undefined) await checkQuota(unit);
    if (options.dryRun) return { number: row?.number ?? 0, ...about };
    const action = ownership === 'adopted' ? 'adopt' : (options.action ?? 'put');
    await Promise.all([
      packed && insertArtifact(unit.tx, tenant, compiled.digest, { ...packed, about: compiled.about }),
      storePolicy(unit, writer, { name, number, body, source, compiled, action, tested }),
    ]);
    return { number, ...about };
  };
  const written = await write(services, authorOf(tenant, writer), { locks: 'configuration', read }, replace);
  const hasDocuments = compiled.uses.some(({ kind }) => kind === 'data'); // another program for each revision of them
  if (compiled.code && written.changed && !hasDocuments) services.preload?.(tenant, compiled.digest, compiled.code);
  return written;
}

/** @throws ConflictError when one of these is not as it was */
async function checkPartsUnchanged({ tx, tenant }: ConfigUnit, uses: readonly Part[]): Promise<void> {
  if (uses.length === 0) return;
  const now = await readParts(tx, tenant);
  const isThere = ({ kind, name, number }: Part) =>
    now.some((one) => one.kind === kind && one.name === name && one.number === number);
  if (!uses.every(isThere)) throw new ConflictError();
}

/** @throws Problem policy_quota_reached when the tenant has as many policies as its limits allow */
async function checkQuota({ tx, tenant, tenantRow }: ConfigUnit): Promise<void> {
  const quota = tenantRow.spec.limits?.maxPolicies;
  if (quota === undefined || (await countPolicies(tx, tenant)) < quota) return;
  throw policyProblem('policy_quota_reached', {
    detail: `The tenant already has the maximum of ${counted(quota, 'policy', 'policies')}.`,
  });
}

/**
 * Removes a policy; decisions that name it deny from then on.
 * @throws Problem policy_not_found for an API caller (a manifest's deletion is idempotent), precondition_failed, ownership
 */
export async function deletePolicy(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  name: string,
  options: Preconditions = {},
): Promise<ConfigWritten<void>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const row = await readPolicy(unit.tx, tenant, name);
    if (row === undefined) {
      if (writer.owner.source === 'api') throw policyProblem('policy_not_found');
      return;
    }
    checkDeletionOwnership(row.owner, writer, unit.tenantRow.spec.configAuthority);
    checkPreconditions(options, row.number);
    await removePolicy(unit.tx, tenant, name);
    await replaceUses(unit.tx, tenant, { kind: 'policy', name }, []);
    const number = await nextNumber(unit.tx, tenant, name);
    const entry = { name, number, action: 'delete', revision: unit.revision, policy: undefined };
    await addRevision(unit.tx, tenant, entry, writer, limits.policyRevisionsKept);
    unit.changed('policy', name, 'delete');
    unit.emit(policyDeleted, { requestor: writer.actor, name });
  });
}

/** Gives the writer's policy to another owner as it is; does nothing when it is not (any more) the writer's. */
export function transferPolicy(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  name: string,
  to: Owner,
): Promise<ConfigWritten<void>> {
  const row = {
    kind: 'policy' as const,
    name,
    ownerOf: async (tx: Transaction) => (await readPolicy(tx, tenant, name))?.owner,
    setOwner: (tx: Transaction, owner: Owner) => updateOwner(tx, tenant, name, owner),
  };
  return transferRow(services, tenant, writer, row, to);
}

/** Puts an earlier revision back as the newest one, with the tests of now. @throws Problem policy_revision_not_found, and what putPolicy throws */
export async function restorePolicy(
  services: PolicyServices,
  writer: Writer,
  tenant: string,
  name: string,
  number: number,
  options: Preconditions = {},
): Promise<ConfigWritten<{ number: number }>> {
  const row = await services.database.read(tenant, (tx) => readRevision(tx, tenant, name, number));
  if (row === undefined || row.effective_rego === null) throw policyProblem('policy_revision_not_found');
  return putPolicy(services, writer, tenant, name, bodyOf(row), { ...options, action: 'restore' });
}

type Change = {
  name: string;
  number: number;
  body: PolicyBody;
  source: string;
  compiled: CompiledPolicy;
  action: string;
  /** Absent: those of before stay. */
  tested: Tested | undefined;
};

async function storePolicy(unit: ConfigUnit, writer: Writer, change: Change): Promise<void> {
  const { tenant } = unit;
  const { name, number, body, source, compiled, action, tested } = change;
  const policy = {
    name,
    rego: body.rego,
    graph: body.graph,
    dataSubjects: body.dataSubjects,
    effectiveRego: source,
    artifact: compiled.digest,
    reads: compiled.about.reads,
    revision: unit.revision,
  };
  const entry = { name, number, action, revision: unit.revision, policy };
  await Promise.all([
    upsertPolicy(unit.tx, tenant, { ...policy, number, tested }, writer),
    addRevision(unit.tx, tenant, entry, writer, limits.policyRevisionsKept),
    replaceUses(unit.tx, tenant, { kind: 'policy', name }, compiled.uses),
  ]);
  unit.changed('policy', name, action, { number });
  unit.emit(policyUpdated, { requestor: writer.actor, name, number });
}

async function runOwnTests(
  services: PolicyServices,
  tenant: string,
  { compiled, set }: { compiled: CompiledPolicy; set: PartSet },
  tests: readonly PolicyTest[],
): Promise<Tested> {
  const documents = await textsOf(compiled.uses, set);
  if (tests.length === 0 && documents.length === 0) return { tests, allowTested: null };
  const code = compiled.code ?? (await services.artifacts.fetch(tenant, compiled.digest));
  if (code === undefined) throw problem('internal_error', { cause: new Error('artifact vanished') });
  const program = { tenant, key: `${tenant}/${compiled.digest}`, code, documents };
  return { tests, allowTested: await allowTested(services.engine, program, tests, services.clock.now()) };
}

function isSame(row: PolicyRow, body: PolicyBody, compiled: CompiledPolicy, writer: Writer): boolean {
  return (
    row.artifact === compiled.digest &&
    isDeepStrictEqual(bodyOf(row), statedBody(body)) &&
    isDeepStrictEqual(row.owner, writer.owner)
  );
}

function bodyOf({ rego, graph, data_subjects }: Pick<PolicyRow, 'rego' | 'graph' | 'data_subjects'>): PolicyBody {
  return statedBody({ rego, graph, dataSubjects: data_subjects });
}

/** What is to be said of tests that pass, and none of which is answered allow. */
export const ALLOW_NOT_TESTED =
  'The tests of the policy pass, and none of them is answered allow: what the policy allows is not tested.';

/** The stored policy; undefined when there is none. */
export function findPolicy(database: Database, tenant: string, name: string): Promise<PolicyRow | undefined> {
  return database.read(tenant, (tx) => readPolicy(tx, tenant, name));
}
