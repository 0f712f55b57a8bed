import { defineProblems } from '../core/problems.ts';

export const memberProblem = defineProblems({
  portal_token_not_found: {
    status: 404,
    title: 'Portal token not found',
    when: 'The portal token does not exist or belongs to another member.',
  },
  member_not_found: { status: 404, title: 'Member not found', when: 'The tenant has no such member.' },
  last_security_admin: {
    status: 409,
    title: 'Last security admin',
    when: "The tenant's last security-admin cannot be removed or given another role.",
  },
  member_invitation_not_found: {
    status: 404,
    title: 'Member invitation not found',
    when: 'The member invitation does not exist.',
  },
  member_invitation_exists: {
    status: 409,
    title: 'Already invited',
    when: 'The address already has an open member invitation. Withdraw it before you create another.',
  },
  member_invitation_quota_reached: {
    status: 409,
    title: 'Too many member invitations',
    when: 'The tenant has the maximum number of open member invitations. Withdraw some, or wait until they expire.',
  },
  member_invitation_gone: {
    status: 410,
    title: 'Member invitation no longer valid',
    when: 'The member invitation was used, has expired, or was withdrawn.',
  },
  portal_token_cannot_mint: {
    status: 403,
    title: 'Portal token cannot mint',
    when: 'A portal token cannot mint another portal token. Minting requires an interactive session with a recent login.',
  },
  recent_log_in_needed: {
    status: 403,
    title: 'Recent log-in needed',
    when: 'The log-in of the portal session is older than ten minutes. Log in again, then create the portal token.',
  },
});
