import { type Static, Type } from 'typebox';
import { DataSubjects } from '../../crds/data-subjects.ts';
import { PolicyTests } from '../../crds/index.ts';
import { Bytes, Instant, Json, Nullable } from '../core/db/rows.ts';
import { limits } from '../core/limits.ts';
import type { Owner } from '../core/ownership.ts';
import { RelationshipsRead } from '../rego/index.ts';
import type { Reads } from '../rego/schema.ts';
import type { DocumentRef, Documents } from './documents.ts';
import { GraphSchema, type PolicyGraph } from './graph/index.ts';
import type { PolicyTest } from './rules.ts';

/** A policy in the snapshot: what deciding needs to find its compiled form. The source stays in Postgres. */
export type PolicyEntry = {
  readonly name: string;
  /** The policy's own revision number, counted from 1 for each name. */
  readonly number: number;
  /** Digest of the compiled artifact. */
  readonly artifact: string;
  /** The tenant's revision that made it. */
  readonly revision: number;
  readonly reads: Reads;
  /** Whose consents it reads. */
  readonly dataSubjects?: DataSubjects;
  /** What it finds below data beside rules. */
  readonly documents?: Documents;
  /** Revisions of the libraries that it was compiled with, by package. */
  readonly libraries?: Readonly<Record<string, number>>;
};

export const RegoSource = Type.String({
  minLength: 1,
  maxLength: limits.regoSourceBytesMax,
  description: 'The policy in Rego. Its package is the entry point; outcome, reason and obligations are read from it.',
});

const tests = Type.Optional(PolicyTests);

export const PolicyBody = Type.Object(
  {
    rego: Type.Optional(RegoSource),
    graph: Type.Optional(GraphSchema),
    dataSubjects: Type.Optional(DataSubjects),
    tests,
  },
  {
    additionalProperties: false,
    description: 'A policy: rego, graph or both. If both are present, the graph is used.',
  },
);

export const PolicyTestBody = Type.Object(
  {
    rego: Type.Optional(RegoSource),
    graph: Type.Optional(GraphSchema),
    dataSubjects: Type.Optional(DataSubjects),
    input: Type.Record(Type.String(), Type.Unknown(), { description: 'The input document of the policy.' }),
    coverage: Type.Optional(
      Type.Boolean({
        description: 'true: say which lines the tests of the policy and this input reach, and which they do not.',
      }),
    ),
    tests: Type.Optional({
      ...PolicyTests,
      description: 'With coverage: these tests in place of those that are stored with the policy.',
    } as typeof PolicyTests),
  },
  { additionalProperties: false },
);

const line = Type.Integer({ minimum: 1 });
export const NodeLines = Type.Array(Type.Object({ node: Type.String(), start: line, end: line }), {
  description:
    'Of a drawn policy: which lines of effectiveRego were made from which node, in the order of the lines. Absent where an earlier version of Accord converted it.',
});

export const PolicyView = Type.Object({
  name: Type.String(),
  rego: Type.Optional(Type.String()),
  graph: Type.Optional(Type.Unknown()),
  dataSubjects: Type.Optional(DataSubjects),
  effectiveRego: Type.String({
    description: 'The Rego that is evaluated: the source itself, or the graph converted to Rego.',
  }),
  nodeLines: Type.Optional(NodeLines),
  revision: Type.Integer({ description: "The policy's revision number." }),
  updatedAt: Type.String({ format: 'date-time' }),
  updatedBy: Type.String(),
  managedBy: Type.String({ description: '`api`, or the manifest that owns the policy.' }),
  relationships: RelationshipsRead,
  tests,
});
export type PolicyView = Static<typeof PolicyView>;

export const PolicyRow = Type.Object({
  name: Type.String(),
  number: Type.Integer(),
  rego: Nullable(Type.String()),
  graph: Nullable(Json<PolicyGraph>()),
  data_subjects: Nullable(Json<DataSubjects>()),
  effective_rego: Type.String(),
  artifact: Type.String(),
  reads: Json<Reads>(),
  tests: Nullable(Json<PolicyTest[]>()),
  allow_tested: Nullable(Type.Boolean()),
  revision: Type.Integer(),
  owner: Json<Owner>(),
  updated_at: Instant,
  updated_by: Type.String(),
});
export type PolicyRow = Static<typeof PolicyRow>;

/** What a manifest of it holds. */
export const SourceRow = Type.Object({
  name: PolicyRow.properties.name,
  rego: PolicyRow.properties.rego,
  graph: PolicyRow.properties.graph,
  data_subjects: PolicyRow.properties.data_subjects,
  tests: PolicyRow.properties.tests,
  owner: PolicyRow.properties.owner,
});

export const RevisionRow = Type.Object({
  number: Type.Integer(),
  action: Type.String(),
  rego: Nullable(Type.String()),
  graph: Nullable(Json<PolicyGraph>()),
  data_subjects: Nullable(Json<DataSubjects>()),
  effective_rego: Nullable(Type.String()),
  updated_at: Instant,
  updated_by: Type.String(),
});
export type RevisionRow = Static<typeof RevisionRow>;

export const EntryRow = Type.Object({
  tenant: Type.String(),
  name: Type.String(),
  number: Type.Integer(),
  artifact: Type.String(),
  revision: Type.Integer(),
  reads: Json<Reads>(),
  data_subjects: Nullable(Json<DataSubjects>()),
  documents: Nullable(Json<DocumentRef[]>()),
  libraries: Nullable(Json<Record<string, number>>()),
});

/** What is known of a compiled policy besides its Wasm. */
export type ArtifactAbout = { reads: Reads; syntax: 'v1' | 'v0'; package: string; compiler: string };
export const ArtifactRow = Type.Object({ wasm: Bytes, plan: Nullable(Bytes), about: Json<ArtifactAbout>() });
