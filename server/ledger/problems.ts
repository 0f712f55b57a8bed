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
  exports_busy: {
    status: 429,
    title: 'Too many exports',
    when: 'The tenant already has the maximum number of open exports on this server.',
    retryAfterSeconds: 10,
  },
});
