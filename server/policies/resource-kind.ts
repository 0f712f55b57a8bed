/** The kinds Policy, PolicyLibrary and PolicyData: compiled and tested before they replace what serves. */
import type { PolicyDataManifest, PolicyLibraryManifest, PolicyManifest } from '../../crds/index.ts';
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
import { deletePart, putPart, transferPart } from './part-actions.ts';
import { readPart } from './part-store.ts';
import type { PartBody, PartKind } from './parts.ts';
import { statedBody } from './rules.ts';
import { readPolicy } from './store.ts';

const policyKind: ResourceKind<PolicyServices, PolicyManifest> = {
  kind: 'Policy',
  plural: 'policies',
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
    return [
      tested
        ? { type: 'AllowTested', status: 'True', reason: 'AllowTested', message: 'A test is answered allow.' }
        : { type: 'AllowTested', status: 'False', reason: 'AllowNotTested', message: ALLOW_NOT_TESTED },
    ];
  },
  transfer: (policies, writer, { tenant, name }, to) => transferPolicy(policies, writer, tenant, name, to),
  remove: (policies, writer, { tenant, name }) => deletePolicy(policies, writer, tenant, name),
};

/** What libraries and documents have in common. A policy that was refused may be accepted with another of them. */
function partKind<Of extends PolicyLibraryManifest | PolicyDataManifest>(
  about: Pick<ResourceKind<PolicyServices, Of>, 'kind' | 'plural' | 'order' | 'claims'>,
  kind: PartKind,
  bodyOf: (spec: Of['spec']) => PartBody,
): ResourceKind<PolicyServices, Of> {
  return {
    ...about,
    wakes: ['Policy', 'PolicyLibrary'],
    find: (policies, { tenant, name }) => policies.database.read(tenant, (tx) => readPart(tx, tenant, { kind, name })),
    put: (policies, writer, { tenant, name }, { spec }) => putPart(policies, writer, tenant, name, bodyOf(spec)),
    transfer: (policies, writer, { tenant, name }, to) => transferPart(policies, writer, tenant, { kind, name }, to),
    remove: (policies, writer, { tenant, name }) => deletePart(policies, writer, tenant, { kind, name }),
  };
}

const libraryKind = partKind<PolicyLibraryManifest>(
  {
    ...{ kind: 'PolicyLibrary', plural: 'policylibraries', order: 56 },
    claims: (manifest) => claimOf(manifest, manifest.spec.package),
  },
  'library',
  ({ modules }) => ({ kind: 'library', modules }),
);

const dataKind = partKind<PolicyDataManifest>(
  {
    ...{ kind: 'PolicyData', plural: 'policydata', order: 54 },
    claims: (manifest) => claimOf(manifest, manifest.spec.path),
  },
  'data',
  ({ value }) => ({ kind: 'data', value }),
);

export const resourceKinds = [dataKind, libraryKind, policyKind];
