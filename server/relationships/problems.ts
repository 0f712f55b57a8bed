import { defineProblems } from '../core/problems.ts';

export const relationshipProblem = defineProblems({
  no_relationships: { status: 404, title: 'No relationships', when: 'The actor has no relationships.' },
  relationship_not_found: {
    status: 404,
    title: 'Relationship not found',
    when: 'The relationship does not exist or has expired.',
  },
  entity_not_found: {
    status: 404,
    title: 'Actor or resource not found',
    when: 'The actor or resource is not registered.',
  },
  relationship_limit_reached: {
    status: 409,
    title: 'Relationship limit reached',
    when: 'The target already has the maximum number of relationships of this type (maxPerTarget).',
  },
  relationship_quota_reached: {
    status: 409,
    title: 'Relationship quota reached',
    when: 'The tenant has reached limits.maxRelationships of its Tenant. Expired relationships count. Delete relationships to make room.',
  },
  relationship_type_retired: {
    status: 409,
    title: 'Relationship type retired',
    when: 'The manifest of the relationship type was deleted. Existing relationships stay valid; no new ones can be created.',
  },
  attributes_invalid: {
    status: 400,
    title: 'Invalid attributes',
    when: 'The attributes do not match those that the type declares; errors lists each.',
  },
  import_gap: {
    status: 409,
    title: 'Unexpected firstLine',
    when: 'The firstLine is neither 1 nor the next line of the import.',
  },
  import_lines_differ: {
    status: 409,
    title: 'Import lines differ',
    when: 'This importId was already used with different lines. Nothing was imported.',
  },
  import_conflict: {
    status: 409,
    title: 'Import in progress',
    when: 'Another request is writing the same import.',
  },
  import_not_found: { status: 404, title: 'Import not found', when: 'No import has this id.' },
});
