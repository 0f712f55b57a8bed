import { defineProblems } from '../core/problems.ts';

export const authzProblem = defineProblems({
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
  decision_parts_gone: {
    status: 410,
    title: 'Library or data document of the decision gone',
    when: 'A revision of a library or data document that made the decision is no longer kept; detail names it.',
  },
  decision_of_erased: {
    status: 410,
    title: 'Decision names an erased person',
    when: 'The record names a person who was erased. The id was replaced, so the input of the policy is no longer known.',
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
