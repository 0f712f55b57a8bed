/** Shapes of what is read of relationships and attributes for decisions. */
import { Type } from 'typebox';
import type { Actor } from '../../core/auth/schema.ts';
import { Json, Nullable } from '../../core/db/rows.ts';

/**
 * What a query gives: stored relationships on the paths from a subject or to a resource, with the attributes of their far
 * ends; and attributes of the subject and the resource themselves.
 */
export const GraphRow = Type.Object({
  /** What it was found for: the number that this has in the query. */
  query_id: Type.Integer(),
  from_type: Nullable(Type.String()),
  from_id: Nullable(Type.String()),
  name: Nullable(Type.String()),
  to_type: Nullable(Type.String()),
  to_id: Nullable(Type.String()),
  attributes: Nullable(Json<Record<string, unknown>>()),
});
export type Named = { type: string; id: string };
export type Edge = { from: Actor; name: string; to: Actor; attributes: Record<string, unknown> | undefined };
