import { defineProblems } from '../core/problems.ts';

export const ledgerProblem = defineProblems({
  checkpoint_invalid: {
    status: 400,
    title: 'Not a checkpoint of this ledger',
    when: 'The checkpoint was not signed with a key of this tenant.',
  },
  verifications_busy: {
    status: 429,
    title: 'Too many verifications',
    when: 'This server is already running the maximum number of ledger verifications.',
    retryAfterSeconds: 10,
  },
});
