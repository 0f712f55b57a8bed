import { defineProblems } from '../core/problems.ts';

export const tenantProblem = defineProblems({
  tenant_not_found: { status: 404, title: 'Tenant not found', when: 'There is no such tenant, or it is disabled.' },
  tenant_has_children: {
    status: 409,
    title: 'Tenant has children',
    when: 'The tenant is deleted only when no policy, issuer or other object of it is left.',
  },
});
