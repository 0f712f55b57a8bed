/** The words of conditions: which reason a refused action has, and what is said about it. */
import { takesNoWrites } from '../server/core/db/errors.ts';
import { Problem, type ProblemPlace, type RefusalReason } from '../server/core/problems.ts';
import { ApiError } from './kubernetes/errors.ts';

export type Refusal = {
  reason: string;
  message: string;
  /** It may be accepted when something else of its tenant changes: then it is tried again. */
  dependsOnOthers: boolean;
};

// A refusal whose problem does not state one is still the manifest's.
const unstated: RefusalReason = { reason: 'Invalid', dependsOnOthers: true };

/**
 * What a condition says about an action that was refused; undefined when the failure is not the manifest's (the database
 * is away, the compiler is busy): then the action is tried again.
 * @param locate where a place of the spec stands in the source, such as `policies.yaml:12`
 */
export function refusalOf(error: unknown, locate?: (place: ProblemPlace) => string | undefined): Refusal | undefined {
  // A character that Postgres cannot hold (SQLSTATE class 22): no later try will store it either.
  if (isUnstorable(error)) return { reason: 'Invalid', message: error.message, dependsOnOthers: false };
  if (!(error instanceof Problem)) return undefined;
  // Too busy (429) and broken (5xx) are not the manifest's fault.
  if (retryOf(error) !== undefined) return undefined;
  const { reason, dependsOnOthers = false } = error.refusal ?? unstated;
  const message = error.errors?.length
    ? error.errors.map((place) => describePlace(place, locate)).join('\n')
    : error.message;
  return { reason, message, dependsOnOthers };
}

/** What a condition says about an action that could not be done now and is tried again; undefined when it was refused. */
export function retryOf(error: unknown): { reason: 'Retrying'; message: string } | undefined {
  if (!(error instanceof Problem) || (error.status < 500 && error.status !== 429)) return undefined;
  return { reason: 'Retrying', message: `${error.message} (${error.code}) The operator retries.` };
}

function describePlace(place: ProblemPlace, locate?: (place: ProblemPlace) => string | undefined): string {
  const inSpec = { ...place, pointer: place.pointer.startsWith('/params') ? '/spec/name' : `/spec${place.pointer}` };
  const at = locate?.(inSpec);
  const position = place.line === undefined ? '' : `line ${place.line}, column ${place.column}: `;
  return `${at === undefined ? '' : `${at}: `}${inSpec.pointer}: ${position}${place.detail}`;
}

function isUnstorable(error: unknown): error is Error {
  return error instanceof Error && /^22\w{3}$/.test(String((error as { code?: unknown }).code));
}

/** Whether the database could not be asked or takes no writes, rather than answered no. */
export function isDatabaseUnavailable(error: unknown): boolean {
  // The API server's connections break too, and with the same codes.
  return !(error instanceof ApiError) && takesNoWrites(error);
}
