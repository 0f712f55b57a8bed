/** What `accord validate` says of libraries and data documents, and what policies are compiled with. */
import type { Manifest, PolicyDataManifest, PolicyLibraryManifest } from '../../crds/index.ts';
import { type Compiler, hostBuiltinNames } from '../rego/index.ts';
import { besideOf } from './artifacts.ts';
import { throwLibraryErrors } from './part-actions.ts';
import {
  checkOverlap,
  checkPackages,
  checkPartName,
  contentOf,
  digestOf,
  modulesOf,
  outwardRefs,
  type Part,
  type PartBody,
  type PartSet,
  usedParts,
} from './parts.ts';

type Given = { part: Part; content: string; manifest: Manifest };

export type CheckedParts = {
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
  const guarded = async (manifest: Manifest, check: () => Promise<void>) => {
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
      const own = kind === 'library' ? modulesOf(given.name, content) : [];
      const needs = own.length === 0 ? [] : await compiler.needs('offline', own);
      checkPackages(given.name, needs);
      checkOverlap(
        name,
        others.map(({ part }) => part),
      );
      const bytes = Buffer.byteLength(content);
      const part = { ...name, number: 1, digest: digestOf(content), bytes, refs: outwardRefs(given.name, needs) };
      tenants.set(given.tenant, [...others, { part, content, manifest }]);
    });
  }
  // A library may refer to one that comes after it.
  for (const [tenant, given] of tenants) {
    const set = setOf(tenant);
    for (const { part, content, manifest } of given) {
      if (part.kind === 'library') await guarded(manifest, () => checkLibrary(compiler, set, part, content));
    }
  }
  return { setOf, refusals };
}

async function checkLibrary(compiler: Compiler, set: PartSet, part: Part, content: string): Promise<void> {
  const { name } = part;
  const beside = besideOf(usedParts(set.parts, { package: name, refs: part.refs as string[][] }, name), set);
  const own = modulesOf(name, content);
  const options = { builtins: hostBuiltinNames, libraries: await beside.libraries(), data: beside.data };
  const checked = await compiler.check('offline', own, options);
  if (!checked.ok) throwLibraryErrors(checked.errors, own);
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
