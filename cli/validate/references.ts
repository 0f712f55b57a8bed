/**
 * What can only be found in all manifests together: two that claim one name, and names that no manifest makes. What may
 * be made elsewhere, in another directory or through the API, is left out with --partial.
 */
import type { IssuerManifest, Manifest, PolicyManifest, RelationshipTypeManifest } from '../../crds/index.ts';
import type { FileObject } from '../../operator/index.ts';
import { about, at, type Finding } from './findings.ts';

export function duplicates(objects: readonly FileObject[]): Finding[] {
  return [
    ...repeated(objects, ({ key }) => key, 'a manifest of this kind and name is already in'),
    ...repeated(first(objects), claimOf, 'the same name of the tenant is already claimed in'),
    ...repeated(first(objects), issuerOf, 'the tenant already trusts this issuer by the manifest in'),
  ];
}

/** Who has a name that an earlier one has. */
function repeated(
  objects: readonly FileObject[],
  nameOf: (object: FileObject) => string | undefined,
  words: string,
): Finding[] {
  const known = new Map<string, FileObject>();
  return objects.flatMap((object) => {
    const name = nameOf(object);
    const before = name === undefined ? undefined : known.get(name);
    if (name !== undefined && before === undefined) known.set(name, object);
    return before === undefined ? [] : [about(object, 'duplicate', `${words} ${before.path}:${before.line}`)];
  });
}

/** Without those whose kind and name come twice: that is said of them already. */
function first(objects: readonly FileObject[]): FileObject[] {
  return [...new Map(objects.toReversed().map((object) => [object.key, object])).values()].reverse();
}

/** Types of actors and of resources share their names. */
function claimOf({ kind, claims }: FileObject): string | undefined {
  if (claims === undefined || kind === 'Tenant') return undefined;
  const family = kind === 'ActorType' || kind === 'ResourceType' ? 'type' : kind;
  return JSON.stringify([family, claims.tenant, claims.name]);
}

function issuerOf({ kind, checked, claims }: FileObject): string | undefined {
  if (kind !== 'TrustedIssuer' || !checked.ok) return undefined;
  return JSON.stringify([claims?.tenant, (checked.manifest as IssuerManifest).spec.issuer]);
}

export function unknownReferences(objects: readonly FileObject[]): Finding[] {
  const tenants = new Set(objects.filter(({ kind }) => kind === 'Tenant').map(({ name }) => name));
  const made = new Set(objects.flatMap((object) => claimOf(object) ?? []));
  return objects.flatMap((object) => [
    ...unknownTenant(object, tenants),
    ...(object.checked.ok && object.kind === 'RelationshipType'
      ? unknownTypes(object, object.checked.manifest, made)
      : []),
    ...(object.checked.ok && object.kind === 'Policy'
      ? unknownDataSubjects(object, object.checked.manifest as PolicyManifest, made)
      : []),
  ]);
}

function unknownTenant(object: FileObject, tenants: ReadonlySet<string>): Finding[] {
  const tenant = object.claims?.tenant;
  if (tenant === undefined || tenants.has(tenant)) return [];
  return [unknown(object, '/spec/tenantRef', `there is no Tenant ${tenant} in the files given`)];
}

function unknownTypes(object: FileObject, manifest: Manifest, made: ReadonlySet<string>): Finding[] {
  const { from, to, inheritedThrough = [], tenantRef } = (manifest as RelationshipTypeManifest).spec;
  const isMade = (family: string, name: string) => made.has(JSON.stringify([family, tenantRef.name, name]));
  const ends = [
    ['/spec/from', from],
    ['/spec/to', to],
  ] as const;
  const ways = [...new Set(inheritedThrough.flatMap((way) => [way.relationship, way.from]))];
  return [
    ...ends
      .filter(([, name]) => !isMade('type', name))
      .map(([pointer, name]) =>
        unknown(object, pointer, `there is no ActorType or ResourceType ${name} in the files given`),
      ),
    ...ways
      .filter((name) => !isMade('RelationshipType', name))
      .map((name) =>
        unknown(object, '/spec/inheritedThrough', `there is no RelationshipType ${name} in the files given`),
      ),
  ];
}

/** Which a tenant refuses, unlike what the conditions of a policy name. */
function unknownDataSubjects(object: FileObject, { spec }: PolicyManifest, made: ReadonlySet<string>): Finding[] {
  const name = spec.dataSubjects?.relationship;
  if (name === undefined || made.has(JSON.stringify(['RelationshipType', spec.tenantRef.name, name]))) return [];
  const message = `there is no RelationshipType ${name} in the files given`;
  return [unknown(object, '/spec/dataSubjects/relationship', message)];
}

function unknown(object: FileObject, pointer: string, message: string): Finding {
  return at(object, 'unknown-reference', { pointer }, message);
}
