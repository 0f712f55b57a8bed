/** AuthZEN's endpoints of each tenant, for the callers of POST /authz/{tenant}, counted and recorded as it is. */
import type { ErrorObject } from 'ajv';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { authorize, authorizeAll, type BatchLimiter } from '../authz/index.ts';
import type { Caller } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { type App, type CountMore, TenantParams, tenantOf } from '../http/fastify.ts';
import { sentenceOf } from '../http/validation.ts';
import { registerMetadata } from './metadata.ts';
import { endings, evaluationsOf, type FaultOf, faultyResponse, requestOf, responseOf } from './rules.ts';
import { EvaluationRequest, EvaluationResponse, EvaluationsRequest, EvaluationsResponse } from './schema.ts';
import { type AuthzenSearchServices, registerSearch } from './search-routes.ts';

export type AuthzenServices = AuthzenSearchServices & {
  batches: BatchLimiter;
  /** {base_url} */
  baseUrl: string;
};

const evaluators = { access: { api: 'management', scope: 'authz:evaluate', users: true } } as const;

export function registerAuthzenRoutes(app: App, services: AuthzenServices, countMore: CountMore): void {
  registerEvaluation(app, services);
  registerEvaluations(app, services, countMore);
  registerSearch(app, services, countMore);
  registerMetadata(app, services.baseUrl);
}

function contextOf(request: Pick<FastifyRequest, 'tenant' | 'caller' | 'id' | 'span'>) {
  const { caller, id: requestId, span } = request;
  return { snapshot: tenantOf(request).snapshot, caller: caller as Caller, requestId, span };
}

function registerEvaluation(app: App, services: AuthzenServices): void {
  app.route({
    method: 'POST',
    url: '/:tenant/access/v1/evaluation',
    config: evaluators,
    bodyLimit: limits.bodyBytesMax,
    schema: {
      summary: 'AuthZEN Access Evaluation',
      params: TenantParams,
      body: EvaluationRequest,
      response: { 200: EvaluationResponse },
    },
    handler: async (request, reply) => {
      const context = contextOf(request);
      reply.header('accord-revision', `c${context.snapshot.revision}`);
      return responseOf((await authorize(services, context, requestOf(request.body))).answer);
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
      description:
        'An invalid evaluation is denied at its position, with context.error. When the answers are too large in total, the remaining evaluations are denied (context.reason batch_answers_too_large).',
      params: TenantParams,
      body: EvaluationsRequest,
      response: { 200: EvaluationsResponse },
    },
    serializerCompiler: () => (said: unknown) =>
      Array.isArray(said) ? `{"evaluations":[${said.join(',')}]}` : JSON.stringify(said),
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const body = request.body as EvaluationsRequest;
      const { evaluations = [] } = body;
      if (evaluations.length === 0)
        return evaluateOne(services, request as Evaluating, reply as never) as Promise<never>;
      countMore(request as never, evaluations.length - 1); // the access hook counted one
      return services.batches.run(tenant, reply.raw, () => {
        const context = contextOf(request);
        reply.header('accord-revision', `c${context.snapshot.revision}`);
        const all = evaluationsOf(body, faultOf(request));
        return authorizeAll(services, context, {
          requests: all.map((one) => one.request),
          ends: endings[body.options?.evaluations_semantic ?? 'execute_all'],
          textOf: (answer, index) => {
            const one = all[index];
            return JSON.stringify(one && 'fault' in one ? faultyResponse(one.fault) : responseOf(answer));
          },
        });
      }) as Promise<never>;
    },
  });
}

type Evaluating = FastifyRequest<{ Params: { tenant: string }; Body: EvaluationsRequest }>;

/** Without a list the request is one evaluation itself. @throws the error that Fastify makes of a body that is not valid */
async function evaluateOne(services: AuthzenServices, request: Evaluating, reply: FastifyReply) {
  const validate = request.compileValidationSchema(EvaluationRequest, 'body');
  if (!validate(request.body)) {
    const { errors: validation } = validate;
    throw Object.assign(new Error('The evaluation is invalid.'), { validation, validationContext: 'body' });
  }
  const context = contextOf(request);
  reply.header('accord-revision', `c${context.snapshot.revision}`);
  return responseOf((await authorize(services, context, requestOf(request.body as EvaluationRequest))).answer);
}

function faultOf(request: Pick<FastifyRequest, 'compileValidationSchema'>): FaultOf {
  const validate = request.compileValidationSchema(EvaluationRequest, 'body');
  return (evaluation) => {
    if (validate(evaluation)) return undefined;
    return sentenceOf(validate.errors as ErrorObject[] | null);
  };
}
