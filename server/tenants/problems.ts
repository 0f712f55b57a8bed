import { defineProblems } from '../core/problems.ts';

export const tenantProblem = defineProblems({
  tenant_has_children: {
    status: 409,
    title: 'Tenant has children',
    when: 'The tenant is deleted only when no policy, issuer or other object of it is left.',
  },
});
