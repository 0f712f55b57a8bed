import { defineProblems } from '../core/problems.ts';

export const tenantProblem = defineProblems({
  tenant_has_children: {
    status: 409,
    title: 'Tenant has children',
    when: 'The tenant cannot be deleted while policies, issuers or other objects belong to it.',
  },
});
