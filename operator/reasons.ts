/** The words of conditions: which reason a refused action has, and what is said about it. One table for all kinds. */
import { Problem, type ProblemPlace } from '../server/core/problems.ts';
import { ApiError } from './kubernetes/errors.ts';

export type Refusal = {
  reason: string;
  message: string;
  /** It may be accepted when something else of its tenant changes: then it is tried again. */
  dependsOnOthers: boolean;
};

const reasons: Record<string, { reason: string; dependsOnOthers?: true }> = {
  tenant_not_found: { reason: 'TenantNotFound', dependsOnOthers: true },
  owned_by_api: { reason: 'OwnedByAPI', dependsOnOthers: true },
  owned_by_manifest: { reason: 'DuplicateName', dependsOnOthers: true },
  config_authority: { reason: 'OwnedByAPI', dependsOnOthers: true },
  duplicate_name: { reason: 'DuplicateName', dependsOnOthers: true },
  issuer_duplicate: { reason: 'DuplicateName', dependsOnOthers: true },
  issuer_audience_unknown: { reason: 'Invalid', dependsOnOthers: true },
  issuer_mixes_actors: { reason: 'Invalid', dependsOnOthers: true },
  issuer_too_many: { reason: 'Invalid', dependsOnOthers: true },
  issuer_is_ours: { reason: 'Invalid' },
  invalid_request: { reason: 'Invalid' },
  policy_name_invalid: { reason: 'Invalid' },
  policy_without_source: { reason: 'Invalid' },
  policy_does_not_compile: { reason: 'CompileError' },
  policy_graph_invalid: { reason: 'CompileError' },
  policy_without_data_subjects: { reason: 'Invalid' },
  policy_tests_failed: { reason: 'TestsFailed' },
  policy_reference_unknown: { reason: 'RefNotFound', dependsOnOthers: true },
  policy_data_too_large: { reason: 'Invalid', dependsOnOthers: true },
  policy_part_name_invalid: { reason: 'Invalid' },
  policy_part_overlaps: { reason: 'DuplicateName', dependsOnOthers: true },
  policy_part_breaks_policies: { reason: 'PoliciesFailed', dependsOnOthers: true },
  policy_part_quota_reached: { reason: 'Invalid', dependsOnOthers: true },
  policy_library_invalid: { reason: 'CompileError' },
  policy_library_cycle: { reason: 'CompileError', dependsOnOthers: true },
  policy_data_invalid: { reason: 'Invalid' },
  type_unknown: { reason: 'RefNotFound', dependsOnOthers: true },
  type_name_taken: { reason: 'DuplicateName', dependsOnOthers: true },
  consent_attributes_invalid: { reason: 'Invalid', dependsOnOthers: true },
  definition_locked: { reason: 'ImmutableDocument' },
  version_locked: { reason: 'ImmutableDocument' },
  document_locked: { reason: 'ImmutableDocument' },
  end_of_life_locked: { reason: 'EndOfLifeLocked' },
  date_in_past: { reason: 'EffectiveDateInPast', dependsOnOthers: true },
  end_of_life_invalid: { reason: 'Invalid' },
  consent_content_invalid: { reason: 'Invalid' },
  effective_date_taken: { reason: 'Invalid' },
  policy_quota_reached: { reason: 'Invalid', dependsOnOthers: true },
};

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
  // A refusal that the table does not name is still the manifest's.
  const known = reasons[error.code] ?? { reason: 'Invalid', dependsOnOthers: true };
  const message = error.errors?.length
    ? error.errors.map((place) => describePlace(place, locate)).join('\n')
    : error.message;
  return { reason: known.reason, message, dependsOnOthers: known.dependsOnOthers ?? false };
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

/** Whether the database could not be asked, rather than answered no. */
export function isDatabaseUnavailable(error: unknown): boolean {
  // The API server's connections break too, and are told in words like the database's.
  if (error instanceof ApiError) return false;
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code === 'string') return /^(08|57P|53|ECONN|ENOENT|EPIPE|ETIMEDOUT|EAI_)/.test(code);
  return /Connection terminated|timeout exceeded when trying to connect|connection/i.test(String(message));
}
