import { defineProblems } from '../core/problems.ts';

export const invitationProblem = defineProblems({
  invitation_token_invalid: {
    status: 400,
    title: 'Invalid requestToken',
    when: 'The requestToken is malformed, or no key of the tenant signed it.',
  },
  invitation_not_offered: {
    status: 400,
    title: 'Not shared by invitation',
    when: 'The relationship type is not shared by invitation.',
  },
  invitation_address_unverified: {
    status: 403,
    title: 'No verified address',
    when: 'Listing with received=true needs an access token with the claims email and email_verified: true.',
  },
  invitation_unknown: {
    status: 404,
    title: 'Unknown invitation',
    when: 'There is no such invitation to a relationship.',
  },
  invitation_taken: {
    status: 409,
    title: 'Invitation taken',
    when: 'Others accepted the invitation as often as it may be.',
  },
  invitation_accepted: {
    status: 409,
    title: 'Invitation accepted',
    when: 'The invitation was accepted, and can no longer be sent, revoked or declined.',
  },
  invitation_shared: {
    status: 409,
    title: 'Invitation of several',
    when: 'The invitation is for several acceptors: one of them cannot decline it for the others.',
  },
  invitation_expired: { status: 410, title: 'Invitation expired', when: 'The invitation has expired.' },
  invitation_declined: { status: 410, title: 'Invitation declined', when: 'The invitation was declined.' },
  invitation_revoked: {
    status: 410,
    title: 'Invitation revoked',
    when: 'The invitation was revoked, or its invitor may no longer make it.',
  },
  invitation_token_void: {
    status: 410,
    title: 'Token replaced',
    when: 'The invitation was sent again, and a newer requestToken took the place of this one.',
  },
});
