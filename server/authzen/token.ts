/**
 * Owns the tokens of AuthZEN's pages: where a search goes on, of which search. All else of a request must be as it was
 * (section 8.2), so a token holds a digest of it.
 */
import { createHash } from 'node:crypto';
import { limits } from '../core/limits.ts';
import { decodeCursor, encodeCursor } from '../core/paging.ts';
import { Problem, problem } from '../core/problems.ts';
import type { Page } from './schema.ts';

const LIMIT = 100;
type Position = { digest: string; limit: number; after: string };

/**
 * Where a request's page begins, and how many results it may have.
 * @param search what is searched, without the page
 * @throws Problem invalid_request when the token is none of this search
 */
export function pageOf(list: string, search: unknown, page: Page | undefined): { after: string; limit: number } {
  const { token, limit } = page ?? {};
  const wanted = limit === undefined ? undefined : Math.min(limit, limits.pageItemsMax);
  if (token === undefined || token === '') return { after: '', limit: wanted ?? LIMIT };
  const position = positionOf(list, token);
  if (position.digest !== digestOf(search)) throw refused('/page/token', 'This is a token of another search.');
  if ((wanted ?? position.limit) !== position.limit)
    throw refused('/page/limit', `The pages before had the limit ${position.limit}.`);
  return position;
}

/** @param next as search/actions.ts gives it */
export function nextToken(list: string, search: unknown, limit: number, next: string | undefined): string {
  if (next === undefined) return '';
  const position: Position = { digest: digestOf(search), limit, after: next };
  return encodeCursor(JSON.stringify(position), list);
}

function positionOf(list: string, token: string): Position {
  try {
    const { digest, limit, after } = JSON.parse(decodeCursor(token, list)) as Partial<Position>;
    const isLimit = Number.isInteger(limit) && (limit as number) > 0 && (limit as number) <= limits.pageItemsMax;
    if (
      typeof digest === 'string' &&
      isLimit &&
      typeof after === 'string' &&
      after.isWellFormed() &&
      !after.includes('\0')
    )
      return { digest, limit: limit as number, after };
  } catch (error) {
    if (!(error instanceof Problem || error instanceof SyntaxError)) throw error;
  }
  throw refused('/page/token', 'This is not a token of this search.');
}

function digestOf(search: unknown): string {
  return createHash('sha256').update(JSON.stringify(search)).digest('base64url').slice(0, 16);
}

function refused(pointer: string, detail: string): Problem {
  return problem('invalid_request', { detail, errors: [{ pointer, detail }] });
}
