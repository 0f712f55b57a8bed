/**
 * The tokens of AuthZEN's pages: where a search goes on, of which search. All else of a request must be as it was
 * (section 8.2), so a token holds a digest of it. The place where a page ended may be an entity, or a policy, that the
 * caller may not know of, and a place of its own choice would tell where such entities are: tokens are encrypted.
 */
import { createHash } from 'node:crypto';
import { type Encrypter, MasterKeyError } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import { type Problem, problem } from '../core/problems.ts';
import type { Page } from './schema.ts';

const LIMIT = 100;
type Position = { digest: string; limit: number; after: string };

type PageTokens = {
  /**
   * Where a request's page begins, and how many results it may have.
   * @throws Problem invalid_request when the token is none of this search
   */
  pageOf(page: Page | undefined): { after: string; limit: number };
  /** @param after as search/actions.ts gives it: undefined at the end */
  next(limit: number, after: string | undefined): string;
};

/**
 * The tokens of one search of a tenant.
 * @param search what is searched, without the page
 */
export function pageTokensOf(
  encrypter: Encrypter,
  { tenant, list, search }: { tenant: string; list: string; search: unknown },
): PageTokens {
  const place = ['page token', tenant, list];
  return {
    pageOf({ token, limit } = {}) {
      const wanted = limit === undefined ? undefined : Math.min(limit, limits.pageItemsMax);
      if (token === undefined || token === '') return { after: '', limit: wanted ?? LIMIT };
      const position = opened(encrypter, place, token);
      if (position.digest !== digestOf(search)) throw refused('/page/token', 'The token belongs to another search.');
      if ((wanted ?? position.limit) !== position.limit)
        throw refused('/page/limit', `The previous pages had the limit ${position.limit}.`);
      return position;
    },
    next(limit, after) {
      if (after === undefined) return '';
      const position: Position = { digest: digestOf(search), limit, after };
      return encrypter.encrypt(Buffer.from(JSON.stringify(position)), place).toString('base64url');
    },
  };
}

function opened(encrypter: Encrypter, place: readonly string[], token: string): Position {
  try {
    return JSON.parse(encrypter.decrypt(Buffer.from(token, 'base64url'), place).toString()) as Position;
  } catch (error) {
    if (error instanceof MasterKeyError) throw refused('/page/token', 'Not a token of this search.');
    throw error;
  }
}

function digestOf(search: unknown): string {
  return createHash('sha256').update(JSON.stringify(search)).digest('base64url').slice(0, 16);
}

function refused(pointer: string, detail: string): Problem {
  return problem('invalid_request', { detail, errors: [{ pointer, detail }] });
}
