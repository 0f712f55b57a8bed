import { defineProblems } from '../core/problems.ts';

export const memberProblem = defineProblems({
  portal_token_not_found: {
    status: 404,
    title: 'Portal token not found',
    when: 'There is no such portal token, or it belongs to another member.',
  },
  member_not_found: { status: 404, title: 'Member not found', when: 'The tenant has no such member.' },
  last_security_admin: {
    status: 409,
    title: 'Last security admin',
    when: "The tenant's last security-admin is neither removed nor given a lesser role.",
  },
  invitation_not_found: {
    status: 404,
    title: 'Invitation not found',
    when: 'There is no such invitation.',
  },
  invitation_exists: {
    status: 409,
    title: 'Already invited',
    when: 'The address has an invitation that is still open: withdraw it to make another.',
  },
  invitations_too_many: {
    status: 409,
    title: 'Too many invitations',
    when: 'The tenant has as many open invitations as it may have: withdraw some, or wait until they expire.',
  },
  invitation_gone: {
    status: 410,
    title: 'Invitation gone',
    when: 'The invitation was used, has expired, or was withdrawn.',
  },
  portal_token_cannot_mint: {
    status: 403,
    title: 'Portal token cannot mint',
    when: 'A portal token cannot mint another: minting needs an interactive session with a recent log-in.',
  },
});
