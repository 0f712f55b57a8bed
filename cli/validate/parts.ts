/** The libraries and data documents among manifests: checked themselves, and as policies are compiled with them. */
import type { PolicyDataManifest, PolicyLibraryManifest } from '../../crds/index.ts';
import { type FileObject, refusalOf } from '../../operator/index.ts';
import {
  besideOf,
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
  throwLibraryErrors,
  usedParts,
} from '../../server/policies/index.ts';
import { type Compiler, hostBuiltinNames } from '../../server/rego/index.ts';
import { aboutLines, type Finding } from './findings.ts';

type Given = { part: Part; content: string; object: FileObject };

/** By tenant; what is refused is left out. */
export type Sets = { setOf(tenant: string): PartSet; findings: Finding[] };

export async function checkParts(objects: readonly FileObject[], compiler: Compiler): Promise<Sets> {
  const tenants = new Map<string, Given[]>();
  const findings: Finding[] = [];
  const setOf = (tenant: string): PartSet => {
    const given = tenants.get(tenant) ?? [];
    return {
      parts: given.map(({ part }) => part),
      content: async (part) => given.find((one) => one.part === part)?.content ?? '',
    };
  };
  const guarded = async (object: FileObject, check: () => Promise<void>) => {
    try {
      await check();
    } catch (error) {
      const refusal = refusalOf(error, object.locate);
      if (refusal === undefined) throw error;
      findings.push(...aboutLines(object, 'policy', refusal.message));
    }
  };
  for (const object of objects) {
    const given = bodyOf(object);
    if (given === undefined) continue;
    const others = tenants.get(given.tenant) ?? [];
    await guarded(object, async () => {
      const { kind } = given.body;
      const name = { kind, name: given.name };
      checkPartName(name);
      const content = contentOf(given.body);
      const own = kind === 'library' ? modulesOf(given.name, content) : [];
      const needs = own.length === 0 ? [] : await compiler.needs('offline', own);
      checkPackages(given.name, needs);
      const found = others.map(({ part }) => part);
      checkOverlap(name, found);
      const part = { ...name, number: 1, digest: digestOf(content), refs: outwardRefs(given.name, needs) };
      tenants.set(given.tenant, [...others, { part, content, object }]);
    });
  }
  // A library may refer to one that comes after it.
  for (const [tenant, given] of tenants) {
    const set = setOf(tenant);
    for (const { part, content, object } of given) {
      if (part.kind === 'library') await guarded(object, () => checkLibrary(compiler, set, part, content));
    }
  }
  return { setOf, findings };
}

async function checkLibrary(compiler: Compiler, set: PartSet, part: Part, content: string): Promise<void> {
  const { name } = part;
  const beside = besideOf(usedParts(set.parts, { package: name, refs: part.refs as string[][] }, name), set);
  const own = modulesOf(name, content);
  const options = { builtins: hostBuiltinNames, libraries: await beside.libraries(), data: beside.data };
  const checked = await compiler.check('offline', own, options);
  if (!checked.ok) throwLibraryErrors(checked.errors, own);
}

function bodyOf({ kind, checked }: FileObject): { tenant: string; name: string; body: PartBody } | undefined {
  if (!checked.ok) return undefined;
  if (kind === 'PolicyLibrary') {
    const { spec } = checked.manifest as PolicyLibraryManifest;
    return {
      ...{ tenant: spec.tenantRef.name, name: spec.package },
      body: { kind: 'library', modules: spec.modules },
    };
  }
  if (kind !== 'PolicyData') return undefined;
  const { spec } = checked.manifest as PolicyDataManifest;
  return { tenant: spec.tenantRef.name, name: spec.path, body: { kind: 'data', value: spec.value } };
}
