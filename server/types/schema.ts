/** Shapes of the types room. A relationship type's spec is the custom resource's, without what only a manifest needs. */
import { type Static, Type } from 'typebox';
import {
  type DisplayName,
  definitionOf,
  patterns,
  type RelationshipTypeSpec as RelationshipTypeManifestSpec,
} from '../../crds/index.ts';
import { Instant, Json } from '../core/db/rows.ts';
import { limits } from '../core/limits.ts';
import type { Owner } from '../core/ownership.ts';

export type EntityKind = 'actor' | 'resource';

const AttributeBody = Type.Object(
  {
    type: Type.Enum(['string', 'number', 'boolean', 'date'], { description: 'A date is an RFC 3339 instant.' }),
    required: Type.Optional(Type.Boolean({ description: 'Whether the attribute is required. Default: false.' })),
  },
  { additionalProperties: false },
);

const { displayNames } = definitionOf('ActorType').specSchema.properties;

/** The body of PUT /tenants/{tenant}/actor-types/{type} and /tenants/{tenant}/resource-types/{type}. */
export const EntityTypeBody = Type.Object(
  {
    displayNames,
    attributes: Type.Optional(
      Type.Record(Type.String({ pattern: patterns.attributeName.source }), AttributeBody, {
        additionalProperties: false,
        maxProperties: limits.typeAttributesMax,
        description: 'Attributes by name. All others are refused. If absent, all attributes are refused.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type EntityTypeBody = Static<typeof EntityTypeBody>;

type AttributeType = 'string' | 'number' | 'boolean' | 'date';
export type EntityTypeSpec = {
  displayNames?: DisplayName[];
  attributes?: Record<string, { type: AttributeType; required: boolean }>;
};

const {
  tenantRef: _ref,
  managementPolicy: _management,
  adoptionPolicy: _adoption,
  from: _from,
  name: _name,
  to: _to,
  ...fields
} = definitionOf('RelationshipType').specSchema.properties;
const invitation = fields.invitation;

/** What of a relationship type is not its name. */
export type RelationshipTypeSpec = Omit<
  RelationshipTypeManifestSpec,
  'tenantRef' | 'managementPolicy' | 'adoptionPolicy' | 'from' | 'name' | 'to'
>;

/** The body of PUT /tenants/{tenant}/relationship-types/{From}:{rel}:{To}; what is absent has its default. */
export const RelationshipTypeBody = Type.Object(
  {
    displayNames: fields.displayNames,
    inverse: fields.inverse,
    maxPerTarget: fields.maxPerTarget,
    invitation: Type.Optional(Type.Partial(Type.Object(invitation.properties), { additionalProperties: false })),
    inheritedThrough: fields.inheritedThrough,
  },
  { additionalProperties: false },
);
export type RelationshipTypeBody = Static<typeof RelationshipTypeBody>;

const about = {
  revision: Type.Integer({ description: "The tenant's revision that last changed it." }),
  updatedAt: Type.String({ format: 'date-time' }),
  updatedBy: Type.String(),
  managedBy: Type.String({ description: '`api`, or the manifest that owns it.' }),
};
export const EntityTypeView = Type.Object({ name: Type.String(), ...EntityTypeBody.properties, ...about });
export const RelationshipTypeView = Type.Object({
  from: Type.String(),
  name: Type.String(),
  to: Type.String(),
  ...fields,
  retired: Type.Optional(
    Type.Boolean({
      description: 'true: the manifest was deleted while relationships of the type exist. No new ones can be created.',
    }),
  ),
  ...about,
});

const row = {
  tenant: Type.String(),
  revision: Type.Integer(),
  owner: Json<Owner>(),
  updated_at: Instant,
  updated_by: Type.String(),
};
export const EntityTypeRow = Type.Object({
  name: Type.String(),
  kind: Type.Union([Type.Literal('actor'), Type.Literal('resource')]),
  spec: Json<EntityTypeSpec>(),
  ...row,
});
export type EntityTypeRow = Static<typeof EntityTypeRow>;

export const RelationshipTypeRow = Type.Object({
  from_type: Type.String(),
  name: Type.String(),
  to_type: Type.String(),
  spec: Json<RelationshipTypeSpec>(),
  retired: Type.Boolean(),
  ...row,
});
export type RelationshipTypeRow = Static<typeof RelationshipTypeRow>;

/** From, relationship, To: what names a relationship type. */
export type TypeKey = { from: string; name: string; to: string };

/** A pair of relationship types through which a third one holds. */
export type Inheritance = { readonly through: string; readonly next: string; readonly makes: string };

/** A tenant's types as decisions use them. Keys of relationship types are From:rel:To. */
export type Types = {
  /** Declared attributes of actor and resource types, by type. */
  readonly attributes: ReadonlyMap<string, ReadonlySet<string>>;
  /** Whether any type declares attributes. */
  readonly anyAttributes: boolean;
  readonly relationships: ReadonlySet<string>;
  /** Display names, of those that have some: of types by name, of relationship types by key. */
  readonly displayNames: ReadonlyMap<string, readonly DisplayName[]>;
  readonly inheritances: readonly Inheritance[];
  /** Pairs of relationship types that stand one after the other on some way of inheritance. */
  readonly follows: readonly (readonly [first: string, second: string])[];
};
