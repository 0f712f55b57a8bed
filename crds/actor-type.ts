/** ActorType: a type of those who act, such as user or group, and the attributes that its actors have. */
import Type, { type Static } from 'typebox';
import { bounds } from './bounds.ts';
import { DisplayNames, displayNamesKey, ownershipFields, strictObject, TenantRef, TypeName, text } from './fields.ts';
import { column, columns, type Kind, Status } from './kind.ts';
import { patterns } from './patterns.ts';
import { immutable, type Rule, rule } from './rule.ts';

const Attribute = strictObject(
  {
    name: text(patterns.attributeName, bounds.attributeNameCharsMax, 'Name of the attribute; never id or type.'),
    type: Type.Enum(['string', 'number', 'boolean', 'date'], {
      description: 'Type of its value; a date is an RFC 3339 instant.',
    }),
    required: Type.Boolean({
      default: false,
      description: 'Whether every actor or resource of the type must have it.',
    }),
  },
  { description: 'One attribute.' },
);
export type Attribute = Static<typeof Attribute>;

/** The list of attributes, which actor and resource types have alike. */
export const Attributes = Type.Optional(
  Type.Array(Attribute, {
    maxItems: bounds.typeAttributesMax,
    description:
      'Attributes that Accord stores and gives to policies. They take precedence over attributes in a request. Attributes that are not declared are refused.',
  }),
);

/** What holds for actor and resource types alike. */
export const entityTypeRules: readonly Rule[] = [
  immutable('/spec/tenantRef/name', 'must not change: delete the type and make it in the other tenant'),
  immutable('/spec/name', 'must not change: delete the type and make one with the other name'),
  rule<string>({
    at: '/spec/attributes/*/name',
    cel: "self != 'id' && self != 'type'",
    message: 'must not be id or type, which everything has',
    check: (self) => self !== 'id' && self !== 'type',
  }),
];

export const ActorTypeSpec = strictObject(
  {
    tenantRef: TenantRef,
    name: TypeName('Name of the type, such as user. It must differ from the names of resource types. Immutable.'),
    displayNames: DisplayNames,
    attributes: Attributes,
    ...ownershipFields,
  },
  { description: 'The desired state of the type.' },
);
export type ActorTypeSpec = Static<typeof ActorTypeSpec>;

export const actorType = {
  kind: 'ActorType',
  plural: 'actortypes',
  singular: 'actortype',
  shortNames: ['aat'],
  scope: 'Namespaced',
  description: 'A type of actors, which act and have relationships, such as user or group.',
  specSchema: ActorTypeSpec,
  statusSchema: Status,
  printerColumns: columns({
    tenant: true,
    own: [column('Type', '.spec.name', 'Name of the type in paths and requests.')],
  }),
  rules: entityTypeRules,
  listKeys: [displayNamesKey, { at: '/spec/attributes', fields: ['name'] }],
} as const satisfies Kind;
