import { defineProblems } from '../core/problems.ts';

export const typeProblem = defineProblems({
  type_not_found: { status: 404, title: 'Type not found', when: 'The tenant has no type with this name.' },
  type_name_invalid: {
    status: 400,
    title: 'Invalid type name',
    when: 'A type name has 1 to 63 letters, digits, _ and -, and starts with a letter; a relationship type is named From:relationship:To.',
  },
  type_name_taken: {
    status: 409,
    title: 'Type name taken',
    when: 'An actor type and a resource type cannot have the same name.',
    refusal: { reason: 'DuplicateName', dependsOnOthers: true },
  },
  type_unknown: {
    status: 400,
    title: 'Unknown type',
    when: 'The request names an actor, resource or relationship type that the tenant does not have.',
    refusal: { reason: 'RefNotFound', dependsOnOthers: true },
  },
  type_in_use: {
    status: 409,
    title: 'Type in use',
    when: 'Relationship types, relationships, actors or resources still use this type.',
    refusal: { reason: 'InUse', dependsOnOthers: true },
  },
  type_quota_reached: { status: 409, title: 'Too many types', when: 'The tenant has the maximum number of types.' },
});
