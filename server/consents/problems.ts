import { defineProblems } from '../core/problems.ts';

export const consentProblem = defineProblems({
  consent_not_active: {
    status: 404,
    title: 'Nothing is active',
    when: 'No document of the consent definition is active in this language now.',
  },
  consent_not_found: { status: 404, title: 'Consent not found', when: 'There is no such consent (any more).' },
  consent_not_effective: {
    status: 409,
    title: 'Document not in effect',
    when: 'The effectiveDate of the document is not reached.',
  },
  consent_version_ended: {
    status: 409,
    title: 'Version ended',
    when: 'The endDate of the version has passed.',
  },
  consent_superseded: {
    status: 409,
    title: 'Version superseded',
    when: 'A newer version is active, and the user has no consent to this one that could be renewed.',
  },
  consent_invitation_not_due: {
    status: 409,
    title: 'No invitation is due',
    when: 'The startDate of the version that the user consented to is not reached, it has ended, or there is no successor in effect.',
  },
});
