/** PolicyLibrary: Rego modules that the policies of a tenant import. */
import Type, { type Static } from 'typebox';
import { bounds } from './bounds.ts';
import { ownershipFields, strictObject, TenantRef, text } from './fields.ts';
import { column, columns, type Kind, Status } from './kind.ts';
import { patterns } from './patterns.ts';
import { immutable, type Rule, rule } from './rule.ts';

const LibraryModule = strictObject(
  {
    name: text(patterns.typeName, bounds.typeNameCharsMax, 'Name of the module in errors; unique in the library.'),
    rego: Type.String({
      minLength: 1,
      maxLength: bounds.regoSourceBytesMax,
      description: 'The module in Rego (v1 or the older v0 syntax), at most 64 KiB.',
    }),
  },
  { description: 'One Rego module, whose package is that of the library or below it.' },
);

export const LibraryModules = Type.Array(LibraryModule, {
  minItems: 1,
  maxItems: bounds.libraryModulesMax,
  description: 'The modules of the library, at most 256 KiB together.',
});

export const PolicyLibrarySpec = strictObject(
  {
    tenantRef: TenantRef,
    package: text(
      patterns.regoPackage,
      bounds.policyPartNameCharsMax,
      'The Rego package of the library without data, such as company.roles. Policies import data.company.roles. Immutable.',
    ),
    modules: LibraryModules,
    ...ownershipFields,
  },
  { description: 'The desired state of the library.' },
);
export type PolicyLibrarySpec = Static<typeof PolicyLibrarySpec>;

/** The first name of a package or path. */
export const notReserved = (at: string, separator: '.' | '/') =>
  rule<string>({
    at,
    cel: `!self.matches(r"^(?:system|accord|data|input)(?:[${separator}]|$)")`,
    message: 'must not begin with system, accord, data or input, which are reserved',
    check: (self) => !['system', 'accord', 'data', 'input'].includes(self.split(separator)[0] as string),
  });

const rules: readonly Rule[] = [
  immutable('/spec/tenantRef/name', 'must not change: delete the library and make it in the other tenant'),
  immutable('/spec/package', 'must not change: delete the library and make one with the other package'),
  notReserved('/spec/package', '.'),
  rule<string>({
    at: '/spec/modules/*/rego',
    // maxLength counts characters; 64 KiB are bytes of UTF-8.
    cel: `size(bytes(self)) <= ${bounds.regoSourceBytesMax}`,
    message: `must have at most ${bounds.regoSourceBytesMax} bytes`,
    check: (self) => Buffer.byteLength(self) <= bounds.regoSourceBytesMax,
  }),
];

export const policyLibrary = {
  kind: 'PolicyLibrary',
  plural: 'policylibraries',
  singular: 'policylibrary',
  shortNames: ['apl'],
  scope: 'Namespaced',
  description: 'A library of Rego modules, which the policies of a tenant can import.',
  specSchema: PolicyLibrarySpec,
  statusSchema: Status,
  printerColumns: columns({
    tenant: true,
    own: [column('Package', '.spec.package', 'The Rego package that policies import.')],
  }),
  rules,
  listKeys: [{ at: '/spec/modules', fields: ['name'] }],
} as const satisfies Kind;
