/** A policy, as it is being written, as a manifest. */
import { newManifest, type Spec, yamlOfNew } from '../../manifests/manifest.ts';
import { bodyOf, type Draft } from './shapes.ts';

/** A draft in the place of what is stored. */
export const specOf = (draft: Draft, stored: Spec): Spec => {
  const { rego: _rego, graph: _graph, dataSubjects: _subjects, tests: _tests, ...rest } = stored;
  return { ...rest, ...bodyOf(draft) };
};

/** For one that no manifest owns. */
export const manifestOf = (draft: Draft, { tenant, policy }: { tenant: string; policy: string }) =>
  yamlOfNew(newManifest('Policy', tenant, policy, { name: policy, ...bodyOf(draft) }));
