/**
 * What policies name that no manifest creates. A tenant accepts such a policy, and what it names may be created through the
 * API: these are notes.
 */
import type { PolicyManifest, RelationshipTypeManifest } from '../../crds/index.ts';
import type { FileObject } from '../../operator/index.ts';
import { at, type Finding } from './findings.ts';

type Condition = NonNullable<NonNullable<PolicyManifest['spec']['graph']>['nodes'][number]['conditions']>[number];

/** What the manifests of one tenant make. */
type Made = { resources: Set<string>; types: Set<string>; relationships: Set<string>; consents: Set<string> };

/** Only of tenants whose manifest is given: of others nothing is known. */
export function unknownInPolicies(objects: readonly FileObject[]): Finding[] {
  const tenants = madeByTenant(objects);
  return objects.flatMap((object) => {
    const made = tenants.get(object.claims?.tenant ?? '');
    if (object.kind !== 'Policy' || !object.checked.ok || made === undefined) return [];
    const { spec } = object.checked.manifest as PolicyManifest;
    return [...unknownInName(object, spec.name, made), ...unknownInGraph(object, spec.graph, made)];
  });
}

function madeByTenant(objects: readonly FileObject[]): Map<string, Made> {
  const named = objects.filter(({ kind }) => kind === 'Tenant').map(({ name }) => name);
  return new Map(
    named.map((tenant) => {
      const own = objects.filter(({ claims }) => claims?.tenant === tenant);
      const names = (...kinds: string[]) =>
        new Set(own.flatMap(({ kind, claims }) => (kinds.includes(kind) && claims ? [claims.name] : [])));
      const made = {
        resources: names('ResourceType'),
        types: names('ActorType', 'ResourceType'),
        // A condition names the middle of user:drives:car.
        relationships: new Set(
          own.flatMap(({ kind, checked }) =>
            kind === 'RelationshipType' && checked.ok ? [(checked.manifest as RelationshipTypeManifest).spec.name] : [],
          ),
        ),
        consents: names('ConsentDefinition'),
      };
      return [tenant, made];
    }),
  );
}

/** The convention is `resource:action`; a tenant without manifests of resource types does not tell its own. */
function unknownInName(object: FileObject, name: string, { resources }: Made): Finding[] {
  const [, resource] = /^([^:]+):/.exec(name) ?? [];
  if (resource === undefined || resources.size === 0 || resources.has(resource)) return [];
  return [
    note(object, '/spec/name', `the name ${name} is for a ResourceType ${resource}, which is not in the files given`),
  ];
}

function unknownInGraph(object: FileObject, graph: PolicyManifest['spec']['graph'], made: Made): Finding[] {
  return (graph?.nodes ?? []).flatMap(({ id, conditions = [] }) => {
    const missing = new Set(conditions.flatMap((condition) => missingIn(condition, made)));
    return [...missing].map((what) =>
      note(
        object,
        '/spec/graph',
        `the node ${id} tests ${what}, which is not in the files given: it is false until that is made`,
      ),
    );
  });
}

function missingIn({ type, relationshipType, targetType, name }: Condition, made: Made): string[] {
  const missing = (kind: string, called: string | undefined, among: ReadonlySet<string>) =>
    called === undefined || among.has(called) ? [] : [`the ${kind} ${called}`];
  if (type === 'consent') return missing('ConsentDefinition', name, made.consents);
  if (type !== 'relationship' && type !== 'invitation') return [];
  return [
    ...missing('RelationshipType', relationshipType, made.relationships),
    ...missing('ActorType or ResourceType', targetType, made.types),
  ];
}

function note(object: FileObject, pointer: string, message: string): Finding {
  return at(object, 'unknown-reference', { pointer }, message, 'note');
}
