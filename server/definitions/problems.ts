import { defineProblems } from '../core/problems.ts';

export const definitionProblem = defineProblems({
  consent_definition_not_found: {
    status: 404,
    title: 'Consent definition not found',
    when: 'The tenant has no consent definition of this name, or it is archived and takes nothing new.',
  },
  consent_version_not_found: {
    status: 404,
    title: 'Consent version not found',
    when: 'The consent definition has no version of this name.',
  },
  consent_document_not_found: {
    status: 404,
    title: 'Consent document not found',
    when: 'The version has no such document, or none in this language.',
  },
  end_of_life_not_found: { status: 404, title: 'No end of life', when: 'The version has no endOfLife.' },
  consent_name_invalid: {
    status: 400,
    title: 'Invalid name',
    when: 'Names of definitions, versions, documents and languages are printable characters without / ? # and backslash.',
  },
  consent_attributes_invalid: {
    status: 400,
    title: 'Invalid attributes',
    when: 'A custom attribute is not declared by the tenant, is required and missing, or is of another type.',
  },
  definition_locked: {
    status: 400,
    title: 'Definition cannot be modified',
    when: 'One of its versions cannot be modified.',
  },
  version_locked: {
    status: 400,
    title: 'Version cannot be modified',
    when: 'One of its documents cannot be modified.',
  },
  document_locked: {
    status: 400,
    title: 'Document cannot be modified',
    when: 'Its effectiveDate is reached. A change needs a new document.',
  },
  end_of_life_locked: {
    status: 400,
    title: 'End of life cannot be modified',
    when: 'Its startDate is reached.',
  },
  date_in_past: {
    status: 400,
    title: 'Date in the past',
    when: 'An effectiveDate cannot lie in the past, and a startDate must lie in the future.',
  },
  end_of_life_invalid: {
    status: 400,
    title: 'Invalid end of life',
    when: 'The startDate must lie before the endDate, and gracePeriod is an ISO 8601 duration that is not negative.',
  },
  effective_date_taken: {
    status: 400,
    title: 'Effective date taken',
    when: 'Another document of the definition in this language takes effect at the same instant.',
  },
  definition_quota_reached: {
    status: 409,
    title: 'Too many',
    when: 'The tenant has as many definitions as it may, the definition as many versions, or the version as many documents.',
  },
});
