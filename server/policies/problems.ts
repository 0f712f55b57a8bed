import { defineProblems } from '../core/problems.ts';

export const policyProblem = defineProblems({
  policy_not_found: { status: 404, title: 'Policy not found', when: 'The tenant has no policy with this name.' },
  policy_revision_not_found: {
    status: 404,
    title: 'Policy revision not found',
    when: 'The policy does not have this revision, or the revision is no longer kept.',
  },
  policy_name_invalid: {
    status: 400,
    title: 'Invalid policy name',
    when: 'A policy name is 1 to 253 printable characters without / ? # and backslash.',
    refusal: { reason: 'Invalid' },
  },
  policy_without_source: {
    status: 400,
    title: 'Policy without source',
    when: 'At least one of rego and graph must be provided.',
    refusal: { reason: 'Invalid' },
  },
  policy_does_not_compile: {
    status: 400,
    title: 'Policy does not compile',
    when: 'The compiler rejected the Rego of the policy; errors lists where and why.',
    refusal: { reason: 'CompileError' },
  },
  policy_graph_invalid: {
    status: 400,
    title: 'Invalid policy graph',
    when: 'The graph cannot be converted to Rego; errors lists the nodes.',
    refusal: { reason: 'CompileError' },
  },
  policy_without_data_subjects: {
    status: 400,
    title: 'Policy without data subjects',
    when: 'The policy reads input.dataSubjects, and dataSubjects does not say who they are.',
    refusal: { reason: 'Invalid' },
  },
  policy_tests_failed: {
    status: 400,
    title: 'Policy tests failed',
    when: "One of the policy's own tests did not return the expected answer.",
    refusal: { reason: 'TestsFailed' },
  },
  policy_not_traceable: {
    status: 409,
    title: 'Policy cannot be traced',
    when: 'The policy is too large, or it can only be evaluated by its Wasm, so which of its lines are reached cannot be determined.',
  },
  policy_reference_unknown: {
    status: 400,
    title: 'Unknown library or data document',
    when: 'The Rego refers to something below data that is neither its own, nor in a library or a data document of the tenant.',
    refusal: { reason: 'RefNotFound', dependsOnOthers: true },
  },
  policy_part_not_found: {
    status: 404,
    title: 'Library or data document not found',
    when: 'The tenant has no library with this package, or no data document at this path.',
  },
  policy_part_name_invalid: {
    status: 400,
    title: 'Invalid package or path',
    when: 'A package is names joined by dots, and a path is names joined by slashes; the first must not be system, accord, data or input.',
    refusal: { reason: 'Invalid' },
  },
  policy_part_overlaps: {
    status: 409,
    title: 'Overlapping package or path',
    when: 'Another library or data document of the tenant stands at, above or below this package or path.',
    refusal: { reason: 'DuplicateName', dependsOnOthers: true },
  },
  policy_part_in_use: {
    status: 409,
    title: 'Library or data document in use',
    when: 'Policies or libraries use it; detail names them.',
    refusal: { reason: 'InUse', dependsOnOthers: true },
  },
  policy_part_breaks_policies: {
    status: 409,
    title: 'Change breaks policies',
    when: 'A policy or library that uses it does not compile with the change, or a test of the policy fails; errors lists them. Nothing is changed.',
    refusal: { reason: 'PoliciesFailed', dependsOnOthers: true },
  },
  policy_part_quota_reached: {
    status: 409,
    title: 'Too many libraries and data documents',
    when: 'The tenant has as many libraries and data documents as it can have.',
    refusal: { reason: 'Invalid', dependsOnOthers: true },
  },
  policy_library_invalid: {
    status: 400,
    title: 'Invalid library',
    when: 'A module is too large or not in the package of the library, or the library does not compile; errors lists where and why.',
    refusal: { reason: 'CompileError' },
  },
  policy_library_cycle: {
    status: 400,
    title: 'Cycle of libraries',
    when: 'The library refers to a library that refers back to it.',
    refusal: { reason: 'CompileError', dependsOnOthers: true },
  },
  policy_data_invalid: {
    status: 400,
    title: 'Invalid data document',
    when: 'The document is not a JSON object, cannot be stored, or is too large.',
    refusal: { reason: 'Invalid' },
  },
  policy_data_too_large: {
    status: 400,
    title: 'Data documents too large',
    when: 'The data documents that a policy uses have too many bytes together, or do not fit into the memory that an evaluation has.',
    refusal: { reason: 'Invalid', dependsOnOthers: true },
  },
  policy_parts_changing: {
    status: 429,
    title: 'Libraries or data documents change',
    when: 'Libraries, data documents or policies were changed by others while this request was checked, several times in a row. Retry later.',
    retryAfterSeconds: 1,
  },
  policy_quota_reached: {
    status: 409,
    title: 'Policy quota reached',
    when: 'The tenant has reached limits.maxPolicies of its Tenant. Existing policies can still be replaced.',
  },
  compiler_busy: {
    status: 429,
    title: 'Compiler busy',
    when: 'Too many policies of this tenant are waiting to be compiled, or the compiler did not get CPU time. Retry later.',
    retryAfterSeconds: 5,
  },
  evaluator_busy: {
    status: 429,
    title: 'Evaluator busy',
    when: 'Too many slow or explained evaluations and policy tests of this tenant are waiting.',
    retryAfterSeconds: 1,
  },
});
