import { defineProblems } from '../core/problems.ts';

export const keyProblem = defineProblems({
  denied_tokens_quota_reached: {
    status: 503,
    title: 'Too many revoked tokens',
    when: 'The tenant has revoked the maximum number of access tokens that have not expired. Disable the client to refuse all of its tokens.',
    retryAfterSeconds: 60,
  },
});
