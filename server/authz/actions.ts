/** The verbs of the authorization room: authorize, and the same with an explanation. */

import { subjectFor } from '../core/auth/authorize-caller.ts';
import { callerName } from '../core/auth/name.ts';
import type { Caller } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { FairScheduler } from '../core/fair-scheduler.ts';
import type { Observe } from '../core/observe.ts';
import { asChild, type Span } from '../core/span.ts';
import {
  type Facts,
  type FactsSource,
  type InvitationFact,
  inputFor,
  type Needs,
  needsOf,
  needsOfExplained,
  noFacts,
} from '../facts/index.ts';
import { type Answer, type Documents, type Engine, failed } from '../policies/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { type Decidable, type Decision, decide, denied, type Evaluation, outcomeKind } from './decide.ts';
import { type Explainer, type Explanation, unevaluated, unfound } from './explain.ts';
import type { DecisionLog } from './log.ts';
import { withMissingConsents } from './missing-consents.ts';
import { withMissingPaths } from './missing-paths.ts';
import type { AuthorizationRequest } from './schema.ts';
import { evaluateTraced, gatherTraced } from './traced.ts';

export type AuthzServices = {
  engine: Engine;
  /** Turns of the main thread. */
  scheduler: FairScheduler;
  facts: FactsSource;
  log: DecisionLog;
  clock: Clock;
  observe: Observe;
};

export type DecisionContext = {
  snapshot: TenantSnapshot;
  caller: Caller;
  requestId: string;
  /** Of the request, where it is traced. */
  span?: Span | null | undefined;
};

/**
 * The evaluation of a request: an end user asks about itself only.
 * @throws Problem forbidden when the subject is somebody else
 */
export function evaluationOf(
  context: DecisionContext,
  request: AuthorizationRequest,
  now: number,
  invitation?: InvitationFact,
): Evaluation {
  const subject = subjectFor(context.caller, request.subject);
  const confined = subject === request.subject ? request : { ...request, ...(subject ? { subject } : {}) };
  const { snapshot, caller } = context;
  const email = caller.kind === 'user' ? caller.email : undefined;
  return { tenant: snapshot.tenant, request: confined, now, caller: caller.kind, invitation, email };
}

/** An evaluation with the facts that its policy needs. */
export type Prepared = Decidable & {
  readonly facts: Facts | Promise<Facts>;
  readonly started: number;
};

/**
 * Begins to gather what a decision needs.
 * @param invitation the one that the request is about, where it does not come by a requestToken
 * @param now the instant of the request, ms
 * @throws Problem forbidden
 */
export function prepare(
  services: AuthzServices,
  context: DecisionContext,
  request: AuthorizationRequest,
  invitation?: InvitationFact,
  now: number = services.clock.now(),
): Prepared {
  const started = services.clock.monotonic();
  const evaluation = evaluationOf(context, request, now, invitation);
  const policy = request.action === undefined ? undefined : context.snapshot.policies.get(request.action);
  if (policy === undefined) return { evaluation, policy, needs: undefined, facts: noFacts, started };
  const needs = needsOf(policy);
  return { evaluation, policy, needs, facts: gather(services, context, evaluation, needs), started };
}

function gather({ facts }: AuthzServices, { snapshot, span }: DecisionContext, evaluation: Evaluation, needs: Needs) {
  return span ? gatherTraced(facts, snapshot, evaluation, needs, span) : facts.gather(snapshot, evaluation, needs);
}

/**
 * Answers what was prepared; a policy that is missing, fails or says nothing usable denies.
 * @param admit what is answered, and recorded, in place of the decision; absent: the decision
 */
export function answerPrepared(
  services: AuthzServices,
  context: DecisionContext,
  prepared: Prepared,
  replace?: (made: Decision) => Decision,
): Decision | Promise<Decision> {
  const { evaluation, policy, facts, started } = prepared;
  const record = (made: Decision) => {
    const told = replace === undefined ? made : replace(made);
    return recordDecision(services, context, evaluation, policy, told, started);
  };
  const { span } = context;
  const decided = (gathered: Facts) => {
    const decision = span
      ? evaluateTraced(span, services.engine, prepared, gathered)
      : decide(services.engine, prepared, gathered);
    return decision instanceof Promise ? decision.then(record) : record(decision);
  };
  if (!(facts instanceof Promise)) return decided(facts);
  const { tenant } = evaluation;
  return facts.then((gathered) =>
    services.scheduler.isShared ? services.scheduler.turn(tenant).then(() => decided(gathered)) : decided(gathered),
  );
}

/** Denies a request without evaluating anything for it. @throws Problem forbidden */
export function denyUnevaluated(
  services: AuthzServices,
  context: DecisionContext,
  request: AuthorizationRequest,
  answer: Answer,
): Decision {
  const evaluation = evaluationOf(context, request, services.clock.now());
  return recordDecision(services, context, evaluation, undefined, { answer }, services.clock.monotonic());
}

/** Answers one authorization request. @throws Problem forbidden */
export function authorize(
  services: AuthzServices,
  context: DecisionContext,
  request: AuthorizationRequest,
  invitation?: InvitationFact,
): Decision | Promise<Decision> {
  return answerPrepared(services, context, prepare(services, context, request, invitation));
}

/**
 * Answers one authorization request by the newest policy of the name, which may be newer than the snapshot's, and says
 * how the answer came about; of a policy that is not there, or is gone, that it is not.
 * @throws Problem forbidden; compiler_busy, evaluator_busy, not_ready
 */
export async function authorizeExplained(
  services: AuthzServices & { explainer: Explainer },
  context: DecisionContext,
  request: AuthorizationRequest,
): Promise<{ answer: Answer; explain: Explanation }> {
  const started = services.clock.monotonic();
  const evaluation = evaluationOf(context, request, services.clock.now());
  const { tenant, now } = evaluation;
  const known = request.action === undefined ? undefined : context.snapshot.policies.get(request.action);
  if (known === undefined) {
    const { answer } = await authorize(services, context, request);
    return { answer, explain: unfound(request.action) };
  }
  const source = await services.explainer.source(tenant, known.name);
  if (source === undefined) {
    const gone = { answer: failed('policy_not_found') };
    const { answer } = recordDecision(services, context, evaluation, undefined, gone, started);
    return { answer, explain: unfound(known.name) };
  }
  const needs = needsOfExplained(source);
  const facts = await gather(services, context, evaluation, needs);
  if (facts.denial !== undefined) {
    const made = denied(facts.denial);
    const { answer } = recordDecision(services, context, evaluation, source, made, started);
    return { answer, explain: unevaluated(source, facts.denial) };
  }
  const input = inputFor(needs, evaluation, facts);
  const { defaultActorType: consentingType } = context.snapshot.spec.tokenMapping;
  const explained = () => services.explainer.explain(tenant, source, input, facts, { now, consentingType });
  const { decision, explain, text } = await (context.span ? asChild(context.span, 'explain', explained) : explained());
  const by = { name: source.name, number: source.number, ...usedBy(explain) };
  const { answer } = recordDecision(services, context, evaluation, by, decision, started);
  const told = await withMissingPaths(services, context.snapshot, evaluation, explain);
  return { answer, explain: withMissingConsents(told, context.snapshot, text, facts) };
}

/** What a record says of what made the decision. */
type DecidedBy = {
  readonly name: string;
  readonly number?: number | undefined;
  readonly documents?: Pick<Documents, 'numbers'> | undefined;
  readonly libraries?: Readonly<Record<string, number>> | undefined;
};

function usedBy({ data, libraries }: Explanation): Pick<DecidedBy, 'documents' | 'libraries'> {
  return {
    documents: data && { numbers: Object.fromEntries(data.map((one) => [one.path, one.revision])) },
    libraries: libraries && Object.fromEntries(libraries.map((one) => [one.package, one.revision])),
  };
}

/** @param policy absent: there is none, or it was not asked */
function recordDecision(
  services: AuthzServices,
  context: DecisionContext,
  evaluation: Evaluation,
  policy: DecidedBy | undefined,
  decision: Decision,
  started: number,
): Decision {
  const { snapshot, caller, requestId } = context;
  const span = context.span?.child('record');
  const ms = services.clock.monotonic() - started;
  const { outcome } = decision.answer;
  const { tenant } = snapshot;
  services.observe({ kind: 'decided', tenant, policy: policy?.name, outcome: outcomeKind(outcome), ms });
  if (decision.failure) {
    const action = evaluation.request.action ?? '';
    services.observe({ kind: 'decision_failed', tenant, policy: action, ...decision.failure });
  }
  const setting = snapshot.spec.decisionLog;
  if (setting !== undefined && setting.mode !== 'off') {
    services.log.add(setting, {
      tenant,
      at: evaluation.now,
      caller: callerName(caller),
      request: withoutToken(evaluation.request),
      answer: decision.answer,
      policyNumber: policy?.number,
      documents: policy?.documents?.numbers,
      libraries: policy?.libraries,
      revision: snapshot.revision,
      durationUs: Math.round(ms * 1000),
      requestId,
    });
  }
  span?.end();
  return decision;
}

/** A requestToken is a secret: whoever reads the log must not be able to accept with it. */
function withoutToken(request: AuthorizationRequest): AuthorizationRequest {
  if (request.context?.requestToken === undefined) return request;
  return { ...request, context: { ...request.context, requestToken: '***' } };
}
