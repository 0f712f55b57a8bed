/** The kinds Policy, PolicyLibrary and PolicyData: compiled and tested before they replace what serves. */
import {
  definitionOf,
  type PolicyDataManifest,
  type PolicyLibraryManifest,
  type PolicyManifest,
} from '../../crds/index.ts';
import type { ManifestChecks } from '../room/manifest-checks.ts';
import { claimOf, type ResourceKind } from '../room/resource-kind.ts';
import {
  ALLOW_NOT_TESTED,
  deletePolicy,
  findPolicy,
  type PolicyServices,
  putPolicy,
  transferPolicy,
} from './actions.ts';
import { readChangedByOthers } from './changed-store.ts';
import { partChecks, policyChecks } from './manifest-checks.ts';
import { deletePart, putPart, transferPart } from './part-actions.ts';
import { documentReaders } from './part-kinds.ts';
import { loadPartSources, partNames, readPart } from './part-store.ts';
import type { PartBody, PartKind } from './parts.ts';
import { statedBody } from './rules.ts';
import { loadPolicySources, policyNames, readPolicy } from './store.ts';

const policyKind: ResourceKind<PolicyServices, PolicyManifest> = {
  definition: definitionOf('Policy'),
  order: 60,
  // What the policy, or one of its tests, did not allow.
  wakes: ['PolicyLibrary', 'PolicyData'],
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
    const about = { type: 'AllowTested', isEvent: true } as const;
    return [
      tested
        ? { ...about, status: 'True', reason: 'AllowTested', message: 'A test is answered allow.' }
        : { ...about, status: 'False', reason: 'AllowNotTested', message: ALLOW_NOT_TESTED },
    ];
  },
  // A manifest that observes, or creates only, tells of a policy that the API changes; a data document may change what tests answer.
  conditionsChanged: ({ database }, withinMs) => database.systemPipelined((tx) => readChangedByOthers(tx, withinMs)),
  transfer: (policies, writer, { tenant, name }, to) => transferPolicy(policies, writer, tenant, name, to),
  remove: (policies, writer, { tenant, name }) => deletePolicy(policies, writer, tenant, name),
  async exported(tx, { tenant, only }) {
    const rows = await loadPolicySources(tx, tenant, only);
    return rows.map(({ name, rego, graph, data_subjects: dataSubjects, tests, owner }) => {
      const source = statedBody({ rego, graph, dataSubjects });
      const spec = { tenantRef: { name: tenant }, name, ...source, ...(tests === null ? {} : { tests }) };
      return { name, owner, spec };
    });
  },
  exportedNames: policyNames,
  checks: policyChecks,
};

/** What libraries and documents have in common. A policy that was refused may be accepted with another of them. */
function partKind<Of extends PolicyLibraryManifest | PolicyDataManifest>(
  about: Pick<ResourceKind<PolicyServices, Of>, 'definition' | 'order' | 'claims' | 'hasPathNames' | 'readers'>,
  kind: PartKind,
  bodyOf: (spec: Of['spec']) => PartBody,
  specOf: (name: string, content: unknown) => object,
): ResourceKind<PolicyServices, Of> {
  return {
    ...about,
    wakes: ['Policy', 'PolicyLibrary'],
    find: (policies, { tenant, name }) => policies.database.read(tenant, (tx) => readPart(tx, tenant, { kind, name })),
    put: (policies, writer, { tenant, name }, { spec }) => putPart(policies, writer, tenant, name, bodyOf(spec)),
    transfer: (policies, writer, { tenant, name }, to) => transferPart(policies, writer, tenant, { kind, name }, to),
    remove: (policies, writer, { tenant, name }) => deletePart(policies, writer, tenant, { kind, name }),
    async exported(tx, { tenant, only }) {
      const rows = await loadPartSources(tx, tenant, kind, only);
      return rows.map(({ name, content, owner }) => {
        const spec = { tenantRef: { name: tenant }, ...specOf(name, JSON.parse(content)) };
        return { name, owner, spec };
      });
    },
    exportedNames: (tx, tenant) => partNames(tx, tenant, kind),
    checks: partChecks as ManifestChecks<Of>,
  };
}

const libraryKind = partKind<PolicyLibraryManifest>(
  {
    ...{ definition: definitionOf('PolicyLibrary'), order: 56 },
    claims: (manifest) => claimOf(manifest, manifest.spec.package),
  },
  'library',
  ({ modules }) => ({ kind: 'library', modules }),
  (name, modules) => ({ package: name, modules }),
);

const dataKind = partKind<PolicyDataManifest>(
  {
    ...{ definition: definitionOf('PolicyData'), order: 54, hasPathNames: true, readers: documentReaders.access.roles },
    claims: (manifest) => claimOf(manifest, manifest.spec.path),
  },
  'data',
  ({ value }) => ({ kind: 'data', value }),
  (path, value) => ({ path, value }),
);

export const resourceKinds = [dataKind, libraryKind, policyKind];
