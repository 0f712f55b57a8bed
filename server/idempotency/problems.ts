import { defineProblems } from '../core/problems.ts';

export const idempotencyProblem = defineProblems({
  idempotency_key_reused: {
    status: 422,
    title: 'Idempotency-Key of another request',
    when: 'The caller sent this Idempotency-Key within the last 24 hours with another address or body.',
  },
  idempotency_key_in_use: {
    status: 409,
    title: 'Request under way',
    when: 'Another request with this Idempotency-Key is being carried out, or was just now: ask again for its answer.',
    retryAfterSeconds: 1,
  },
  idempotency_answer_not_kept: {
    status: 409,
    title: 'Carried out before',
    when: 'The request with this Idempotency-Key was carried out, and is not carried out again. Its answer is not kept: it held a secret, was too long, was erased, or never came about. Location names what was made, where that is known.',
  },
});
