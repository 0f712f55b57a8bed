/** The kind Policy: compiled and tested before it replaces what serves. */
import { definitionOf, type PolicyManifest } from '../../crds/index.ts';
import { Problem } from '../core/problems.ts';
import { claimOf, type ResourceKind } from '../room/resource-kind.ts';
import {
  ALLOW_NOT_TESTED,
  deletePolicy,
  type PolicyServices,
  putPolicy,
  requirePolicy,
  transferPolicy,
} from './actions.ts';
import { policyChecks } from './manifest-checks.ts';
import { statedBody } from './rules.ts';
import { loadPolicySources, readPolicy } from './store.ts';

const policyKind: ResourceKind<PolicyServices, PolicyManifest> = {
  definition: definitionOf('Policy'),
  order: 60,
  claims: (manifest) => claimOf(manifest, manifest.spec.name),
  find: (policies, { tenant, name }) =>
    policies.database
      .read(tenant, (tx) => requirePolicy(tx, tenant, name))
      .catch((error) => {
        if (error instanceof Problem && error.code === 'policy_not_found') return undefined;
        throw error;
      }),
  put: (policies, writer, { tenant }, manifest, { fresh }) => {
    const { name, tests } = manifest.spec;
    const body = statedBody(manifest.spec);
    // The same tests have passed on the same source before.
    return putPolicy(policies, writer, tenant, name, body, fresh ? { tests: tests ?? [] } : {});
  },
  async conditions(policies, { tenant, name }) {
    const row = await policies.database.read(tenant, (tx) => readPolicy(tx, tenant, name));
    const tested = row?.allow_tested ?? undefined;
    if (tested === undefined) return [];
    const about = { type: 'AllowTested', isEvent: true } as const;
    return [
      tested
        ? { ...about, status: 'True', reason: 'AllowTested', message: 'A test is answered allow.' }
        : { ...about, status: 'False', reason: 'AllowNotTested', message: ALLOW_NOT_TESTED },
    ];
  },
  transfer: (policies, writer, { tenant, name }, to) => transferPolicy(policies, writer, tenant, name, to),
  remove: (policies, writer, { tenant, name }) => deletePolicy(policies, writer, tenant, name),
  async exported(tx, { tenant }) {
    const rows = await loadPolicySources(tx, tenant);
    return rows.map(({ name, rego, graph, data_subjects: dataSubjects, tests, owner }) => {
      const source = statedBody({ rego, graph, dataSubjects });
      const spec = { tenantRef: { name: tenant }, name, ...source, ...(tests === null ? {} : { tests }) };
      return { name, owner, spec };
    });
  },
  checks: policyChecks,
};

export const resourceKinds = [policyKind];
