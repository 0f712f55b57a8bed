/** The Config API's formatter of Rego. */
import { Type } from 'typebox';
import { limits } from '../core/limits.ts';
import { type App, TenantParams } from '../http/fastify.ts';
import type { Compiler } from '../rego/index.ts';
import { compilerFailed, describe, place } from './artifacts.ts';
import { policyProblem } from './problems.ts';
import type { PolicyRouteServices } from './routes.ts';
import { checkLength } from './rules.ts';
import { RegoSource } from './schema.ts';

const writers = { access: { api: 'config', roles: ['security-admin', 'config-editor'] } } as const;

export function registerFormatting(app: App, { artifacts }: PolicyRouteServices): void {
  app.route({
    method: 'POST',
    url: '/tenants/:tenant/policy-format',
    config: writers,
    bodyLimit: limits.bodyBytesMax,
    schema: {
      summary: 'Format Rego, without storing anything',
      description:
        'Lays out a module as `opa fmt` does: of a policy, or of a library. It must be valid syntax, and need not compile. Comments stay, and what was formatted before stays as it is. A module in the syntax before version 1 stays in that syntax.',
      params: TenantParams,
      body: Type.Object({ rego: RegoSource }, { additionalProperties: false }),
      response: { 200: Type.Object({ rego: Type.String() }) },
    },
    handler: async ({ params: { tenant }, body: { rego } }) => ({
      rego: await formatRego(artifacts.compiler, tenant, rego),
    }),
  });
}

/** @throws Problem policy_does_not_compile with line and column; compiler_busy */
async function formatRego(compiler: Compiler, tenant: string, rego: string): Promise<string> {
  checkLength(rego);
  const result = await compiler.format(tenant, rego).catch(compilerFailed);
  if (!result.ok) {
    throw policyProblem('policy_does_not_compile', {
      detail: result.errors.map(describe).join('; '),
      errors: result.errors.map((error) => place(error, 'rego')),
    });
  }
  checkLength(result.source, 'What is formatted');
  return result.source;
}
