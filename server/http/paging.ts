/**
 * Paging: the query's shape, what a page answers besides its items, and opaque cursors. A cursor names its list, so that
 * one list's cursor is refused by another.
 */
import { type Static, Type } from 'typebox';
import type { Encrypter } from '../core/encrypter.ts';
import { instantMs } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import { type Problem, problem } from '../core/problems.ts';

/** Items of a page, where the request does not say. */
export const PAGE_ITEMS = 100;

const queryOf = (description: string) => ({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.pageItemsMax, description })),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 2048, description: 'The cursor of the page, from the previous page.' }),
  ),
});

/** Query members of a list that always has pages. Ajv sees strings here, because coercion is off: `limit` is parsed by the app. */
export const pageQuery = queryOf(
  `Maximum number of items on the page. Default: ${PAGE_ITEMS}. Link rel="next" points to the next page.`,
);
export const PageQuery = Type.Object(pageQuery, { additionalProperties: false });

/** Query members of a list that is complete unless the request asks for pages. */
export const wholeQuery = queryOf(
  'Maximum number of items on the page. Default: the whole list. Link rel="next" points to the next page.',
);
export const WholeQuery = Type.Object(wholeQuery, { additionalProperties: false });

/** What a list of names in the Config API answers. */
export const NamesPage = Type.Object({
  resources: Type.Array(Type.String()),
  links: Type.Record(Type.String(), Type.String()),
  cursor: Type.Optional(Type.String()),
});
export type NamesPage = Static<typeof NamesPage>;

type Replying = { header(name: string, value: string): unknown };

/**
 * Says where the next page begins, in the header Link (RFC 8288): the address of this page with another cursor.
 * @returns that address
 */
export function linkNext(reply: Replying, url: string, { limit, cursor }: { limit: number; cursor: string }): string {
  const [path = '', query] = url.split('?', 2);
  const search = new URLSearchParams(query);
  search.set('limit', String(limit));
  search.set('cursor', cursor);
  const next = `${path}?${search}`;
  reply.header('link', `<${next}>; rel="next"`);
  return next;
}

/**
 * What a list has to read for the page that a query asks for: one more than its limit, which says whether there is a next page.
 * @param positionOf what a cursor's text means to the list
 */
export function pageAsked<After = string>(
  { limit, cursor }: Static<typeof WholeQuery>,
  list: string,
  positionOf: (text: string) => After = (text) => text as After,
): { limit?: number; after?: After } {
  return {
    ...(limit === undefined ? {} : { limit: limit + 1 }),
    ...(cursor === undefined ? {} : { after: positionOf(decodeCursor(cursor, list)) }),
  };
}

/**
 * A page of what was read, of which one more than `limit` means that there is a next page: Link and `cursor` then say where.
 * @param rows at most one more than `limit`
 * @param cursorOf the cursor behind a row
 */
export function pageOfRows<Row>(
  { request, reply }: { request: { url: string }; reply: Replying },
  rows: Row[],
  limit: number,
  cursorOf: (last: Row) => string,
): { page: Row[]; onward: { cursor?: string } } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  if (rows.length <= limit || last === undefined) return { page, onward: {} };
  const cursor = cursorOf(last);
  linkNext(reply, request.url, { limit, cursor });
  return { page, onward: { cursor } };
}

/**
 * A page of names; the header Link says where the next one begins.
 * @param names those that follow the cursor; more than `limit`: there is a next page
 * @param of `self` is the list's path, `list` its name in cursors, `filter` what its query says beside the page
 */
export function pageOfNames(
  reply: Replying,
  names: string[],
  of: { self: string; list: string; limit: number | undefined; filter?: Record<string, string> },
): NamesPage {
  const { self, list, limit, filter = {} } = of;
  if (limit === undefined || names.length <= limit) return { resources: names, links: { self } };
  const resources = names.slice(0, limit);
  const cursor = encodeCursor(resources.at(-1) as string, list);
  const next = linkNext(reply, `${self}?${new URLSearchParams(filter)}`, { limit, cursor });
  return { resources, links: { self, next }, cursor };
}

const TEXT = /^[^\0]*$/;

export function encodeCursor(position: string, list: string): string {
  return Buffer.from(JSON.stringify([list, position])).toString('base64url');
}

/**
 * @param shape what the list's positions look like: a cursor may come from anybody's hand, and Postgres casts it
 * @throws Problem invalid_request when it is no cursor of this list
 */
export function decodeCursor(cursor: string, list: string, shape: RegExp = TEXT): string {
  try {
    const value = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown;
    if (Array.isArray(value) && value[0] === list && typeof value[1] === 'string' && shape.test(value[1])) {
      return value[1];
    }
  } catch {
    // falls through: not a cursor
  }
  throw notACursor();
}

/**
 * A cursor whose position its holder may neither read nor choose, where the list hides what it is ordered by.
 * @param place the list, and whatever else it may be used for
 */
export function hideCursor(encrypter: Pick<Encrypter, 'encrypt'>, cursor: string, place: readonly string[]): string {
  return encrypter.encrypt(Buffer.from(cursor, 'base64url'), ['cursor', ...place]).toString('base64url');
}

/** @throws Problem invalid_request when it was not hidden for this place */
export function revealCursor(encrypter: Pick<Encrypter, 'decrypt'>, hidden: string, place: readonly string[]): string {
  try {
    return encrypter.decrypt(Buffer.from(hidden, 'base64url'), ['cursor', ...place]).toString('base64url');
  } catch {
    throw notACursor();
  }
}

/** An instant as a record has it, and the record's id. */
const RECORD = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Where a page of a list of records begins. @param at as `Date.toISOString` writes it */
export function encodeRecordCursor({ at, id }: { at: string; id: string }, list: string): string {
  return encodeCursor(`${at} ${id}`, list);
}

/** @throws Problem invalid_request when it is no cursor of this list */
export function decodeRecordCursor(cursor: string, list: string): { at: string; id: string } {
  const [at = '', id = ''] = decodeCursor(cursor, list, RECORD).split(' ');
  // Digits in the right places may still be no instant, such as February 30.
  if (instantMs(at) === undefined) throw notACursor();
  return { at, id };
}

/** What a cursor is answered that no page of the list ended with. */
export function notACursor(): Problem {
  const place = { pointer: '/query/cursor', detail: 'Not a cursor of this list.' };
  return problem('invalid_request', { detail: `${place.pointer}: ${place.detail}`, errors: [place] });
}
