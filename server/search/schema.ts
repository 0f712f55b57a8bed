import type { AuthorizationRequest } from '../authz/index.ts';
import type { Failure } from '../policies/index.ts';

export type EntitySearch = {
  vary: 'subject' | 'resource';
  type: string;
  /** The question; what is searched for has its attributes, and no id. */
  request: AuthorizationRequest;
};
export type Page = { after: string; limit: number };
/** Candidates that were not decided, because a bound was reached or the evaluation failed: they are not found, and might be. */
export type Undecided = { reason: Failure; count: number };
/** `next`: after which candidate to go on; absent at the end. */
export type Found = { found: string[]; next?: string; candidates: number; undecided: Undecided[] };
