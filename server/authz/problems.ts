import { defineProblems } from '../core/problems.ts';

export const authzProblem = defineProblems({
  client_closed_request: {
    status: 499,
    title: 'Client closed request',
    when: 'The client closed the connection before its work began. Nobody reads this answer.',
  },
  too_many_batches: {
    status: 429,
    title: 'Too many batches',
    when: 'As many batches of this tenant as this server lets wait are waiting.',
    retryAfterSeconds: 1,
  },
  too_many_replays: {
    status: 429,
    title: 'Too many replays',
    when: 'This server is replaying decisions of the tenant or will in its turn, or too many other tenants wait for theirs.',
    retryAfterSeconds: 10,
  },
});
