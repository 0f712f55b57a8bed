/** The Config API's GraphQL: one route that answers queries, and the schema. */
import { Type } from 'typebox';
import { roles } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { Empty } from '../http/config-api.ts';
import { type App, type CountMore, memberOf, TenantParams, whileConnected } from '../http/fastify.ts';
import { answerQuery, type GraphqlServices, loadEngine } from './actions.ts';

const readers = { access: { api: 'config', roles } } as const;

const GraphqlBody = Type.Object(
  {
    query: Type.Optional(
      Type.String({ minLength: 1, description: 'One query. Security admins and config editors only.' }),
    ),
    document: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'The name of a document of the server.' }),
    ),
    variables: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { additionalProperties: false },
);

export function registerGraphqlRoutes(app: App, services: GraphqlServices, countMore: CountMore): void {
  app.route({
    method: 'POST',
    url: '/tenants/:tenant/graphql',
    config: readers,
    bodyLimit: limits.graphqlBodyBytesMax,
    schema: {
      summary: 'Query by GraphQL',
      description: `Reads what the member's role may read. A list states \`first\` (1 to ${limits.pageItemsMax}). An answer is whole or a problem.`,
      params: TenantParams,
      querystring: Empty,
      body: GraphqlBody,
      response: { 200: Type.Object({ data: Type.Unknown() }) },
    },
    handler: async (request, reply) => {
      const asked = {
        ...{ tenant: request.params.tenant, role: memberOf(request).role, gone: whileConnected(reply) },
        countMore: (requests: number) => countMore(request as never, requests),
      };
      const answer = await answerQuery(services, asked, request.body);
      reply.type('application/json; charset=utf-8').header('cache-control', 'no-store');
      return reply.send(answer as never);
    },
  });
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/graphql/schema',
    config: readers,
    schema: {
      summary: "Read the GraphQL schema, in GraphQL's own language",
      params: TenantParams,
      produces: ['text/plain'],
      querystring: Empty,
    },
    handler: async (_request, reply) => {
      const { schemaText } = await loadEngine();
      return reply.type('text/plain; charset=utf-8').send(schemaText());
    },
  });
}
