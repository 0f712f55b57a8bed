/** Types as manifests (docs/resources.md). */
import { newManifest, type Spec, yamlOfNew } from '../../manifests/manifest.ts';
import {
  type Attributes,
  type DisplayName,
  type Kind,
  kindNames,
  type Model,
  partsOf,
  type RelationshipObject,
} from '../../model/shapes.ts';

type Type = { name: string; displayNames?: DisplayName[]; attributes?: Attributes } & Partial<RelationshipObject>;
type Body = Partial<Omit<Type, 'name'>>;

/** What PUT takes: the type without what the server adds. */
export function bodyOf(kind: Kind, type: Body): Body {
  const { displayNames, attributes, inverse, maxPerTarget, invitation, inheritedThrough } = type;
  const own =
    kind === 'relationship-types'
      ? { displayNames, inverse, maxPerTarget, invitation, inheritedThrough }
      : { displayNames, attributes };
  return Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
}

const bodyFields = ['displayNames', 'attributes', 'inverse', 'maxPerTarget', 'invitation', 'inheritedThrough'];

/** A body in the place of what is stored. Manifests list the attributes, in the order that is stored. */
export function specOf(body: Body, stored: Spec): Spec {
  const rest = Object.entries(stored).filter(([name]) => !bodyFields.includes(name));
  const attributes = Object.entries(body.attributes ?? {}).map(([name, { type, required = false }]) => ({
    ...{ name, type, required },
  }));
  return { ...Object.fromEntries(rest), ...body, attributes: attributes.length === 0 ? undefined : attributes };
}

export function manifestOf(tenant: string, kind: Kind, type: Type) {
  const { from, relation, to } = partsOf(type.name);
  const names = kind === 'relationship-types' ? { from, name: relation, to } : { name: type.name };
  return newManifest(kindNames[kind], tenant, type.name, specOf(bodyOf(kind, type), names));
}

export const manifestsOf = (tenant: string, { types, relationships }: Model) =>
  yamlOfNew(...[...types, ...relationships].map(({ kind, spec }) => manifestOf(tenant, kind, spec)));
