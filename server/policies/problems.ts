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
    when: 'The policy is too large, or has what is evaluated by its Wasm only, so nobody can say which of its lines are reached.',
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
