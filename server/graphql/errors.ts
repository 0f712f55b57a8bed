/** What went wrong while a document ran, as problems. An answer is whole or none. */
import type { GraphQLError } from 'grafast/graphql';
import { isDatabaseLost, isTimeout } from '../core/db/errors.ts';
import { Problem, problem } from '../core/problems.ts';
import { graphqlProblem } from './problems.ts';

/** SQLSTATE: insufficient_privilege; of a statement behind one that failed; data exceptions, which values of the caller cause. */
const DENIED = '42501';
const ABORTED = '25P02';
const OF_VALUES = /^22/;
/** What the library says of the caller's null and {} in a filter, by a literal or a variable. */
const OF_FILTERS = /^(Null literals|Empty objects) are forbidden in |^Expected non-nullable type .* not to be null/;

/** @returns what to throw: a problem, or the error of the database */
export function problemOfErrors(errors: readonly GraphQLError[]): unknown {
  const found = errors.find((error) => codeOf(error) !== ABORTED) ?? (errors[0] as GraphQLError);
  const cause = found.originalError;
  const code = codeOf(found);
  const field = found.path?.join('.') ?? 'the query';
  // Of the schema or the variables: nothing has run.
  if (cause == null) return graphqlProblem('graphql_invalid', { detail: found.message });
  if (cause instanceof Problem) return cause;
  if (code === DENIED) return problem('forbidden', { detail: `Your role may not read ${field}.` });
  if (isTimeout(cause)) return graphqlProblem('graphql_too_slow', { cause });
  if (isDatabaseLost(cause)) return cause;
  if (OF_VALUES.test(code)) {
    return graphqlProblem('graphql_invalid', { detail: `${field}: a value is not of its type.`, cause });
  }
  if (OF_FILTERS.test(cause.message)) {
    const detail = `${field}: a filter, and what it compares with, is neither null nor {}: leave it out.`;
    return graphqlProblem('graphql_invalid', { detail, cause });
  }
  if (/cursor|digest/i.test(cause.message)) {
    return graphqlProblem('graphql_invalid', { detail: `${field}: after is not a cursor of this list.`, cause });
  }
  return problem('internal_error', { cause });
}

function codeOf({ originalError }: GraphQLError): string {
  return String((originalError as { code?: unknown } | undefined | null)?.code ?? '');
}
