import { defineProblems } from '../core/problems.ts';

export const memberProblem = defineProblems({
  portal_token_not_found: {
    status: 404,
    title: 'Portal token not found',
    when: 'There is no such portal token, or it belongs to another member.',
  },
  portal_token_cannot_mint: {
    status: 403,
    title: 'Portal token cannot mint',
    when: 'A portal token cannot mint another: minting needs an interactive session with a recent log-in.',
  },
});
