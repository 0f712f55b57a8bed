/** Rows, bodies and answers of libraries and data documents. */
import { type Static, Type } from 'typebox';
import { LibraryModules } from '../../crds/index.ts';
import { Instant, Json, Nullable } from '../core/db/rows.ts';
import type { Owner } from '../core/ownership.ts';
import type { PolicyTest } from './rules.ts';

export const PartRow = Type.Object({
  kind: Type.Unsafe<'library' | 'data'>(Type.String()),
  name: Type.String(),
  number: Type.Integer(),
  digest: Type.String(),
  bytes: Type.Integer(),
  refs: Json<string[][]>(),
});

export const OwnedPartRow = Type.Object({
  ...PartRow.properties,
  revision: Type.Integer(),
  owner: Json<Owner>(),
  updated_at: Instant,
  updated_by: Type.String(),
});
export type OwnedPartRow = Static<typeof OwnedPartRow>;

export const ContentRow = Type.Object({ content: Nullable(Type.String()) });

export const PartRevisionRow = Type.Object({
  number: Type.Integer(),
  action: Type.String(),
  content: Nullable(Type.String()),
  updated_at: Instant,
  updated_by: Type.String(),
});
export type PartRevisionRow = Static<typeof PartRevisionRow>;

/** What a manifest of it holds. */
export const PartSourceRow = Type.Object({
  name: Type.String(),
  content: Type.String(),
  owner: Json<Owner>(),
});
export type PartSourceRow = Static<typeof PartSourceRow>;

export const UserRow = Type.Object({
  user_kind: Type.Unsafe<'policy' | 'library'>(Type.String()),
  user_name: Type.String(),
});
export type UserRow = Static<typeof UserRow>;

/** A policy that uses a part, as it is compiled and tested again. */
export const DependentRow = Type.Object({
  name: Type.String(),
  number: Type.Integer(),
  effective_rego: Type.String(),
  drawn: Type.Boolean(),
  artifact: Type.String(),
  data_subjects: Nullable(Json<object>()),
  tests: Nullable(Json<PolicyTest[]>()),
});
export type DependentRow = Static<typeof DependentRow>;

const shown = {
  revision: Type.Integer({ description: 'Its revision number.' }),
  updatedAt: Type.String({ format: 'date-time' }),
  updatedBy: Type.String(),
  managedBy: Type.String({ description: '`api`, or the manifest that owns it.' }),
  usedBy: Type.Object(
    { policies: Type.Array(Type.String()), libraries: Type.Array(Type.String()) },
    { description: 'What uses it, directly or through a library; at most 100 of each.' },
  ),
};

export const LibraryBody = Type.Object(
  { modules: LibraryModules },
  { additionalProperties: false, description: 'A library: Rego modules of its package, or of packages below it.' },
);
export const LibraryView = Type.Object({ package: Type.String(), modules: LibraryModules, ...shown });

const value = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description: 'The document: a JSON object of at most 1 MiB.',
});
export const DocumentBody = Type.Object({ value }, { additionalProperties: false, description: 'A data document.' });
export const DocumentView = Type.Object({ path: Type.String(), value, ...shown });

const revisionShown = {
  revision: Type.Integer(),
  action: Type.String({ description: 'put, restore, adopt or delete.' }),
  updatedAt: Type.String({ format: 'date-time' }),
  updatedBy: Type.String(),
};
export const PartRevisionsPage = Type.Object({
  revisions: Type.Array(Type.Object(revisionShown)),
  cursor: Type.Optional(Type.String()),
});
export const LibraryRevisionView = Type.Object({ ...revisionShown, modules: Type.Optional(LibraryModules) });
export const DocumentRevisionView = Type.Object({ ...revisionShown, value: Type.Optional(value) });
