/** The verbs of the authorization room: authorize, and the same with an explanation. */

import { subjectFor } from '../core/auth/admit.ts';
import { callerName } from '../core/auth/name.ts';
import type { Caller } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { FairScheduler } from '../core/fair-scheduler.ts';
import type { Observe } from '../core/observe.ts';
import { Problem } from '../core/problems.ts';
import {
  type Facts,
  type FactsSource,
  type InvitationFact,
  inputFor,
  needsOf,
  needsOfExplained,
  noFacts,
} from '../facts/index.ts';
import { type Answer, type Engine, failed } from '../policies/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { type Decidable, type Decision, decide, denied, type Question } from './decide.ts';
import { type Explainer, type Explanation, unevaluated } from './explain.ts';
import type { DecisionLog } from './log.ts';
import { missingConsents } from './missing-consents.ts';
import type { AuthorizationRequest } from './schema.ts';

export type AuthzServices = {
  engine: Engine;
  /** Turns of the main thread. */
  scheduler: FairScheduler;
  facts: FactsSource;
  log: DecisionLog;
  clock: Clock;
  observe: Observe;
};

export type Asked = { snapshot: TenantSnapshot; caller: Caller; requestId: string };

/**
 * The question as it will be decided: an end user asks about itself only.
 * @throws Problem forbidden when the subject is somebody else
 */
export function questionOf(
  asked: Asked,
  request: AuthorizationRequest,
  now: number,
  invitation?: InvitationFact,
): Question {
  const subject = subjectFor(asked.caller, request.subject);
  const confined = subject === request.subject ? request : { ...request, ...(subject ? { subject } : {}) };
  const { snapshot, caller } = asked;
  const email = caller.kind === 'user' ? caller.email : undefined;
  return { tenant: snapshot.tenant, request: confined, now, caller: caller.kind, invitation, email };
}

/** A question with the facts that its policy needs. */
export type Prepared = Decidable & {
  readonly facts: Facts | Promise<Facts>;
  readonly started: number;
};

/**
 * Begins to gather what a decision needs.
 * @param invitation the one that the question is about, where it does not come by a requestToken
 * @param now the instant of the request, ms
 * @throws Problem forbidden
 */
export function prepare(
  services: AuthzServices,
  asked: Asked,
  request: AuthorizationRequest,
  invitation?: InvitationFact,
  now: number = services.clock.now(),
): Prepared {
  const started = services.clock.monotonic();
  const question = questionOf(asked, request, now, invitation);
  const policy = request.action === undefined ? undefined : asked.snapshot.policies.get(request.action);
  if (policy === undefined) return { question, policy, needs: undefined, facts: noFacts, started };
  const needs = needsOf(policy);
  return { question, policy, needs, facts: services.facts.gather(asked.snapshot, question, needs), started };
}

/**
 * Answers what was prepared; a policy that is missing, fails or says nothing usable denies.
 * @param admit what is answered, and recorded, in place of the decision; absent: the decision
 */
export function answerPrepared(
  services: AuthzServices,
  asked: Asked,
  prepared: Prepared,
  admit?: (made: Decision) => Decision,
): Decision | Promise<Decision> {
  const { question, policy, facts, started } = prepared;
  const record = (made: Decision) => {
    const told = admit === undefined ? made : admit(made);
    return recordDecision(services, asked, question, madeBy(policy), told, started);
  };
  const decided = (gathered: Facts) => {
    const decision = decide(services.engine, prepared, gathered);
    return decision instanceof Promise ? decision.then(record) : record(decision);
  };
  if (!(facts instanceof Promise)) return decided(facts);
  const { tenant } = question;
  return facts.then((gathered) =>
    services.scheduler.isShared ? services.scheduler.turn(tenant).then(() => decided(gathered)) : decided(gathered),
  );
}

/** Denies a request without evaluating anything for it. @throws Problem forbidden */
export function denyUnevaluated(
  services: AuthzServices,
  asked: Asked,
  request: AuthorizationRequest,
  answer: Answer,
): Decision {
  const question = questionOf(asked, request, services.clock.now());
  return recordDecision(services, asked, question, undefined, { answer }, services.clock.monotonic());
}

/** Answers one authorization request. @throws Problem forbidden */
export function authorize(
  services: AuthzServices,
  asked: Asked,
  request: AuthorizationRequest,
  invitation?: InvitationFact,
): Decision | Promise<Decision> {
  return answerPrepared(services, asked, prepare(services, asked, request, invitation));
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
    return { answer: recordDecision(services, asked, question, undefined, gone, started).answer };
  }
  const needs = needsOfExplained(source);
  const facts = await services.facts.gather(asked.snapshot, question, needs);
  if (facts.denial !== undefined) {
    const made = denied(facts.denial);
    const { answer } = recordDecision(services, asked, question, source, made, started);
    return { answer, explain: unevaluated(source, facts.denial) };
  }
  const input = inputFor(needs, question, facts);
  const { decision, explain } = await services.explainer.explain(tenant, source, input, facts, now);
  const documents = explain.data && Object.fromEntries(explain.data.map(({ path, revision }) => [path, revision]));
  const by = { number: source.number, documents };
  const { answer } = recordDecision(services, asked, question, by, decision, started);
  const missing = missingConsents(asked.snapshot.definitions.keys(), source.effectiveRego, facts);
  return { answer, explain: missing.length > 0 ? { ...explain, missingConsents: missing } : explain };
}

/** What a record says of what made the decision. */
type MadeBy = { number?: number | undefined; documents?: Record<string, number> | undefined };

function madeBy(policy: Decidable['policy']): MadeBy | undefined {
  if (policy === undefined) return undefined;
  const { number, documents } = policy;
  if (documents === undefined) return { number };
  return { number, documents: Object.fromEntries(documents.list.map((one) => [one.path, one.number])) };
}

function recordDecision(
  services: AuthzServices,
  asked: Asked,
  question: Question,
  policy: MadeBy | undefined,
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
      request: withoutToken(question.request),
      answer: decision.answer,
      policyNumber: policy?.number,
      documents: policy?.documents,
      revision: snapshot.revision,
      durationUs: Math.round(ms * 1000),
      requestId,
    });
  }
  return decision;
}

/** A requestToken is a secret: whoever reads the log must not be able to accept with it. */
function withoutToken(request: AuthorizationRequest): AuthorizationRequest {
  if (request.context?.requestToken === undefined) return request;
  return { ...request, context: { ...request.context, requestToken: '***' } };
}

function outcomeKind(outcome: unknown): 'allow' | 'deny' | 'object' {
  return outcome === 'allow' || outcome === 'deny' ? outcome : 'object';
}
