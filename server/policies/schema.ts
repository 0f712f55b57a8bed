/** Shapes of the policies room. */
import { type Static, Type } from 'typebox';
import { Bytes, Instant, Json, Nullable } from '../core/db/rows.ts';
import { limits } from '../core/limits.ts';
import type { Owner } from '../core/ownership.ts';
import { RelationshipsRead } from '../rego/index.ts';
import type { Reads } from '../rego/schema.ts';
import { GraphSchema, type PolicyGraph } from './graph/index.ts';

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
};

const rego = Type.String({
  minLength: 1,
  maxLength: limits.regoSourceBytesMax,
  description: 'The policy in Rego. Its package is the entry point; outcome, reason and obligations are read from it.',
});

export const PolicyBody = Type.Object(
  { rego: Type.Optional(rego), graph: Type.Optional(GraphSchema) },
  { additionalProperties: false, description: 'A policy: rego and/or graph. When both are there, the graph counts.' },
);

export const PolicyTestBody = Type.Object(
  {
    rego: Type.Optional(rego),
    graph: Type.Optional(GraphSchema),
    input: Type.Record(Type.String(), Type.Unknown(), { description: 'The input of the policy, as it is evaluated.' }),
  },
  { additionalProperties: false },
);

export const PolicyView = Type.Object({
  name: Type.String(),
  rego: Type.Optional(Type.String()),
  graph: Type.Optional(Type.Unknown()),
  effectiveRego: Type.String({ description: 'What is evaluated: the Rego, or the graph converted to Rego.' }),
  revision: Type.Integer({ description: "The policy's revision number." }),
  updatedAt: Type.String({ format: 'date-time' }),
  updatedBy: Type.String(),
  managedBy: Type.String({ description: '`api`, or the manifest that owns the policy.' }),
  relationships: RelationshipsRead,
});
export type PolicyView = Static<typeof PolicyView>;

export const PolicyRow = Type.Object({
  name: Type.String(),
  number: Type.Integer(),
  rego: Nullable(Type.String()),
  graph: Nullable(Json<PolicyGraph>()),
  effective_rego: Type.String(),
  artifact: Type.String(),
  reads: Json<Reads>(),
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
  owner: PolicyRow.properties.owner,
});

export const RevisionRow = Type.Object({
  number: Type.Integer(),
  action: Type.String(),
  rego: Nullable(Type.String()),
  graph: Nullable(Json<PolicyGraph>()),
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
});

/** What is known of a compiled policy besides its Wasm. */
export type ArtifactAbout = { reads: Reads; syntax: 'v1' | 'v0'; package: string; compiler: string };
export const ArtifactRow = Type.Object({ wasm: Bytes, plan: Nullable(Bytes), about: Json<ArtifactAbout>() });
