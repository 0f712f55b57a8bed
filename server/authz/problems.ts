import { defineProblems } from '../core/problems.ts';

export const authzProblem = defineProblems({
  too_many_batches: {
    status: 429,
    title: 'Too many batches',
    when: 'As many batches of this tenant as this server lets wait are waiting.',
  },
  too_many_replays: {
    status: 429,
    title: 'Too many replays',
    when: 'This server is replaying decisions of the tenant, or of as many tenants as it does at once.',
  },
});
