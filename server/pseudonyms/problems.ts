import { defineProblems } from '../core/problems.ts';

export const pseudonymProblem = defineProblems({
  actor_being_erased: {
    status: 409,
    title: 'Actor is being erased',
    when: 'The request would write about an actor that is being erased. Repeat the erasure until it is complete.',
    retryAfterSeconds: 5,
  },
});
