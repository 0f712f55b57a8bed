import { defineProblems } from '../core/problems.ts';

export const authzProblem = defineProblems({
  client_closed_request: {
    status: 499,
    title: 'Client closed request',
    when: 'The client closed the connection before its batch began. Nobody reads this answer.',
  },
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
