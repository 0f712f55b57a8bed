import { defineProblems } from '../core/problems.ts';

export const relationshipProblem = defineProblems({
  no_relationships: { status: 404, title: 'No relationships', when: 'The actor has no relationships.' },
  relationship_not_found: {
    status: 404,
    title: 'Relationship not found',
    when: 'There is no such relationship, or it has expired.',
  },
  entity_not_found: {
    status: 404,
    title: 'Actor or resource not found',
    when: 'The actor or resource is not registered.',
  },
  relationship_limit_reached: {
    status: 409,
    title: 'Relationship limit reached',
    when: 'As many relationships of the type lead to the target as its maxPerTarget allows.',
  },
  relationship_quota_reached: {
    status: 409,
    title: 'Quota of relationships reached',
    when: 'The tenant has as many relationships as limits.maxRelationships of its Tenant allows, expired ones included; deleting some makes room.',
  },
  relationship_type_retired: {
    status: 409,
    title: 'Relationship type retired',
    when: 'The manifest of the relationship type is gone: what is there holds, and no new relationships are made.',
  },
  attributes_invalid: {
    status: 400,
    title: 'Invalid attributes',
    when: 'The attributes are not those that the type declares; errors name each.',
  },
  import_gap: {
    status: 409,
    title: 'Not the next line',
    when: 'The firstLine is neither 1 nor the line that the import goes on with.',
  },
  import_lines_differ: {
    status: 409,
    title: 'Other lines than before',
    when: 'The import of this importId has lines already, and they are not those that were sent; nothing was imported.',
  },
  import_conflict: {
    status: 409,
    title: 'Import under way',
    when: 'Another request writes the same import.',
  },
  import_not_found: { status: 404, title: 'Import not found', when: 'There is no import of this id.' },
});
