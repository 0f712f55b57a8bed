/** Owns how AuthZEN's requests and answers are those of POST /authz/{tenant}, pure. */

import type { AuthorizationRequest } from '../authz/index.ts';
import { type ProblemPlace, problem } from '../core/problems.ts';
import type { Answer } from '../policies/index.ts';
import type { EvaluationRequest, EvaluationResponse, EvaluationsRequest } from './schema.ts';

type Named = { type: string; id?: string; properties?: Record<string, unknown> };

/** What is asked; what is searched for has no id. */
type Question = Pick<EvaluationRequest, 'action' | 'context'> & { subject: Named; resource: Named };

/** The policy that an action's name stands for. */
function policyNameOf(resourceType: string, name: string): string {
  return name.includes(':') ? name : `${resourceType}:${name}`;
}

/** The name of an action that stands for the policy, when it is one of things of the type. */
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

export function attributesOf({ properties, ...named }: Named): Record<string, unknown> {
  return { ...properties, ...named };
}

/**
 * The requests of an evaluations request, each with what it leaves out from above; undefined when it lists none, and so is
 * one evaluation itself.
 * @throws Problem invalid_request naming what is left out altogether
 */
export function evaluationsOf({ evaluations = [], options: _, ...above }: EvaluationsRequest): {
  single: boolean;
  requests: AuthorizationRequest[];
} {
  const errors: ProblemPlace[] = [];
  const single = evaluations.length === 0;
  const wholes = (single ? [{}] : evaluations).map((one, index) => {
    const whole = { ...above, ...one };
    for (const part of ['subject', 'action', 'resource'] as const) {
      if (whole[part] !== undefined) continue;
      const pointer = single ? `/${part}` : `/evaluations/${index}/${part}`;
      if (errors.length < 20) errors.push({ pointer, detail: 'This field is required, here or above.' });
    }
    return whole as EvaluationRequest;
  });
  if (errors.length > 0) throw problem('invalid_request', { errors });
  return { single, requests: wholes.map(requestOf) };
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

export const endings: Record<string, (answer: Answer) => boolean> = {
  execute_all: () => false,
  deny_on_first_deny: ({ outcome }) => outcome !== 'allow',
  permit_on_first_permit: ({ outcome }) => outcome === 'allow',
};
