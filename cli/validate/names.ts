/** The names that the given manifests claim and define, and what two of them claim. */
import type { Manifest } from '../../crds/index.ts';
import type { FileObject } from '../../operator/index.ts';
import type { GivenNames } from '../../server/room/manifest-checks.ts';
import { about, type Finding } from './findings.ts';
import type { CheckedKinds } from './kinds.ts';

export function duplicates(objects: readonly FileObject[], kinds: CheckedKinds): Finding[] {
  const once = first(objects);
  return [
    ...repeated(objects, ({ key }) => ({ name: key, message: 'a manifest of this kind and name is already in' })),
    ...repeated(once, (object) => {
      const name = claimOf(object, kinds);
      if (name === undefined) return undefined;
      return { name, message: 'the same name of the tenant is already claimed in' };
    }),
    ...repeated(once, ({ kind, checked, claims }) => {
      const unique = checked.ok ? kinds.checksOf(kind)?.unique?.(checked.manifest) : undefined;
      return unique && { name: JSON.stringify([kind, claims?.tenant, unique.value]), message: unique.message };
    }),
  ];
}

/** Who has a name that an earlier one has. */
function repeated(
  objects: readonly FileObject[],
  nameOf: (object: FileObject) => { name: string; message: string } | undefined,
): Finding[] {
  const known = new Map<string, FileObject>();
  return objects.flatMap((object) => {
    const named = nameOf(object);
    if (named === undefined) return [];
    const before = known.get(named.name);
    if (before !== undefined) return [about(object, 'duplicate', `${named.message} ${before.path}:${before.line}`)];
    known.set(named.name, object);
    return [];
  });
}

/** Without those whose kind and name come twice: that is said of them already. */
function first(objects: readonly FileObject[]): FileObject[] {
  return [...new Map(objects.toReversed().map((object) => [object.key, object])).values()].reverse();
}

function claimOf({ kind, claims }: FileObject, kinds: CheckedKinds): string | undefined {
  // A Tenant's name is its object's.
  if (claims === undefined || kind === 'Tenant') return undefined;
  return JSON.stringify([familyOf(kind, kinds), claims.tenant, claims.name]);
}

function familyOf(kind: Manifest['kind'], kinds: CheckedKinds): string {
  return kinds.checksOf(kind)?.family ?? kind;
}

/** What the manifests of each tenant define. */
export function namesIn(objects: readonly FileObject[], kinds: CheckedKinds): (tenant: string) => GivenNames {
  const tenants = new Set(objects.flatMap(({ kind, name }) => (kind === 'Tenant' ? name : [])));
  const defined = new Map<string, Set<string>>();
  const familyIn = (tenant: string, family: string) => defined.get(JSON.stringify([tenant, family]));
  const define = (tenant: string, family: string, name: string) => {
    const names = familyIn(tenant, family);
    if (names) names.add(name);
    else defined.set(JSON.stringify([tenant, family]), new Set([name]));
  };
  for (const { kind, claims, checked } of objects) {
    if (claims === undefined) continue;
    for (const family of new Set([kind, familyOf(kind, kinds)])) define(claims.tenant, family, claims.name);
    const more = checked.ok ? (kinds.checksOf(kind)?.defines?.(checked.manifest) ?? []) : [];
    for (const { family, name } of more) define(claims.tenant, family, name);
  }
  return (tenant) => ({
    tenant: tenants.has(tenant),
    has: (family, name) => familyIn(tenant, family)?.has(name) === true,
    hasAny: (family) => familyIn(tenant, family) !== undefined,
  });
}
