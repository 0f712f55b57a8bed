import { defineProblems } from '../core/problems.ts';

export const authzProblem = defineProblems({
  client_closed_request: {
    status: 499,
    title: 'Client closed request',
    when: 'The client closed the connection before processing started. No client receives this response.',
  },
  decision_not_found: {
    status: 404,
    title: 'Decision not found',
    when: 'The decision log has no record of this id: it was not recorded, is no longer kept, or was about a person who was erased.',
  },
  decision_without_policy: {
    status: 409,
    title: 'Decision without policy',
    when: 'No policy made this decision, so there is nothing to explain: its reason says why.',
  },
  decision_of_erased: {
    status: 410,
    title: 'Decision names an erased person',
    when: 'The record names a person who was erased, and no longer says whom. What the policy looked at is not known any more.',
  },
  batches_busy: {
    status: 429,
    title: 'Too many batches',
    when: 'Too many batches of this tenant are waiting on this server.',
    retryAfterSeconds: 1,
  },
  replays_busy: {
    status: 429,
    title: 'Too many replays',
    when: 'A replay for this tenant is already running or queued on this server, or replays of too many other tenants are queued.',
    retryAfterSeconds: 10,
  },
});
