/**
 * SQL that looks through a log by time, a bounded portion at a time, for rows that name somebody: bounded in rows, in the bytes
 * that are looked through, and in the bytes of what is read to be rewritten.
 */

import { type Sql, sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';
import type { Place } from './erasing.ts';

type Scan = {
  /** With the columns tenant, at and id. */
  table: Sql;
  /** What is read of it beside `at` and `id`. */
  columns: Sql;
  tenant: string;
  after: Place | undefined;
  /** Bytes of a row, at least as many as its texts have. */
  bytes: Sql;
  /** Joins of `page` that say `named` and `named_bytes`, and the columns of `marks`. */
  naming: Sql;
  marks?: Sql;
};

/**
 * CTEs: `page` holds the rows of a portion, `looked` those of it up to eraseRewriteBytesMax of named ones, with `at`, `id`,
 * `named` and the columns of `marks`. The row that passes a bound is still in, so that every portion makes progress.
 */
export function portion({ table, columns, tenant, after, bytes, naming, marks }: Scan): Sql {
  const beyond = after === undefined ? sql`` : sql`and (at, id) > (${after.at}::timestamptz, ${after.id}::uuid)`;
  return sql`first as materialized (
      select at, id, ${columns} from ${table} where tenant = ${tenant} ${beyond} order by at, id limit ${limits.eraseScanItemsMax}),
    page as materialized (
      select * from (select first.*, sum(${bytes}) ${before} as bytes_before from first) as sized
      where coalesce(bytes_before, 0) < ${limits.eraseScanBytesMax}::int),
    marked as (
      select at, id, named, ${marks === undefined ? sql`` : sql`${marks},`} sum(case when named then named_bytes else 0 end) ${before} as bytes_before
      from page, ${naming}),
    looked as materialized (select * from marked where coalesce(bytes_before, 0) < ${limits.eraseRewriteBytesMax}::int)`;
}

/** Whether a row of `looked` is its last one. */
export const isLastLooked = sql`(at, id) = (select at, id from looked order by at desc, id desc limit 1)`;

const before = sql`over (order by at, id rows between unbounded preceding and 1 preceding)`;

/** At least as long as the column's text: what is compressed is taken for as long as compression can make it. */
export const bytesAtMost = (value: Sql): Sql => sql`coalesce(case when pg_column_compression(${value}) is null
  then pg_column_size(${value}) else least(256 * pg_column_size(${value}), ${limits.batchBodyBytesMax}::int) end, 0)`;
