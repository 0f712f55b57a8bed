/** The kind Policy: compiled and tested before it replaces what serves. */
import type { PolicyManifest } from '../../crds/index.ts';
import { claimOf, type ResourceKind } from '../room/resource-kind.ts';
import {
  ALLOW_NOT_TESTED,
  deletePolicy,
  findPolicy,
  type PolicyServices,
  putPolicy,
  transferPolicy,
} from './actions.ts';
import { statedBody } from './rules.ts';
import { readPolicy } from './store.ts';

const policyKind: ResourceKind<PolicyServices, PolicyManifest> = {
  kind: 'Policy',
  plural: 'policies',
  order: 60,
  claims: (manifest) => claimOf(manifest, manifest.spec.name),
  find: ({ database }, { tenant, name }) => findPolicy(database, tenant, name),
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
    return [
      tested
        ? { type: 'AllowTested', status: 'True', reason: 'AllowTested', message: 'A test is answered allow.' }
        : { type: 'AllowTested', status: 'False', reason: 'AllowNotTested', message: ALLOW_NOT_TESTED },
    ];
  },
  transfer: (policies, writer, { tenant, name }, to) => transferPolicy(policies, writer, tenant, name, to),
  remove: (policies, writer, { tenant, name }) => deletePolicy(policies, writer, tenant, name),
};

export const resourceKinds = [policyKind];
