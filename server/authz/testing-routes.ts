/** The Config API's trying out of policies: what one answers to an input, or to a question with the facts that a decision is given. */
import { Type } from 'typebox';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { noFacts } from '../facts/index.ts';
import { type App, memberOf, plainJson, tenantOf } from '../http/fastify.ts';
import {
  checkPolicyName,
  checkStated,
  effectiveRego,
  instantOf,
  linesOfNodes,
  NodeLines,
  type PolicyBody,
  PolicyTestBody,
  policyProblem,
} from '../policies/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { coverageOfTests, TestCoverage } from './coverage.ts';
import type { Decision } from './decide.ts';
import type { Explanation, ReadSource, Source } from './explain.ts';
import { explainQuestion } from './explain-question.ts';
import type { LoggedServices } from './logged.ts';
import { type AuthorizationRequest, AuthorizationResponse } from './schema.ts';

const memberTesters = { access: { api: 'config', roles: ['security-admin', 'config-editor'] } } as const;

const TestBody = Type.Object(
  {
    ...PolicyTestBody.properties,
    input: Type.Optional(PolicyTestBody.properties.input),
    request: Type.Optional(Type.Ref('AuthorizationRequest#')),
  },
  { additionalProperties: false },
);

const TestAnswer = Type.Object({
  ...AuthorizationResponse.properties,
  coverage: Type.Optional(TestCoverage),
  effectiveRego: Type.Optional(
    Type.String({ description: 'The Rego that the drawing, stored or a draft, becomes. Only of a drawn policy.' }),
  ),
  nodeLines: Type.Optional(NodeLines),
});

type Asked = { input: Record<string, unknown> } | { request: AuthorizationRequest };
type Tried = { decision: Decision; explain: Explanation };

export function registerTesting(app: App, services: LoggedServices): void {
  app.route({
    method: 'POST',
    url: '/tenants/:tenant/policies/:policyName/test',
    config: memberTesters,
    bodyLimit: limits.bodyBytesMax,
    schema: {
      summary: 'Evaluate a stored policy, or a draft of it, for an input or a request, without storing anything',
      description:
        'The body has either input, which the policy is given as it is, or request: then the service adds the facts that a decision about it reads, as POST /authz does for a back end, and explain.input has them. With coverage: also what the tests of the policy and this input reach. Of a draft the tests that are stored under its name, unless the request has tests.',
      tags: ['Policies'],
      params: Type.Object({ tenant: Type.String(), policyName: Type.String() }),
      body: TestBody,
      response: { 200: TestAnswer },
    },
    serializerCompiler: plainJson,
    handler: async (request) => {
      const { tenant, policyName } = request.params;
      const { snapshot } = tenantOf(request);
      memberOf(request);
      checkPolicyName(policyName);
      const { input, request: question, coverage = false, tests, ...draft } = request.body;
      const asked = askedOf(policyName, { input, request: question as AuthorizationRequest | undefined, coverage });
      if (tests !== undefined && !coverage) throw wrong('/tests', 'goes only with coverage: true');
      const isDraft = draft.rego !== undefined || draft.graph !== undefined;
      const stored = isDraft ? undefined : await services.explainer.source(tenant, policyName);
      if (!isDraft && stored === undefined) throw policyProblem('policy_not_found');
      const source: Source = stored ?? {
        ...{ name: policyName, effectiveRego: effectiveRego(draft) },
        ...(draft.graph ? { graph: draft.graph } : {}),
      };
      const now = services.clock.now();
      const { decision, explain } =
        'input' in asked
          ? await tryInput(services, snapshot, source, asked.input, now)
          : await tryRequest(services, snapshot, stored ?? (await readDraft(services, tenant, source, draft)), {
              ...{ request: asked.request, now },
            });
      const answer = { ...decision.answer, explain, ...drawnOf(source) };
      if (!coverage || !('input' in asked)) return answer;
      const own = tests ?? (await services.explainer.source(tenant, policyName))?.tests ?? [];
      const covered = await coverageOfTests(services, tenant, source, { tests: own, input: asked.input, now });
      if (covered === undefined) throw policyProblem('policy_not_traceable');
      return { ...answer, coverage: covered };
    },
  });
}

const wrong = (pointer: string, detail: string) => problem('invalid_request', { errors: [{ pointer, detail }] });

type Given = {
  input: Record<string, unknown> | undefined;
  request: AuthorizationRequest | undefined;
  coverage: boolean;
};

/** @throws Problem invalid_request */
function askedOf(policyName: string, { input, request, coverage }: Given): Asked {
  if (input !== undefined && request !== undefined) throw wrong('/request', 'goes only without input');
  if (input !== undefined) return { input };
  if (request === undefined) throw wrong('/input', 'is missing: the body needs input, or request');
  if (coverage) throw wrong('/coverage', 'goes only with input');
  if ((request.action ?? policyName) !== policyName)
    throw wrong('/request/action', 'must be the name of the policy, or absent');
  return { request: { ...request, action: policyName } };
}

/** With nothing but what the input says. */
function tryInput(
  { explainer }: LoggedServices,
  { tenant, spec }: TenantSnapshot,
  source: Source,
  input: Record<string, unknown>,
  now: number,
): Promise<Tried> {
  const { defaultActorType: consentingType } = spec.tokenMapping;
  return explainer.explain(tenant, source, input, noFacts, { now: instantOf(input, now), consentingType });
}

/** With what a decision for a back end is given. */
function tryRequest(
  services: LoggedServices,
  snapshot: TenantSnapshot,
  source: ReadSource,
  { request, now }: { request: AuthorizationRequest; now: number },
): Promise<Tried> {
  return explainQuestion(services, snapshot, source, { tenant: snapshot.tenant, request, now, caller: 'backend' });
}

/** What a draft reads says which facts it is given. @throws Problem as putPolicy does */
async function readDraft(
  { artifacts }: LoggedServices,
  tenant: string,
  source: Source,
  { dataSubjects, graph }: PolicyBody,
): Promise<ReadSource> {
  const { effectiveRego: text } = source;
  const { about, uses, set } = await artifacts.compile(tenant, text, graph ? 'graph' : 'rego');
  await checkStated(dataSubjects, about.reads, { source: text, uses, set });
  return { ...source, reads: about.reads, ...(dataSubjects ? { dataSubjects } : {}) };
}

/** What a drawing becomes, beside the answer. */
function drawnOf({ graph, effectiveRego: rego }: Source) {
  if (graph === undefined) return {};
  const nodeLines = linesOfNodes(graph, rego);
  return { effectiveRego: rego, ...(nodeLines && { nodeLines }) };
}
