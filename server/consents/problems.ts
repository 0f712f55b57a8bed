import { defineProblems } from '../core/problems.ts';

export const consentProblem = defineProblems({
  consent_not_active: {
    status: 404,
    title: 'No active document',
    when: 'No document of the consent definition is currently active in this language. The error lists the languages that have one.',
  },
  consent_not_found: {
    status: 404,
    title: 'Consent not found',
    when: 'The consent does not exist. It may have been removed.',
  },
  consent_not_effective: {
    status: 409,
    title: 'Document not in effect',
    when: 'The effectiveDate of the document has not been reached.',
  },
  consent_version_ended: {
    status: 409,
    title: 'Version ended',
    when: 'The endDate of the version has passed.',
  },
  consent_superseded: {
    status: 409,
    title: 'Version superseded',
    when: 'A newer version is active, and the user has no consent to this version that could be renewed.',
  },
  consent_invitation_not_due: {
    status: 409,
    title: 'No invitation is due',
    when: 'The version that the user consented to has not reached its startDate or has ended, or no successor is in effect.',
  },
});
