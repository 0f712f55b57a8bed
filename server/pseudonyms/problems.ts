import { defineProblems } from '../core/problems.ts';

export const pseudonymProblem = defineProblems({
  actor_being_erased: {
    status: 409,
    title: 'Actor is being erased',
    when: 'The actor that would be written about is being erased; repeat the erasure until it is done.',
    retryAfterSeconds: 5,
  },
});
