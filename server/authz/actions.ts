/** The verb of the authorization room: authorize. */

import { subjectFor } from '../core/auth/admit.ts';
import type { Caller } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Observe } from '../core/observe.ts';
import { type FactsSource, factsNeeded, noFacts } from '../facts/index.ts';
import type { Engine } from '../policies/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { type Decision, decide, type Question } from './decide.ts';
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

async function gatherThenDecide(
  services: AuthzServices,
  asked: Asked,
  question: Question,
  needed: ReturnType<typeof factsNeeded>,
): Promise<Decision> {
  const { tenant, request, now } = question;
  const policy = asked.snapshot.policies.get(request.action as string);
  const facts = await services.facts.gather({
    tenant,
    subject: thing(request.subject),
    resource: thing(request.resource),
    needed,
    now,
  });
  return decide(services.engine, policy, facts, question);
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
