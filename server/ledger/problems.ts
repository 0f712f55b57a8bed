import { defineProblems } from '../core/problems.ts';

export const ledgerProblem = defineProblems({
  checkpoint_invalid: {
    status: 400,
    title: 'Not a checkpoint of this ledger',
    when: 'The checkpoint to compare with is none that a key of this tenant signed.',
  },
  verifications_busy: {
    status: 429,
    title: 'Too many verifications',
    when: 'This server is verifying as many ledgers as it does at once.',
    retryAfterSeconds: 10,
  },
  exports_busy: {
    status: 429,
    title: 'Too many exports',
    when: 'As many exports of the tenant as this server makes at once are not read to their end.',
    retryAfterSeconds: 10,
  },
});
