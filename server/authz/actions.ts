/** The verbs of the authorization room: authorize, and the same with an explanation. */

import { subjectFor } from '../core/auth/admit.ts';
import type { Caller } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Observe } from '../core/observe.ts';
import { Problem } from '../core/problems.ts';
import { type Facts, type FactsNeeded, type FactsSource, factsNeeded, noFacts } from '../facts/index.ts';
import { type Answer, type Engine, failed } from '../policies/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { type Decision, decide, type Question } from './decide.ts';
import type { Explainer, Explanation } from './explain.ts';
import { inputFor } from './input.ts';
import type { DecisionLog } from './log.ts';
import type { AuthorizationRequest } from './schema.ts';

export type AuthzServices = { engine: Engine; facts: FactsSource; log: DecisionLog; clock: Clock; observe: Observe };

export type Asked = { snapshot: TenantSnapshot; caller: Caller; requestId: string };

/**
 * The question as it will be decided: an end user asks about itself only.
 * @throws Problem forbidden when the subject is somebody else
 */
export function questionOf(asked: Asked, request: AuthorizationRequest, now: number): Question {
  const subject = subjectFor(asked.caller, request.subject);
  const confined = subject === request.subject ? request : { ...request, ...(subject ? { subject } : {}) };
  return { tenant: asked.snapshot.tenant, request: confined, now };
}

/**
 * Answers one authorization request; a policy that is missing, fails or says nothing usable denies.
 * @throws Problem forbidden
 */
export function authorize(
  services: AuthzServices,
  asked: Asked,
  request: AuthorizationRequest,
): Decision | Promise<Decision> {
  const started = services.clock.monotonic();
  const question = questionOf(asked, request, services.clock.now());
  const policy = request.action === undefined ? undefined : asked.snapshot.policies.get(request.action);
  const needed = policy && factsNeeded(policy.reads);
  const decision =
    needed && (needed.subject || needed.resource || needed.consents)
      ? gatherThenDecide(services, asked, question, needed)
      : decide(services.engine, policy, noFacts, question);
  const record = (made: Decision) => keep(services, asked, question, policy?.number, made, started);
  return decision instanceof Promise ? decision.then(record) : record(decision);
}

/**
 * Answers one authorization request by the newest policy of the name, which may be newer than the snapshot's, and says
 * how the answer came about; a name that the snapshot does not know, or whose policy is gone, denies unexplained.
 * @throws Problem forbidden; compiler_busy, evaluator_busy, not_ready
 */
export async function authorizeExplained(
  services: AuthzServices & { explainer: Explainer },
  asked: Asked,
  request: AuthorizationRequest,
): Promise<{ answer: Answer; explain?: Explanation }> {
  const started = services.clock.monotonic();
  const question = questionOf(asked, request, services.clock.now());
  const { tenant, now } = question;
  const known = request.action === undefined ? undefined : asked.snapshot.policies.get(request.action);
  if (known === undefined) return { answer: (await authorize(services, asked, request)).answer };
  const source = await services.explainer.source(tenant, known.name).catch((error) => {
    if (error instanceof Problem && error.code === 'policy_not_found') return undefined;
    throw error;
  });
  if (source === undefined) {
    const gone = { answer: failed('policy_not_found') };
    return { answer: keep(services, asked, question, undefined, gone, started).answer };
  }
  // What the snapshot's policy reads says nothing of this one: it is given everything.
  const facts = await gather(services, question, { subject: true, resource: true, consents: true });
  const input = inputFor({ all: true }, question, facts);
  const { decision, explain } = await services.explainer.explain(tenant, source, input, facts, now);
  return { answer: keep(services, asked, question, source.number, decision, started).answer, explain };
}

async function gatherThenDecide(
  services: AuthzServices,
  asked: Asked,
  question: Question,
  needed: FactsNeeded,
): Promise<Decision> {
  const policy = asked.snapshot.policies.get(question.request.action as string);
  return decide(services.engine, policy, await gather(services, question, needed), question);
}

function gather(services: AuthzServices, { tenant, request, now }: Question, needed: FactsNeeded): Promise<Facts> {
  const [subject, resource] = [thing(request.subject), thing(request.resource)];
  return services.facts.gather({ tenant, subject, resource, needed, now });
}

function thing(value: Record<string, unknown> | undefined): { id?: string; type?: string } {
  return {
    ...(typeof value?.id === 'string' ? { id: value.id } : {}),
    ...(typeof value?.type === 'string' ? { type: value.type } : {}),
  };
}

function keep(
  services: AuthzServices,
  asked: Asked,
  question: Question,
  policyNumber: number | undefined,
  decision: Decision,
  started: number,
): Decision {
  const { snapshot, caller, requestId } = asked;
  const ms = services.clock.monotonic() - started;
  const { outcome } = decision.answer;
  services.observe({ kind: 'decided', tenant: snapshot.tenant, outcome: outcomeKind(outcome), ms });
  if (decision.failure) {
    const policy = question.request.action ?? '';
    services.observe({ kind: 'decision_failed', tenant: snapshot.tenant, policy, ...decision.failure });
  }
  const setting = snapshot.spec.decisionLog;
  if (setting !== undefined && setting.mode !== 'off') {
    services.log.add(setting, {
      tenant: snapshot.tenant,
      at: question.now,
      caller: callerName(caller),
      request: question.request,
      answer: decision.answer,
      policyNumber,
      revision: snapshot.revision,
      durationUs: Math.round(ms * 1000),
      requestId,
    });
  }
  return decision;
}

function outcomeKind(outcome: unknown): 'allow' | 'deny' | 'object' {
  return outcome === 'allow' || outcome === 'deny' ? outcome : 'object';
}

/** For logs: `client:<id>`, `user:<type>:<id>` or `member:<email>`. */
export function callerName(caller: Caller): string {
  if (caller.kind === 'backend') return `client:${caller.clientId}`;
  if (caller.kind === 'user') return `user:${caller.actor.type}:${caller.actor.id}`;
  return `member:${caller.email}`;
}
