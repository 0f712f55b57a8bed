/** AuthZEN's endpoints of each tenant, for the callers of POST /authz/{tenant}, counted and recorded as it is. */
import type { FastifyRequest } from 'fastify';
import { authorize, authorizeAll } from '../authz/index.ts';
import type { Caller, TenantAuth } from '../core/auth/schema.ts';
import { type App, type CountMore, plainJson, TenantParams } from '../core/http.ts';
import { limits } from '../core/limits.ts';
import { registerMetadata } from './metadata.ts';
import { endings, evaluationsOf, requestOf, responseOf } from './rules.ts';
import { EvaluationRequest, EvaluationResponse, EvaluationsRequest, EvaluationsResponse } from './schema.ts';
import { type AuthzenSearchServices, registerSearch } from './search-routes.ts';

export type AuthzenServices = AuthzenSearchServices & {
  tenantOf: (tenant: string) => { readonly active: boolean; readonly auth: TenantAuth } | undefined;
  /** {base_url} */
  baseUrl: string;
};

const tags = ['AuthZEN'];
const evaluators = { access: { door: 'management', scope: 'authz:evaluate', users: true } } as const;

export function registerAuthzenRoutes(app: App, services: AuthzenServices, countMore: CountMore): void {
  registerEvaluation(app, services);
  registerEvaluations(app, services, countMore);
  registerSearch(app, services, countMore);
  registerMetadata(app, services);
}

function askedOf(services: AuthzenServices, request: Pick<FastifyRequest, 'caller' | 'id'>, tenant: string) {
  return { snapshot: services.snapshotOf(tenant), caller: request.caller as Caller, requestId: request.id };
}

function registerEvaluation(app: App, services: AuthzenServices): void {
  app.route({
    method: 'POST',
    url: '/:tenant/access/v1/evaluation',
    config: evaluators,
    schema: {
      summary: 'AuthZEN Access Evaluation',
      tags,
      params: TenantParams,
      body: EvaluationRequest,
      response: { 200: EvaluationResponse },
    },
    handler: async (request, reply) => {
      const asked = askedOf(services, request, request.params.tenant);
      reply.header('accord-revision', `c${asked.snapshot.revision}`);
      return responseOf((await authorize(services, asked, requestOf(request.body))).answer);
    },
  });
}

function registerEvaluations(app: App, services: AuthzenServices, countMore: CountMore): void {
  app.route({
    method: 'POST',
    url: '/:tenant/access/v1/evaluations',
    config: evaluators,
    bodyLimit: limits.batchBodyBytesMax,
    schema: {
      summary: 'AuthZEN Access Evaluations',
      tags,
      params: TenantParams,
      body: EvaluationsRequest,
      response: { 200: EvaluationsResponse },
    },
    serializerCompiler: plainJson,
    handler: async (request, reply) => {
      const asked = askedOf(services, request, request.params.tenant);
      const body = request.body as EvaluationsRequest;
      const { single, requests } = evaluationsOf(body);
      countMore(request as never, requests.length - 1); // one was counted at the door
      reply.header('accord-revision', `c${asked.snapshot.revision}`);
      const ends = endings[body.options?.evaluations_semantic ?? 'execute_all'];
      const evaluations = (await authorizeAll(services, asked, requests, ends)).map(responseOf);
      return (single ? evaluations[0] : { evaluations }) as { evaluations: EvaluationResponse[] };
    },
  });
}
