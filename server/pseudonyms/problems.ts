import { defineProblems } from '../core/problems.ts';

export const pseudonymProblem = defineProblems({
  actor_being_erased: {
    status: 409,
    title: 'Actor is being erased',
    when: 'The request writes about an actor whose erasure is not complete. Repeat the erasure until it is complete.',
    retryAfterSeconds: 5,
  },
});
