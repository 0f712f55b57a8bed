/** Shapes of the relationships room: entities (actors and resources) with their attributes, and relationships. */
import { type Static, Type } from 'typebox';
import { Instant, Json, Nullable } from '../core/db/rows.ts';
import { limits } from '../core/limits.ts';

const id = Type.String({
  minLength: 1,
  maxLength: limits.entityIdBytesMax,
  description: `An identifier of at most ${limits.entityIdBytesMax} bytes.`,
});
const typeName = (description: string) =>
  Type.String({ minLength: 1, maxLength: limits.typeNameCharsMax, description });

/** An actor or a resource. */
export const Entity = Type.Object(
  { id, type: typeName('The type of the actor or resource.') },
  { additionalProperties: false, description: 'An actor or a resource.' },
);
export type Entity = { id: string; type: string };

const expiresAt = Type.Optional(
  Type.String({
    format: 'date-time',
    maxLength: 64,
    description: 'The relationship expires at this instant, with a precision of milliseconds. Default: never.',
  }),
);

export const RelationshipBody = Type.Object(
  { relationshipType: typeName('Name of the relationship, such as is_owner_of.'), to: Entity, expiresAt },
  { additionalProperties: false },
);
export type RelationshipBody = Static<typeof RelationshipBody>;

/** What the specification shows of an actor's relationship, and nothing more. */
export const FromEntry = Type.Object({ relationshipType: Type.String(), to: Entity });
export type FromEntry = Static<typeof FromEntry>;
export const ToEntry = Type.Object({ relationshipType: Type.String(), from: Entity });

/** One relationship of an import or an export. */
export type Relationship = {
  from: Entity;
  relationshipType: string;
  to: Entity;
  /** RFC 3339 in UTC with milliseconds. */
  expiresAt?: string;
};

export const EntityView = Type.Object({ id: Type.String(), type: Type.String() }, { additionalProperties: true });

export type Attributes = Record<string, string | number | boolean>;
export const EntityRow = Type.Object({ type: Type.String(), id: Type.String(), attributes: Json<Attributes>() });

/** `is_last`: of so many that were read. */
export const ScannedEntity = Type.Object({
  id: Type.String(),
  attributes: Json<Attributes>(),
  matches: Type.Boolean(),
  is_last: Type.Boolean(),
});
export type ScannedEntity = Static<typeof ScannedEntity>;

export const RelationshipRow = Type.Object({
  from_type: Type.String(),
  from_id: Type.String(),
  name: Type.String(),
  to_type: Type.String(),
  to_id: Type.String(),
  expires_at: Nullable(Instant),
});
export type RelationshipRow = Static<typeof RelationshipRow>;

/** What begins at the actor of question `n`. */
export const DirectRow = Type.Object({
  n: Type.Integer(),
  name: Type.String(),
  to_type: Type.String(),
  to_id: Type.String(),
});

/** That the relationship of question `n` holds. */
export const HoldingRow = Type.Object({ n: Type.Integer(), expires_at: Nullable(Instant) });

/** What of an import was wrong: `line` counts from 1. */
export type LineError = { line: number; pointer?: string; detail: string };

export const ImportRow = Type.Object({
  id: Type.String(),
  lines: Type.Integer(),
  digest: Type.String(),
  created: Type.Integer(),
  updated: Type.Integer(),
  unchanged: Type.Integer(),
  refused: Type.Integer(),
  errors: Json<LineError[]>(),
  started_at: Instant,
  finished_at: Nullable(Instant),
});
export type ImportRow = Static<typeof ImportRow>;

export const ImportView = Type.Object({
  importId: Type.String(),
  lines: Type.Integer({ description: 'Number of processed lines. An interrupted import continues after them.' }),
  created: Type.Integer(),
  updated: Type.Integer({ description: 'Number of existing relationships whose expiresAt changed.' }),
  unchanged: Type.Integer(),
  refused: Type.Integer({ description: 'Number of refused lines. All others were imported.' }),
  errors: Type.Array(
    Type.Object({ line: Type.Integer(), pointer: Type.Optional(Type.String()), detail: Type.String() }),
    { description: `Why lines were refused: the first ${limits.importErrorsMax} of them.` },
  ),
  startedAt: Type.String({ format: 'date-time' }),
  finishedAt: Type.Optional(Type.String({ format: 'date-time' })),
});

export type Filter = { fromType?: string; fromId?: string; relationshipType?: string; toType?: string; toId?: string };

export const Written = Type.Object({ was_there: Type.Boolean(), was_unexpired: Type.Boolean() });

export const Removed = Type.Object({ was_unexpired: Type.Boolean() });

export const LineNumber = Type.Object({ line: Type.Integer() });

export const Inserted = Type.Object({ created: Type.Integer(), updated: Type.Integer() });

export type Line = Relationship & { line: number; maxPerTarget?: number };
