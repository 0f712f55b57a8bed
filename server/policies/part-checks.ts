/** What `accord validate` says of libraries and data documents, and what policies are compiled with. */
import type { Manifest, PolicyDataManifest, PolicyLibraryManifest } from '../../crds/index.ts';
import type { Compiler } from '../rego/index.ts';
import { checkLibrary, partOf } from './part-compiling.ts';
import { checkOverlap, checkPartName, contentOf, type Part, type PartBody, type PartSet } from './parts.ts';

type Given = { part: Part; content: string; manifest: Manifest };

type CheckedParts = {
  /** Of a tenant; what is refused is left out. */
  setOf(tenant: string): PartSet;
  refusals: ReadonlyMap<Manifest, unknown>;
};

export async function checkParts(manifests: readonly Manifest[], compiler: Compiler): Promise<CheckedParts> {
  const tenants = new Map<string, Given[]>();
  const refusals = new Map<Manifest, unknown>();
  const setOf = (tenant: string): PartSet => {
    const given = tenants.get(tenant) ?? [];
    return {
      parts: given.map(({ part }) => part),
      content: async (part) => given.find((one) => one.part === part)?.content ?? '',
    };
  };
  const guarded = async (manifest: Manifest, check: () => Promise<unknown>) => {
    try {
      await check();
    } catch (refusal) {
      refusals.set(manifest, refusal);
    }
  };
  for (const manifest of manifests) {
    const given = bodyOf(manifest);
    if (given === undefined) continue;
    const others = tenants.get(given.tenant) ?? [];
    await guarded(manifest, async () => {
      const { kind } = given.body;
      const name = { kind, name: given.name };
      checkPartName(name);
      const content = contentOf(given.body);
      const part = await partOf(compiler, 'offline', { ...name, number: 1 }, content);
      checkOverlap(
        name,
        others.map((one) => one.part),
      );
      tenants.set(given.tenant, [...others, { part, content, manifest }]);
    });
  }
  // A library may refer to one that comes after it.
  for (const [tenant, given] of tenants) {
    const set = setOf(tenant);
    for (const { part, manifest } of given) {
      if (part.kind === 'library') await guarded(manifest, () => checkLibrary(compiler, 'offline', set, part));
    }
  }
  return { setOf, refusals };
}

function bodyOf(manifest: Manifest): { tenant: string; name: string; body: PartBody } | undefined {
  if (manifest.kind === 'PolicyLibrary') {
    const { spec } = manifest as PolicyLibraryManifest;
    const { tenantRef, package: name, modules } = spec;
    return { tenant: tenantRef.name, name, body: { kind: 'library', modules } };
  }
  if (manifest.kind !== 'PolicyData') return undefined;
  const { spec } = manifest as PolicyDataManifest;
  return { tenant: spec.tenantRef.name, name: spec.path, body: { kind: 'data', value: spec.value } };
}
