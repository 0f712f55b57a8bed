/** ResourceType: a type of what access is shared to, such as car or document, and the attributes that its resources have. */
import type { Static } from 'typebox';
import { Attributes, entityTypeRules } from './actor-type.ts';
import { DisplayNames, displayNamesKey, ownershipFields, strictObject, TenantRef, TypeName } from './fields.ts';
import { column, columns, type Kind, Status } from './kind.ts';

export const ResourceTypeSpec = strictObject(
  {
    tenantRef: TenantRef,
    name: TypeName('Name of the type, such as car. It must differ from the names of actor types. Immutable.'),
    displayNames: DisplayNames,
    attributes: Attributes,
    ...ownershipFields,
  },
  { description: 'The desired state of the type.' },
);
export type ResourceTypeSpec = Static<typeof ResourceTypeSpec>;

export const resourceType = {
  kind: 'ResourceType',
  plural: 'resourcetypes',
  singular: 'resourcetype',
  shortNames: ['art'],
  scope: 'Namespaced',
  description: 'A type of resources to which policies allow access, such as car or document.',
  specSchema: ResourceTypeSpec,
  statusSchema: Status,
  printerColumns: columns({
    tenant: true,
    own: [column('Type', '.spec.name', 'Name of the type in paths and requests.')],
  }),
  rules: entityTypeRules,
  listKeys: [displayNamesKey, { at: '/spec/attributes', fields: ['name'] }],
} as const satisfies Kind;
