/** What the model is made of (docs/openapi.json), and what it says in words. */
export const typeKinds = ['actor-types', 'resource-types'] as const;
export type TypeKind = (typeof typeKinds)[number];
export type Kind = TypeKind | 'relationship-types';
export const valueTypes = ['string', 'number', 'boolean', 'date'] as const;
export type ValueType = (typeof valueTypes)[number];
export type Attributes = Record<string, { type: ValueType; required?: boolean }>;
/** What users read in place of the name, in one language. */
export type DisplayName = { language: string; name: string };
type Stored = {
  displayNames?: DisplayName[];
  name: string;
  revision: number;
  updatedAt: string;
  updatedBy: string;
  managedBy: string;
};
export type TypeObject = Stored & { attributes?: Attributes };
export type Invitation = {
  enabled?: boolean;
  ttl?: string;
  binding?: 'none' | 'contact';
  maxUses?: number;
  template?: string;
  redirectUris?: string[];
};
export type Inheritance = { relationship: string; from: string };
export type RelationshipObject = Stored & {
  inverse?: string;
  maxPerTarget?: number;
  invitation?: Invitation;
  inheritedThrough?: Inheritance[];
};
export type Typed = { kind: TypeKind; etag?: string; spec: TypeObject };
export type Related = { kind: 'relationship-types'; etag?: string; spec: RelationshipObject };
export type Model = { types: Typed[]; relationships: Related[] };
export type Entity = { type: string; id: string };
export type Relationship = { from: Entity; relationshipType: string; to: Entity; expiresAt?: string };

export const text = ({ type, id }: Entity) => `${type}/${id}`;
export const said = ({ from, relationshipType, to }: Relationship) => `${text(from)} ${relationshipType} ${text(to)}`;

/** user:may_use:car */
export function partsOf(name: string): { from: string; relation: string; to: string } {
  const [from = '', relation = '', to = ''] = name.split(':');
  return { from, relation, to };
}
export const isSameInheritance = (a: Inheritance, b: Inheritance) =>
  a.relationship === b.relationship && a.from === b.from;

/** The pairs through which a relationship type could hold: from its begin to something, and from there to its end. */
export function pairsOf(name: string, model: Model): Inheritance[] {
  const { from, to } = partsOf(name);
  const all = model.relationships.map(({ spec }) => spec.name).filter((one) => one !== name);
  return all
    .filter((one) => partsOf(one).from === from)
    .flatMap((first) =>
      all
        .filter((one) => partsOf(one).from === partsOf(first).to && partsOf(one).to === to)
        .map((second): Inheritance => ({ relationship: first, from: second })),
    );
}

export const words = (relation: string) => relation.replaceAll('_', ' ');
export const kindNames = {
  'actor-types': 'ActorType',
  'resource-types': 'ResourceType',
  'relationship-types': 'RelationshipType',
} as const;

/** user/alice, or undefined where it is not one. */
export function entityOf(given: string): Entity | undefined {
  const at = given.indexOf('/');
  const [type, id] = [given.slice(0, at).trim(), given.slice(at + 1).trim()];
  return at < 1 || id === '' ? undefined : { type, id };
}
