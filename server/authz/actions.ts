/** The verbs of the authorization room: authorize, and the same with an explanation. */

import { subjectFor } from '../core/auth/admit.ts';
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
import { type Answer, type Engine, failed } from '../policies/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { type Decidable, type Decision, decide, denied, outcomeKind, type Question } from './decide.ts';
import { type Explainer, type Explanation, unevaluated } from './explain.ts';
import type { DecisionLog } from './log.ts';
import { missingConsents } from './missing-consents.ts';
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

export type Asked = {
  snapshot: TenantSnapshot;
  caller: Caller;
  requestId: string;
  /** Of the request, where it is traced. */
  span?: Span | null | undefined;
};

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
  return { question, policy, needs, facts: gather(services, asked, question, needs), started };
}

function gather({ facts }: AuthzServices, { snapshot, span }: Asked, question: Question, needs: Needs) {
  return span ? gatherTraced(facts, snapshot, question, needs, span) : facts.gather(snapshot, question, needs);
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
  const { span } = asked;
  const decided = (gathered: Facts) => {
    const decision = span
      ? evaluateTraced(span, services.engine, prepared, gathered)
      : decide(services.engine, prepared, gathered);
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
  const source = await services.explainer.source(tenant, known.name);
  if (source === undefined) {
    const gone = { answer: failed('policy_not_found') };
    return { answer: recordDecision(services, asked, question, undefined, gone, started).answer };
  }
  const needs = needsOfExplained(source);
  const facts = await gather(services, asked, question, needs);
  if (facts.denial !== undefined) {
    const made = denied(facts.denial);
    const { answer } = recordDecision(services, asked, question, source, made, started);
    return { answer, explain: unevaluated(source, facts.denial) };
  }
  const input = inputFor(needs, question, facts);
  const explained = () => services.explainer.explain(tenant, source, input, facts, now);
  const { decision, explain } = await (asked.span ? asChild(asked.span, 'explain', explained) : explained());
  const documents = explain.data && Object.fromEntries(explain.data.map(({ path, revision }) => [path, revision]));
  const by = { name: source.name, number: source.number, documents };
  const { answer } = recordDecision(services, asked, question, by, decision, started);
  const missing = missingConsents(asked.snapshot.definitions.keys(), source.effectiveRego, facts);
  return { answer, explain: missing.length > 0 ? { ...explain, missingConsents: missing } : explain };
}

/** What a record says of what made the decision. */
type DecidedBy = {
  readonly name: string;
  readonly number?: number | undefined;
  readonly documents?: Readonly<Record<string, number>> | undefined;
};

function madeBy(policy: Decidable['policy']): DecidedBy | undefined {
  if (policy === undefined) return undefined;
  const { name, number, documents } = policy;
  return { name, number, documents: documents?.numbers };
}

/** @param policy absent: there is none, or it was not asked */
function recordDecision(
  services: AuthzServices,
  asked: Asked,
  question: Question,
  policy: DecidedBy | undefined,
  decision: Decision,
  started: number,
): Decision {
  const span = asked.span?.child('record');
  record(services, asked, question, policy, decision, started);
  span?.end();
  return decision;
}

function record(
  services: AuthzServices,
  { snapshot, caller, requestId }: Asked,
  question: Question,
  policy: DecidedBy | undefined,
  decision: Decision,
  started: number,
): void {
  const ms = services.clock.monotonic() - started;
  const { outcome } = decision.answer;
  const { tenant } = snapshot;
  services.observe({ kind: 'decided', tenant, policy: policy?.name, outcome: outcomeKind(outcome), ms });
  if (decision.failure) {
    const action = question.request.action ?? '';
    services.observe({ kind: 'decision_failed', tenant, policy: action, ...decision.failure });
  }
  const setting = snapshot.spec.decisionLog;
  if (setting !== undefined && setting.mode !== 'off') {
    services.log.add(setting, {
      tenant,
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
}

/** A requestToken is a secret: whoever reads the log must not be able to accept with it. */
function withoutToken(request: AuthorizationRequest): AuthorizationRequest {
  if (request.context?.requestToken === undefined) return request;
  return { ...request, context: { ...request.context, requestToken: '***' } };
}
