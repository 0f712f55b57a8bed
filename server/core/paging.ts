/** Owns paging: the query's shape and opaque cursors. A cursor names its list, so that one list's cursor is refused by another. */
import { Type } from 'typebox';
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
