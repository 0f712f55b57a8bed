/**
 * The border between Postgres and our types: every row that comes in is checked against its schema, so that a
 * column renamed in a migration fails at the query and not three rooms later. (Compiled check: about 0.2 us a row.
 * Compiling takes 25 us or more, so a schema is a constant and does not stand in the call: test/tidy.test.ts.)
 */
import { type Static, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';

const validators = new WeakMap<object, { Check(value: unknown): boolean; Errors(value: unknown): unknown[] }>();

/** Returns the rows unchanged but typed. @throws Error naming the first wrong column. */
export function checkRows<Schema extends TSchema>(schema: Schema, rows: unknown[]): Static<Schema>[] {
  let validator = validators.get(schema);
  if (validator === undefined) {
    validator = Compile(schema) as unknown as NonNullable<typeof validator>;
    validators.set(schema, validator);
  }
  for (const row of rows) {
    if (!validator.Check(row)) {
      throw new Error(`row does not fit its schema: ${JSON.stringify(validator.Errors(row).slice(0, 3))}`);
    }
  }
  return rows as Static<Schema>[];
}

/** A jsonb column whose shape was checked when it was written. */
export const Json = <T>() => Type.Unsafe<T>(Type.Unknown());
/** A bytea column. */
export const Bytes = Type.Unsafe<Buffer>(Type.Unknown());
/** A timestamptz column: RFC 3339 in UTC with milliseconds (set in transaction.ts). */
export const Instant = Type.String();
/** Null or the schema. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
/** Of `select count(*)::int as count`. */
export const Count = Type.Object({ count: Type.Integer() });
