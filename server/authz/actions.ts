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
  type FactsNeeded,
  type FactsSource,
  factsNeeded,
  type InvitationFact,
  noFacts,
} from '../facts/index.ts';
import { type Answer, type Engine, failed, type PolicyEntry } from '../policies/index.ts';
import type { Reads } from '../rego/schema.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { type Decision, decide, type Question, tooLarge } from './decide.ts';
import type { Explainer, Explanation } from './explain.ts';
import { inputFor, readsInvitation } from './input.ts';
import type { DecisionLog } from './log.ts';
import type { AuthorizationRequest } from './schema.ts';

export type AuthzServices = {
  engine: Engine;
  /** Turns of the main thread. */
  scheduler: FairScheduler;
  facts: FactsSource;
  log: DecisionLog;
  clock: Clock;
  observe: Observe;
  /** The pending invitation that a requestToken stands for at an instant (ms); undefined when the token is not valid then. */
  invitationOf: (tenant: string, requestToken: string, now: number) => Promise<InvitationFact | undefined>;
};

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

/** A question with the facts that its policy reads. */
export type Prepared = {
  question: Question;
  policy: PolicyEntry | undefined;
  facts: Facts | Promise<Facts>;
  started: number;
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
  const question = questionOf(asked, request, now);
  const policy = request.action === undefined ? undefined : asked.snapshot.policies.get(request.action);
  const needed = policy && factsNeeded(policy.reads);
  const records = needed === undefined ? noFacts : gather(services, asked, question, needed);
  const comesUpon = invitation !== undefined || request.context?.requestToken !== undefined;
  const facts =
    policy && comesUpon && readsInvitation(policy.reads) ? upon(services, question, records, invitation) : records;
  return { question, policy, facts, started };
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
    return keep(services, asked, question, policy?.number, admit === undefined ? made : admit(made), started);
  };
  const decided = (gathered: Facts) => {
    const decision = decide(services.engine, policy, gathered, question);
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
  return keep(services, asked, question, undefined, { answer }, services.clock.monotonic());
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
    return { answer: keep(services, asked, question, undefined, gone, started).answer };
  }
  const facts = await upon(services, question, gather(services, asked, question, explainedBy(source.reads), true));
  if (facts.tooLarge !== undefined) {
    return { answer: keep(services, asked, question, source.number, tooLarge(facts.tooLarge), started).answer };
  }
  const input = inputFor({ all: true }, question, facts);
  const { decision, explain } = await services.explainer.explain(tenant, source, input, facts, now);
  return { answer: keep(services, asked, question, source.number, decision, started).answer, explain };
}

/**
 * What an explained decision is given: everything, but of relationships what the policy reads of them, so that one which
 * narrows them explains its decisions about things that have very many.
 */
function explainedBy(reads: Reads): FactsNeeded {
  const { subject = false, resource = false, uses } = factsNeeded(reads) ?? {};
  const others = { consents: true, subjectAttributes: true, resourceAttributes: true };
  return { ...others, subject, resource, ...(uses ? { uses } : {}) };
}

/** The facts, with the invitation that the request comes upon. */
function upon(
  services: AuthzServices,
  { tenant, request, now }: Question,
  records: Facts | Promise<Facts>,
  given?: InvitationFact,
): Facts | Promise<Facts> {
  const token = request.context?.requestToken;
  if (given === undefined && typeof token !== 'string') return records;
  const found = given ?? services.invitationOf(tenant, token as string, now);
  return Promise.all([records, found]).then(([facts, invitation]) => (invitation ? { ...facts, invitation } : facts));
}

/** A subject that does not say its type has the one that actors of the tenant have by default. */
export function gather(
  services: Pick<AuthzServices, 'facts'>,
  { snapshot }: Pick<Asked, 'snapshot'>,
  { tenant, request, now }: Question,
  needed: FactsNeeded,
  explain = false,
): Facts | Promise<Facts> {
  const { defaultActorType: type } = snapshot.spec.tokenMapping;
  const subject = named(request.subject, type);
  const resource = named(request.resource);
  const compared = { subject: named(request.subject), resource };
  const about = { tenant, types: snapshot.types, subject, resource, compared };
  return services.facts.gather({ ...about, users: { type, definitions: snapshot.definitions }, needed, now, explain });
}

function named(value: Record<string, unknown> | undefined, defaultType?: string): { id?: string; type?: string } {
  const found: { id?: string; type?: string } = {};
  if (typeof value?.id === 'string') found.id = value.id;
  if (typeof value?.type === 'string') found.type = value.type;
  else if (defaultType !== undefined) found.type = defaultType;
  return found;
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
      request: withoutToken(question.request),
      answer: decision.answer,
      policyNumber,
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
