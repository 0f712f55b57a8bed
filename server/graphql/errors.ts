/** What went wrong while a document ran, as problems. An answer is whole or none. */
import type { GraphQLError } from 'grafast/graphql';
import { isDatabaseLost, isTimeout } from '../core/db/errors.ts';
import { Problem, problem } from '../core/problems.ts';
import { graphqlProblem } from './problems.ts';

/** SQLSTATE: insufficient_privilege; of a statement behind one that failed; data exceptions, which values of the caller cause. */
const DENIED = '42501';
const ABORTED = '25P02';
const OF_VALUES = /^22/;

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
  if (/cursor|digest/i.test(cause.message)) {
    return graphqlProblem('graphql_invalid', { detail: `${field}: after is not a cursor of this list.`, cause });
  }
  return problem('internal_error', { cause });
}

function codeOf({ originalError }: GraphQLError): string {
  return String((originalError as { code?: unknown } | undefined | null)?.code ?? '');
}
