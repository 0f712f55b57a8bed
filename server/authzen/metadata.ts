/**
 * AuthZEN's metadata of a tenant (section 9). Its identifier is M, a URL with a path, so the document is at the
 * well-known address put between host and path (RFC 8615); below M too, for who forms it as OpenID Connect does.
 */
import { type App, TenantParams } from '../http/fastify.ts';
import { Metadata } from './schema.ts';

export function registerMetadata(app: App, baseUrl: string): void {
  for (const url of ['/.well-known/authzen-configuration/:tenant', '/:tenant/.well-known/authzen-configuration']) {
    app.route({
      method: 'GET',
      url,
      config: { access: { api: 'public' } },
      schema: {
        summary: 'AuthZEN metadata of the tenant',
        params: TenantParams,
        response: { 200: Metadata },
      },
      handler: async (request, reply) => {
        const { tenant } = request.params;
        reply.header('cache-control', 'public, max-age=3600');
        return metadataOf(`${baseUrl}/${tenant}`);
      },
    });
  }
}

function metadataOf(base: string): Metadata {
  const access = `${base}/access/v1`;
  return {
    policy_decision_point: base,
    access_evaluation_endpoint: `${access}/evaluation`,
    access_evaluations_endpoint: `${access}/evaluations`,
    search_subject_endpoint: `${access}/search/subject`,
    search_resource_endpoint: `${access}/search/resource`,
    search_action_endpoint: `${access}/search/action`,
  };
}
