/** The Authorization API, and the Config API's trying out of policies and reading of decisions. */
import { Type } from 'typebox';
import { shownName } from '../core/auth/mask.ts';
import type { Caller, Role } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { noFacts } from '../facts/index.ts';
import { type App, type CountMore, memberOf, plainJson, TenantParams, tenantOf } from '../http/fastify.ts';
import { decodeRecordCursor, encodeRecordCursor, PAGE_ITEMS, pageOfRows, pageQuery } from '../http/paging.ts';
import { checkPolicyName, effectiveRego, instantOf, PolicyTestBody } from '../policies/index.ts';
import { type Asked, authorize, authorizeExplained } from './actions.ts';
import { authorizeAll } from './batch.ts';
import type { Batches } from './batches.ts';
import type { Explainer } from './explain.ts';
import type { ReplayServices } from './replay.ts';
import { registerReplay } from './replay-routes.ts';
import { AuthorizationRequest, AuthorizationResponse, answerText, BatchRequest } from './schema.ts';
import { type DecisionRow, listDecisions } from './store.ts';

export type AuthzRouteServices = ReplayServices & {
  explainer: Explainer;
  batches: Batches;
};

const evaluators = { access: { door: 'management', scope: 'authz:evaluate', users: true } } as const;
// Records, not configuration: a config-viewer reads none.
const recordReaders = { access: { door: 'config', roles: ['security-admin', 'config-editor', 'support'] } } as const;
const memberTesters = { access: { door: 'config', roles: ['security-admin', 'config-editor'] } } as const;
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
      summary: 'Authorize a request by the policy that action names',
      params: TenantParams,
      querystring: Type.Object(
        {
          explain: Type.Optional(
            Type.Union([Type.Literal('true'), Type.Literal('false')], {
              description: 'true (scope pg:tenant:admin): say how the decision came about.',
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
      const asked = { snapshot, caller: request.caller as Caller, requestId: request.id };
      reply.header('accord-revision', `c${snapshot.revision}`);
      const { body } = request;
      if (request.query.explain === 'true') return explain(services, asked, body);
      const decision = authorize(services, asked, body);
      if (decision instanceof Promise) return decision.then((made) => made.answer);
      reply.send(decision.answer); // without a promise, and so without another turn
      return undefined;
    },
  });
}

async function explain(services: AuthzRouteServices, asked: Asked, body: AuthorizationRequest) {
  const { caller } = asked;
  if (caller.kind !== 'backend' || !caller.scopes.has('pg:tenant:admin')) {
    throw problem('forbidden', { detail: 'explain needs the scope pg:tenant:admin.' });
  }
  const { answer, explain: explanation } = await authorizeExplained(services, asked, body);
  return explanation === undefined ? answer : { ...answer, explain: explanation };
}

function registerBatch(app: App, services: AuthzRouteServices, countMore: CountMore): void {
  app.route({
    method: 'POST',
    url: '/authz/:tenant/batch',
    config: evaluators,
    bodyLimit: limits.batchBodyBytesMax,
    schema: {
      summary: 'Authorize up to 1,000 requests from one snapshot',
      description: `In order. Once the answers have more than ${limits.batchAnswersBytesMax / 1024 / 1024} MiB together, the rest is denied with the reason batch_answers_too_large, unevaluated.`,
      params: TenantParams,
      body: BatchRequest,
      response: { 200: Type.Object({ decisions: Type.Array(AuthorizationResponse) }) },
    },
    serializerCompiler: () => (answers: unknown) => `{"decisions":[${(answers as string[]).join(',')}]}`,
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { requests } = request.body as { requests: AuthorizationRequest[] };
      countMore(request as never, requests.length - 1); // one was counted at the door
      return services.batches.run(tenant, reply.raw, () => {
        const { snapshot } = tenantOf(request);
        const asked = { snapshot, caller: request.caller as Caller, requestId: request.id };
        reply.header('accord-revision', `c${snapshot.revision}`);
        return authorizeAll(services, asked, { requests, textOf: answerText });
      }) as Promise<never>;
    },
  });
}

function registerTesting(app: App, services: AuthzRouteServices): void {
  app.route({
    method: 'POST',
    url: '/tenants/:tenant/policies/:policyName/test',
    config: memberTesters,
    bodyLimit: limits.bodyBytesMax,
    schema: {
      summary: 'Evaluate a stored policy, or a draft of it, for an input, without storing anything',
      tags: ['Policies'],
      params: Type.Object({ tenant: Type.String(), policyName: Type.String() }),
      body: PolicyTestBody,
      response: { 200: AuthorizationResponse },
    },
    serializerCompiler: plainJson,
    handler: async (request) => {
      const { tenant, policyName } = request.params;
      memberOf(request);
      checkPolicyName(policyName);
      const { input, ...draft } = request.body;
      const isDraft = draft.rego !== undefined || draft.graph !== undefined;
      const source = isDraft
        ? { name: policyName, effectiveRego: effectiveRego(draft), ...(draft.graph ? { graph: draft.graph } : {}) }
        : await services.explainer.source(tenant, policyName);
      const { decision, explain: explanation } = await services.explainer.explain(
        tenant,
        source,
        input,
        noFacts,
        instantOf(input, services.clock.now()),
      );
      return { ...decision.answer, explain: explanation };
    },
  });
}

const DecisionView = Type.Object({
  id: Type.String(),
  time: Type.String(),
  caller: Type.String(),
  action: Type.Optional(Type.String()),
  request: Type.Unknown(),
  answer: Type.Unknown(),
  policyRevision: Type.Optional(Type.Integer()),
  revision: Type.String(),
  durationUs: Type.Integer(),
  requestId: Type.Optional(Type.String()),
});

function registerDecisions(app: App, services: AuthzRouteServices): void {
  const instant = Type.String({ format: 'date-time', maxLength: 64 });
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/decisions',
    config: recordReaders,
    schema: {
      summary: 'Read the decision log, newest first',
      tags: ['Decisions'],
      params: TenantParams,
      querystring: Type.Object(
        {
          ...pageQuery,
          start: Type.Optional(instant),
          end: Type.Optional(instant),
          action: Type.Optional(Type.String({ maxLength: 1024 })),
          outcome: Type.Optional(Type.Union([Type.Literal('allow'), Type.Literal('deny')])),
        },
        { additionalProperties: false },
      ),
      response: { 200: Type.Object({ decisions: Type.Array(DecisionView), cursor: Type.Optional(Type.String()) }) },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { limit = PAGE_ITEMS, cursor, start, end, ...rest } = request.query;
      const filter = { ...rest, ...(start ? { start: utc(start) } : {}), ...(end ? { end: utc(end) } : {}) };
      const before = cursor === undefined ? {} : { before: decodeRecordCursor(cursor, 'decisions') };
      const rows = await services.database.tenantSnapshot(tenant, (tx) =>
        listDecisions(tx, tenant, { ...filter, ...before, limit: limit + 1 }),
      );
      const { role } = memberOf(request);
      const { page, onward } = pageOfRows({ request, reply }, rows, limit, (last) =>
        encodeRecordCursor(last, 'decisions'),
      );
      return { decisions: page.map((row) => decisionView(row, role)), ...onward };
    },
  });
}

/** Postgres knows fewer offsets than RFC 3339. */
function utc(instant: string): string {
  return new Date(instant).toISOString();
}

/**
 * Support sees what was decided, not about whom: ids and free attributes are left out, and an outcome that is an object is
 * masked, because a policy may put anything into it.
 */
function decisionView(row: DecisionRow, role: Role) {
  const masked = role === 'support';
  return {
    id: row.id,
    time: row.at,
    caller: shownName(role, row.caller),
    ...(row.action === null ? {} : { action: row.action }),
    request: masked ? { action: row.action } : row.request,
    answer: masked ? { outcome: shownOutcome(row.answer.outcome) } : row.answer,
    ...(row.policy_number === null ? {} : { policyRevision: row.policy_number }),
    revision: `c${row.revision}`,
    durationUs: row.duration_us,
    ...(row.request_id === null ? {} : { requestId: row.request_id }),
  };
}

function shownOutcome(outcome: unknown): string {
  return outcome === 'allow' || outcome === 'deny' ? outcome : '***';
}
