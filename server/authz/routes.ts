/** The Authorization API; and all routes of the room. */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Caller } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { type App, type CountMore, TenantParams, tenantOf } from '../http/fastify.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { authorize, authorizeExplained, type DecisionContext } from './actions.ts';
import { authorizeAll } from './batch.ts';
import type { BatchLimiter } from './batch-limiter.ts';
import { type DecisionRouteServices, registerDecisions } from './decision-routes.ts';
import type { Explainer } from './explain.ts';
import type { ReplayServices } from './replay.ts';
import { registerReplay } from './replay-routes.ts';
import { AuthorizationRequest, AuthorizationResponse, answerText, BatchRequest } from './schema.ts';
import { registerTesting } from './testing-routes.ts';

type AuthzRouteServices = ReplayServices &
  DecisionRouteServices & {
    explainer: Explainer;
    batches: BatchLimiter;
  };

const evaluators = { access: { api: 'management', scope: 'authz:evaluate', users: true } } as const;
const answerJson = () => answerText as (answer: unknown) => string;

export function registerAuthzRoutes(app: App, services: AuthzRouteServices, countMore: CountMore): void {
  app.addSchema(AuthorizationRequest);
  registerEvaluation(app, services);
  registerBatch(app, services, countMore);
  registerTesting(app, services);
  registerReplay(app, services);
  registerDecisions(app, services);
}

function registerEvaluation(app: App, services: AuthzRouteServices): void {
  app.route({
    method: 'POST',
    url: '/authz/:tenant',
    config: evaluators,
    bodyLimit: limits.bodyBytesMax,
    schema: {
      summary: 'Authorize a request with the policy that action names',
      params: TenantParams,
      querystring: Type.Object(
        {
          explain: Type.Optional(
            Type.Union([Type.Literal('true'), Type.Literal('false')], {
              description: 'true: explain how the decision was made. Requires the scope pg:tenant:admin.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      body: AuthorizationRequest,
      response: { 200: AuthorizationResponse },
    },
    serializerCompiler: answerJson,
    // All fields are optional, and so is the body: it then denies, as a request without an action does. body.ts puts
    // what is sent in its place.
    onRequest: (request, _reply, done) => {
      request.body = {};
      done();
    },
    handler: (request, reply) => {
      const { snapshot } = tenantOf(request);
      const context = contextOf(request, snapshot);
      reply.header('accord-revision', `c${snapshot.revision}`);
      const { body } = request;
      if (request.query.explain === 'true') return explain(services, context, body);
      const decision = authorize(services, context, body);
      if (decision instanceof Promise) return decision.then((made) => made.answer);
      reply.send(decision.answer); // without a promise, and so without another turn
      return undefined;
    },
  });
}

async function explain(services: AuthzRouteServices, context: DecisionContext, body: AuthorizationRequest) {
  const { caller } = context;
  if (caller.kind !== 'backend' || !caller.scopes.has('pg:tenant:admin')) {
    throw problem('forbidden', { detail: 'explain needs the scope pg:tenant:admin.' });
  }
  const { answer, explain: explanation } = await authorizeExplained(services, context, body);
  return { ...answer, explain: explanation };
}

function registerBatch(app: App, services: AuthzRouteServices, countMore: CountMore): void {
  app.route({
    method: 'POST',
    url: '/authz/:tenant/batch',
    config: evaluators,
    bodyLimit: limits.batchBodyBytesMax,
    schema: {
      summary: 'Authorize up to 1,000 requests from one snapshot',
      description: `The decisions are in the order of the requests. When the answers exceed ${limits.batchAnswersBytesMax / 1024 / 1024} MiB in total, the remaining requests are denied without evaluation, with the reason batch_answers_too_large.`,
      params: TenantParams,
      body: BatchRequest,
      response: { 200: Type.Object({ decisions: Type.Array(AuthorizationResponse) }) },
    },
    serializerCompiler: () => (answers: unknown) => `{"decisions":[${(answers as string[]).join(',')}]}`,
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { requests } = request.body as { requests: AuthorizationRequest[] };
      countMore(request as never, requests.length - 1); // the access hook counted one
      return services.batches.run(tenant, reply.raw, () => {
        const { snapshot } = tenantOf(request);
        const context = contextOf(request, snapshot);
        reply.header('accord-revision', `c${snapshot.revision}`);
        return authorizeAll(services, context, { requests, textOf: answerText });
      }) as Promise<never>;
    },
  });
}

function contextOf({ caller, id, span }: FastifyRequest, snapshot: TenantSnapshot): DecisionContext {
  return { snapshot, caller: caller as Caller, requestId: id, span };
}
