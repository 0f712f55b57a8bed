/** Owns paging: the query's shape, pages of names and opaque cursors. A cursor names its list, so that one list's cursor is refused by another. */
import { type Static, Type } from 'typebox';
import { limits } from './limits.ts';
import { type Problem, problem } from './problems.ts';

/** Query members of every list that can be paged. Ajv sees strings here, because coercion is off: `limit` is parsed by the app. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.pageItemsMax,
      description: 'Items of a page; without it the list is complete.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 2048, description: 'Where the next page begins, from the page before.' }),
  ),
};

export const PageQuery = Type.Object(pageQuery, { additionalProperties: false });

/** What a list of names in the Config API answers. */
export const NamesPage = Type.Object({
  resources: Type.Array(Type.String()),
  links: Type.Record(Type.String(), Type.String()),
  cursor: Type.Optional(Type.String()),
});
export type NamesPage = Static<typeof NamesPage>;

/**
 * A page of names; the header Link says where the next one begins.
 * @param names those that follow the cursor; more than `limit`: there is a next page
 * @param of `self` is the list's path, `list` its name in cursors, `filter` what its query says beside the page
 */
export function pageOfNames(
  reply: { header(name: string, value: string): unknown },
  names: string[],
  of: { self: string; list: string; limit: number | undefined; filter?: Record<string, string> },
): NamesPage {
  const { self, list, limit, filter = {} } = of;
  if (limit === undefined || names.length <= limit) return { resources: names, links: { self } };
  const resources = names.slice(0, limit);
  const cursor = encodeCursor(resources.at(-1) as string, list);
  const next = `${self}?${new URLSearchParams({ limit: String(limit), cursor, ...filter })}`;
  reply.header('link', `<${next}>; rel="next"`);
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

/** What a cursor is answered that no page of the list ended with. */
export function notACursor(): Problem {
  return problem('invalid_request', {
    errors: [{ pointer: '/query/cursor', detail: 'This is not a cursor of this list.' }],
  });
}
