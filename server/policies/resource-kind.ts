/** The kind Policy: compiled and tested before it replaces what serves. */
import type { PolicyManifest } from '../../crds/index.ts';
import { Problem } from '../core/problems.ts';
import { claimOf, type ResourceKind } from '../room/resource-kind.ts';
import { deletePolicy, type PolicyServices, putPolicy, requirePolicy, transferPolicy } from './actions.ts';

const policyKind: ResourceKind<{ policies: PolicyServices }, PolicyManifest> = {
  kind: 'Policy',
  plural: 'policies',
  order: 60,
  claims: (manifest) => claimOf(manifest, manifest.spec.name),
  find: ({ policies }, { tenant, name }) =>
    policies.database
      .read(tenant, (tx) => requirePolicy(tx, tenant, name))
      .catch((error) => {
        if (error instanceof Problem && error.code === 'policy_not_found') return undefined;
        throw error;
      }),
  put: ({ policies }, writer, { tenant }, manifest, { fresh }) => {
    const { name, rego, graph, tests } = manifest.spec;
    const body = { ...(rego === undefined ? {} : { rego }), ...(graph === undefined ? {} : { graph }) };
    // The same tests have passed on the same source before.
    return putPolicy(policies, writer, tenant, name, body, fresh && tests ? { tests } : {});
  },
  transfer: ({ policies }, writer, { tenant, name }, to) => transferPolicy(policies, writer, tenant, name, to),
  remove: ({ policies }, writer, { tenant, name }) => deletePolicy(policies, writer, tenant, name),
};

export const resourceKinds = [policyKind];
