import { defineProblems } from '../core/problems.ts';

export const idempotencyProblem = defineProblems({
  idempotency_key_reused: {
    status: 422,
    title: 'Idempotency-Key reused',
    when: 'The caller used this Idempotency-Key within the last 24 hours for a request with a different path or body.',
  },
  idempotency_key_in_use: {
    status: 409,
    title: 'Request in progress',
    when: 'Another request with this Idempotency-Key is in progress or has just ended. Retry to get its response.',
    retryAfterSeconds: 1,
  },
  idempotency_answer_not_kept: {
    status: 409,
    title: 'Request already processed',
    when: 'The request with this Idempotency-Key was already processed and is not processed again. Its response is not available: it contained a secret, was too long, was erased, or was never completed. Location identifies the created object, if known.',
  },
});
