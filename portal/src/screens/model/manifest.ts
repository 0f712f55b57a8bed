/** Types as manifests (docs/resources.md). */
import {
  type Attributes,
  type DisplayName,
  type Kind,
  kindNames,
  type Model,
  partsOf,
  type RelationshipObject,
} from '../../model/shapes.ts';

type Spec = { name: string; displayNames?: DisplayName[]; attributes?: Attributes } & Partial<RelationshipObject>;

/** What PUT takes: the spec without what the server adds. */
export function bodyOf(kind: Kind, spec: Spec): object {
  const { displayNames, attributes, inverse, maxPerTarget, invitation, inheritedThrough } = spec;
  const own =
    kind === 'relationship-types'
      ? { displayNames, inverse, maxPerTarget, invitation, inheritedThrough }
      : { displayNames, attributes };
  return Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
}

// A scalar of JSON is one of YAML.
const flow = (value: unknown) => JSON.stringify(value);

function lines(value: object, indent: string): string[] {
  return Object.entries(value).flatMap(([name, one]) => {
    if (Array.isArray(one) && one.some((item) => typeof item === 'object'))
      return [`${indent}${name}:`, ...one.map((item) => `${indent}  - ${flow(item)}`)];
    if (typeof one === 'object' && one !== null && !Array.isArray(one))
      return Object.keys(one).length === 0
        ? [`${indent}${name}: {}`]
        : [`${indent}${name}:`, ...lines(one, `${indent}  `)];
    return [`${indent}${name}: ${flow(one)}`];
  });
}

export function manifestOf(tenant: string, kind: Kind, spec: Spec): string {
  const { from, relation, to } = partsOf(spec.name);
  const names = kind === 'relationship-types' ? { from, name: relation, to } : { name: spec.name };
  const object = spec.name.replaceAll(/[^A-Za-z0-9]+/g, '-').toLowerCase();
  return [
    'apiVersion: accord.dev/v1alpha1',
    `kind: ${kindNames[kind]}`,
    `metadata: {name: ${flow(object)}, namespace: ${flow(tenant)}}`,
    'spec:',
    `  tenantRef: {name: ${flow(tenant)}}`,
    ...lines({ ...names, ...bodyOf(kind, spec) }, '  '),
    '',
  ].join('\n');
}

export const manifestsOf = (tenant: string, { types, relationships }: Model) =>
  [...types, ...relationships].map(({ kind, spec }) => manifestOf(tenant, kind, spec)).join('---\n');
