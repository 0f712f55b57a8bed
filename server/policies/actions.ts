/** The verbs on policies. The Config API and the operator call the same ones. */
import { isDeepStrictEqual } from 'node:util';
import { authorOf } from '../core/author.ts';
import type { Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { claim, claimDeletion, type Owner, type Writer } from '../core/ownership.ts';
import { problem } from '../core/problems.ts';
import { checkIfMatch } from '../http/config-api.ts';
import { packCode } from '../rego/index.ts';
import type { Reads } from '../rego/schema.ts';
import type { ConfigWritten } from '../tenants/index.ts';
import { type ConfigUnit, type ConfigWriteServices, transferRow, write } from '../writes/index.ts';
import type { Artifacts, CompiledPolicy } from './artifacts.ts';
import type { Engine } from './engine.ts';
import { policyProblem } from './problems.ts';
import { checkPolicyName, effectiveRego, type PolicyBody, type PolicyTest } from './rules.ts';
import type { PolicyRow } from './schema.ts';
import {
  addRevision,
  countPolicies,
  insertArtifact,
  nextNumber,
  readPolicy,
  readRevision,
  removePolicy,
  updateOwner,
  upsertPolicy,
} from './store.ts';
import { runTests } from './tests.ts';

export type { PolicyBody, PolicyTest } from './rules.ts';
export type PolicyServices = ConfigWriteServices & { artifacts: Artifacts; engine: Engine };
export type PutPolicyOptions = {
  ifMatch?: string;
  dryRun?: boolean;
  tests?: readonly PolicyTest[];
  action?: 'put' | 'restore';
};

/**
 * Creates or replaces a policy: converted, compiled and tested first, so that what is stored can be served. Unchanged,
 * it does nothing.
 * @returns the policy's revision number, what it reads, and the tenant's revision
 * @throws Problem policy_name_invalid, policy_without_source, policy_graph_invalid, policy_does_not_compile,
 *   policy_tests_failed, policy_quota_reached, precondition_failed, tenant_not_found, and those of ownership; nothing is changed then
 */
export async function putPolicy(
  services: PolicyServices,
  writer: Writer,
  tenant: string,
  name: string,
  body: PolicyBody,
  options: PutPolicyOptions = {},
): Promise<ConfigWritten<{ number: number; reads: Reads }>> {
  checkPolicyName(name);
  const source = effectiveRego(body);
  const compiled = await services.artifacts.compile(tenant, source, body.graph ? 'graph' : 'rego');
  await testFirst(services, tenant, compiled, options.tests ?? []);
  const { reads } = compiled.about;
  const packed = compiled.code && packCode(compiled.code);
  const read = (tx: Transaction) => Promise.all([readPolicy(tx, tenant, name), nextNumber(tx, tenant, name)]);
  const replace = async (unit: ConfigUnit, [row, number]: Awaited<ReturnType<typeof read>>) => {
    const claimed = claim(row?.owner, writer, unit.tenantRow.spec.configAuthority);
    checkIfMatch(options.ifMatch, row?.number);
    if (row && isSame(row, body, compiled, writer)) return { number: row.number, reads };
    if (row === undefined) await checkQuota(unit);
    if (options.dryRun) return { number: row?.number ?? 0, reads };
    const action = claimed === 'adopted' ? 'adopt' : (options.action ?? 'put');
    await Promise.all([
      packed && insertArtifact(unit.tx, tenant, compiled.digest, { ...packed, about: compiled.about }),
      store(unit, writer, { name, number, body, source, compiled, action }),
    ]);
    return { number, reads };
  };
  const written = await write(services, authorOf(tenant, writer), { locks: 'configuration', read }, replace);
  if (compiled.code && written.changed) services.engine.preload(tenant, compiled.digest, compiled.code);
  return written;
}

/** @throws Problem policy_quota_reached when the tenant has as many policies as its limits allow */
async function checkQuota({ tx, tenant, tenantRow }: ConfigUnit): Promise<void> {
  const quota = tenantRow.spec.limits?.maxPolicies;
  if (quota === undefined || (await countPolicies(tx, tenant)) < quota) return;
  throw policyProblem('policy_quota_reached', { detail: `The tenant may have ${quota} policies, and has them.` });
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
  options: { ifMatch?: string } = {},
): Promise<ConfigWritten<void>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const row = await readPolicy(unit.tx, tenant, name);
    if (row === undefined) {
      if (writer.owner.source === 'api') throw policyProblem('policy_not_found');
      return;
    }
    claimDeletion(row.owner, writer, unit.tenantRow.spec.configAuthority);
    checkIfMatch(options.ifMatch, row.number);
    await removePolicy(unit.tx, tenant, name);
    const number = await nextNumber(unit.tx, tenant, name);
    const entry = { name, number, action: 'delete', revision: unit.revision, policy: undefined };
    await addRevision(unit.tx, tenant, entry, writer, limits.policyRevisionsKept);
    unit.changed('policy', name, 'delete');
    unit.emit('POLICY_DELETED', { requestor: writer.actor, name });
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
    kind: 'policy',
    name,
    ownerOf: async (tx: Transaction) => (await readPolicy(tx, tenant, name))?.owner,
    setOwner: (tx: Transaction, owner: Owner) => updateOwner(tx, tenant, name, owner),
  };
  return transferRow(services, tenant, writer, row, to);
}

/** Puts an earlier revision back as the newest one. @throws Problem policy_revision_not_found, and what putPolicy throws */
export async function restorePolicy(
  services: PolicyServices,
  writer: Writer,
  tenant: string,
  name: string,
  number: number,
  options: { ifMatch?: string } = {},
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
};

async function store(unit: ConfigUnit, writer: Writer, change: Change): Promise<void> {
  const { tenant } = unit;
  const { name, number, body, source, compiled, action } = change;
  const policy = {
    name,
    rego: body.rego,
    graph: body.graph,
    effectiveRego: source,
    artifact: compiled.digest,
    reads: compiled.about.reads,
    revision: unit.revision,
  };
  const entry = { name, number, action, revision: unit.revision, policy };
  await Promise.all([
    upsertPolicy(unit.tx, tenant, { ...policy, number }, writer),
    addRevision(unit.tx, tenant, entry, writer, limits.policyRevisionsKept),
  ]);
  unit.changed('policy', name, action, { number });
  unit.emit('POLICY_UPDATED', { requestor: writer.actor, name, number });
}

async function testFirst(
  services: PolicyServices,
  tenant: string,
  compiled: CompiledPolicy,
  tests: readonly PolicyTest[],
): Promise<void> {
  if (tests.length === 0) return;
  const code = compiled.code ?? (await services.artifacts.fetch(tenant, compiled.digest));
  if (code === undefined) throw problem('internal_error', { cause: new Error('artifact vanished') });
  const program = { tenant, key: `${tenant}/${compiled.digest}`, wasm: code.wasm };
  await runTests(services.engine, program, tests, services.clock.now());
}

function isSame(row: PolicyRow, body: PolicyBody, compiled: CompiledPolicy, writer: Writer): boolean {
  return (
    row.artifact === compiled.digest &&
    isDeepStrictEqual(bodyOf(row), { ...body }) &&
    isDeepStrictEqual(row.owner, writer.owner)
  );
}

function bodyOf(row: { rego: string | null; graph: PolicyBody['graph'] | null }): PolicyBody {
  return { ...(row.rego === null ? {} : { rego: row.rego }), ...(row.graph ? { graph: row.graph } : {}) };
}

/** @throws Problem policy_not_found */
export async function requirePolicy(tx: Transaction, tenant: string, name: string): Promise<PolicyRow> {
  const row = await readPolicy(tx, tenant, name);
  if (row === undefined) throw policyProblem('policy_not_found');
  return row;
}
