/** How AuthZEN's requests and answers are those of POST /authz/{tenant}, pure. */

import type { AuthorizationRequest } from '../authz/index.ts';
import type { Answer } from '../policies/index.ts';
import type { EvaluationRequest, EvaluationResponse, EvaluationsRequest } from './schema.ts';

type Named = { type: string; id?: string; properties?: Record<string, unknown> };

type Action = { name: string; properties?: Record<string, unknown> };

/** What is asked; what is searched for has no id. */
type Question = { subject: Named; action: Action; resource: Named; context?: Record<string, unknown> };

/** The policy of an action's name. */
export function policyNameOf(resourceType: string, name: string): string {
  return name.includes(':') ? name : `${resourceType}:${name}`;
}

/** The name of the action of a policy, when it is one of entities of the type. */
export function actionNameOf(resourceType: string, policy: string): string {
  const name = policy.slice(resourceType.length + 1);
  return name.includes(':') ? policy : name;
}

/** Properties become attributes beside type and id, which they cannot change; those of the action go into the context. */
export function requestOf({ subject, action, resource, context }: Question): AuthorizationRequest {
  const said = contextOf(context, action.properties);
  return {
    subject: attributesOf(subject),
    action: policyNameOf(resource.type, action.name),
    resource: attributesOf(resource),
    ...(said === undefined ? {} : { context: said }),
  };
}

function contextOf(
  context: Record<string, unknown> | undefined,
  actionProperties: Record<string, unknown> | undefined,
): Record<string, unknown> | undefined {
  return actionProperties === undefined ? context : { ...context, actionProperties };
}

/** Members that AuthZEN does not name are left behind: an attribute is a property. */
export function attributesOf({ type, id, properties }: Named): Record<string, unknown> {
  return { ...properties, type, ...(id === undefined ? {} : { id }) };
}

/** What is searched for, without its id, which is ignored; with nothing that AuthZEN does not name, as it is part of a page's token. */
export function searchedOf({ type, properties }: Named): Named {
  return properties === undefined ? { type } : { type, properties };
}

export function entityOf({ type, id, properties }: Named): Named {
  return { type, ...(id === undefined ? {} : { id }), ...(properties === undefined ? {} : { properties }) };
}

export function actionOf({ name, properties }: Action): Action {
  return properties === undefined ? { name } : { name, properties };
}

/** What is wrong with an evaluation; undefined: nothing. */
export type FaultOf = (evaluation: unknown) => string | undefined;
type Evaluation = { request: AuthorizationRequest } | { request?: undefined; fault: string };

/**
 * The requests of an evaluations request, each with what it leaves out from above, part by part (section 7.1.1: a subject of
 * its own has nothing from the subject above). Each is checked by itself.
 */
export function evaluationsOf(
  { evaluations = [], options: _, ...above }: EvaluationsRequest,
  faultOf: FaultOf,
): Evaluation[] {
  return evaluations.map((one) => {
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return { fault: 'Must be an object.' };
    const whole = { ...above, ...one };
    const fault = faultOf(whole);
    return fault === undefined ? { request: requestOf(whole as EvaluationRequest) } : { fault };
  });
}

/** The answer in the place of an evaluation that cannot be evaluated. */
export function faultyResponse(message: string): EvaluationResponse {
  return { decision: false, context: { error: { status: 400, message } } };
}

export function responseOf({ outcome, reason, obligations }: Answer): EvaluationResponse {
  const decision = outcome === 'allow';
  const context = {
    ...(reason === undefined ? {} : { reason }),
    ...(obligations === undefined || obligations.length === 0 ? {} : { obligations }),
    ...(typeof outcome === 'string' ? {} : { outcome }),
  };
  return Object.keys(context).length === 0 ? { decision } : { decision, context };
}

/** Whether an answer is the last, by `evaluations_semantic`. */
export const endings = {
  execute_all: () => false,
  deny_on_first_deny: ({ outcome }) => outcome !== 'allow',
  permit_on_first_permit: ({ outcome }) => outcome === 'allow',
} satisfies Record<string, (answer: Answer) => boolean>;
