import { defineProblems } from '../core/problems.ts';

export const policyProblem = defineProblems({
  policy_not_found: { status: 404, title: 'Policy not found', when: 'The tenant has no policy of this name.' },
  policy_revision_not_found: {
    status: 404,
    title: 'Policy revision not found',
    when: 'The policy never had this revision, or it is no longer kept.',
  },
  policy_name_invalid: {
    status: 400,
    title: 'Invalid policy name',
    when: 'A policy name is 1 to 253 printable characters without / ? # and backslash.',
  },
  policy_without_source: {
    status: 400,
    title: 'Policy without source',
    when: 'At least one of rego and graph must be provided.',
  },
  policy_does_not_compile: {
    status: 400,
    title: 'Policy does not compile',
    when: 'The Rego of the policy is refused by the compiler; errors say where and why.',
  },
  policy_graph_invalid: {
    status: 400,
    title: 'Invalid policy graph',
    when: 'The graph cannot be converted to Rego; errors name the node.',
  },
  policy_tests_failed: {
    status: 400,
    title: 'Policy tests failed',
    when: "One of the policy's own tests gives another answer than it expects.",
  },
  policy_quota_reached: {
    status: 409,
    title: 'Policy quota reached',
    when: 'The tenant has as many policies as limits.maxPolicies of its Tenant allows; replacing one is still possible.',
  },
  compiler_busy: {
    status: 429,
    title: 'Compiler busy',
    when: 'Too many policies of this tenant wait to be compiled, or the compiler did not get the CPU in time. Try again.',
    retryAfterSeconds: 5,
  },
  evaluator_busy: {
    status: 429,
    title: 'Evaluator busy',
    when: 'Too many slow or explained evaluations and tests of policies of this tenant wait.',
    retryAfterSeconds: 1,
  },
});
