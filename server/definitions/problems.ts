import { defineProblems } from '../core/problems.ts';

export const definitionProblem = defineProblems({
  consent_definition_not_found: {
    status: 404,
    title: 'Consent definition not found',
    when: 'The tenant has no consent definition with this name, or the definition is archived and accepts no changes.',
  },
  consent_version_not_found: {
    status: 404,
    title: 'Consent version not found',
    when: 'The consent definition has no version with this name.',
  },
  consent_document_not_found: {
    status: 404,
    title: 'Consent document not found',
    when: 'The version does not have this document, or not in this language.',
  },
  end_of_life_not_found: { status: 404, title: 'No end of life', when: 'The version has no endOfLife.' },
  consent_name_invalid: {
    status: 400,
    title: 'Invalid name',
    when: 'Names of definitions, versions, documents and languages must consist of printable characters other than / ? # and backslash.',
  },
  consent_attributes_invalid: {
    status: 400,
    title: 'Invalid attributes',
    when: 'A custom attribute is not declared by the tenant, is required but missing, or has the wrong type.',
  },
  definition_locked: {
    status: 400,
    title: 'Definition cannot be modified',
    when: 'One of its versions cannot be modified.',
    refusal: { reason: 'ImmutableDocument' },
  },
  version_locked: {
    status: 400,
    title: 'Version cannot be modified',
    when: 'One of its documents cannot be modified.',
    refusal: { reason: 'ImmutableDocument' },
  },
  document_locked: {
    status: 400,
    title: 'Document cannot be modified',
    when: 'The effectiveDate of the document has been reached. Create a new document instead.',
    refusal: { reason: 'ImmutableDocument' },
  },
  end_of_life_locked: {
    status: 400,
    title: 'End of life cannot be modified',
    when: 'The startDate of the end of life has been reached.',
    refusal: { reason: 'EndOfLifeLocked' },
  },
  date_in_past: {
    status: 400,
    title: 'Date in the past',
    when: 'An effectiveDate must not be in the past, and a startDate must be in the future.',
    refusal: { reason: 'EffectiveDateInPast', dependsOnOthers: true },
  },
  end_of_life_invalid: {
    status: 400,
    title: 'Invalid end of life',
    when: 'The startDate must be before the endDate, and gracePeriod must be a non-negative ISO 8601 duration.',
    refusal: { reason: 'Invalid' },
  },
  effective_date_taken: {
    status: 400,
    title: 'Effective date taken',
    when: 'Another document of the definition in this language has the same effectiveDate.',
    refusal: { reason: 'Invalid' },
  },
  consent_language_ambiguous: {
    status: 400,
    title: 'Language in two spellings',
    when: 'Another document of the definition has the same language tag in another case. Language tags are compared without case (BCP 47), so one of them would be offered to the users of the other.',
    refusal: { reason: 'Invalid' },
  },
  consent_content_invalid: {
    status: 400,
    title: 'Invalid content',
    when: 'Content must have either a body or a url. A body must be text of its media type, within the size limit, and match the digest if one is given.',
    refusal: { reason: 'Invalid' },
  },
  consent_content_not_found: {
    status: 404,
    title: 'Document without content',
    when: 'The document does not exist, is not in effect, or has no content.',
  },
  consent_content_not_acceptable: {
    status: 406,
    title: 'Media type not available',
    when: 'The document is not available in a media type of the Accept header.',
  },
  consent_content_damaged: {
    status: 500,
    title: 'Content damaged',
    when: 'The stored text does not have the digest that was recorded for it, so it is not shown.',
  },
  definition_quota_reached: {
    status: 409,
    title: 'Quota of consent definitions reached',
    when: 'The maximum number of definitions in the tenant, of versions in the definition, or of documents in the version is reached.',
  },
});
