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
    when: "Listing with received=true, and accepting or declining an invitation that is bound to its contact, require a user's access token with a verified mail address. The claims are email and email_verified (true), unless contactClaims of the trusted issuer names others.",
  },
  invitation_contact_mismatch: {
    status: 403,
    title: 'Invitation for another address',
    when: 'The invitation is bound to the address that it was sent to, and the verified mail address of the access token is a different one.',
  },
  invitation_not_found: {
    status: 404,
    title: 'Invitation not found',
    when: 'The sharing invitation does not exist.',
  },
  invitation_used_up: {
    status: 409,
    title: 'Invitation used up',
    when: 'The invitation has been accepted the maximum number of times.',
  },
  invitation_accepted: {
    status: 409,
    title: 'Invitation accepted',
    when: 'The invitation was accepted and can no longer be sent, revoked or declined.',
  },
  invitation_shared: {
    status: 409,
    title: 'Invitation for several acceptors',
    when: 'The invitation allows several acceptors, and one of them cannot decline it for the others.',
  },
  invitation_expired: { status: 410, title: 'Invitation expired', when: 'The invitation has expired.' },
  invitation_declined: { status: 410, title: 'Invitation declined', when: 'The invitation was declined.' },
  invitation_revoked: {
    status: 410,
    title: 'Invitation revoked',
    when: 'The invitation was revoked, or its invitor is no longer allowed to invite.',
  },
  invitation_token_void: {
    status: 410,
    title: 'Token replaced',
    when: 'The invitation was sent again with a newer requestToken, which replaces this one.',
  },
});
