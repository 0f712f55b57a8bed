/** PolicyData: a JSON document that the policies of a tenant read below data. */
import type { Static } from 'typebox';
import { bounds } from './bounds.ts';
import { freeObject, ownershipFields, strictObject, TenantRef, text } from './fields.ts';
import { column, columns, type Kind, Status } from './kind.ts';
import { patterns } from './patterns.ts';
import { notReserved } from './policy-library.ts';
import { immutable, type Rule } from './rule.ts';

export const PolicyDataSpec = strictObject(
  {
    tenantRef: TenantRef,
    path: text(
      patterns.dataPath,
      bounds.policyPartNameCharsMax,
      'Where policies find the document: at company/roles they read data.company.roles. Immutable.',
    ),
    value: freeObject({
      maxProperties: bounds.policyDataFieldsMax,
      description: 'The document: a JSON object of at most 1 MiB and 50,000 values.',
    }),
    ...ownershipFields,
  },
  { description: 'The desired state of the document.' },
);
export type PolicyDataSpec = Static<typeof PolicyDataSpec>;

const rules: readonly Rule[] = [
  immutable('/spec/tenantRef/name', 'must not change: delete the document and make it in the other tenant'),
  immutable('/spec/path', 'must not change: delete the document and make one at the other path'),
  notReserved('/spec/path', '/'),
];

export const policyData = {
  kind: 'PolicyData',
  plural: 'policydata',
  singular: 'policydata',
  shortNames: ['apd'],
  scope: 'Namespaced',
  description: 'A JSON document that the policies of a tenant read.',
  specSchema: PolicyDataSpec,
  statusSchema: Status,
  printerColumns: columns({
    tenant: true,
    own: [column('Path', '.spec.path', 'Where policies find the document below data.')],
  }),
  rules,
  listKeys: [],
} as const satisfies Kind;
