/**
 * Owns a policy's input, pure: what of the question and the facts a policy is given. Parts that the policy does not
 * read are left out, because writing JSON into Wasm memory is half the cost of an evaluation.
 */
import type { Facts, InvitationFact } from '../facts/index.ts';
import type { Reads } from '../rego/schema.ts';
import type { AuthorizationRequest } from './schema.ts';

export type PolicyInput = {
  subject: Record<string, unknown>;
  action: string;
  resource: Record<string, unknown>;
  context: Record<string, unknown>;
  tenant: string;
  /** RFC 3339 in UTC with milliseconds: one instant for the whole request. */
  time: string;
  graph: Facts['graph'];
  consents: Facts['consents'];
  invitation: InvitationFact;
};

/** The members of the input that a policy reads. */
export function inputFor(
  reads: Reads,
  question: { tenant: string; request: AuthorizationRequest; now: number },
  facts: Facts,
): Partial<PolicyInput> {
  const { tenant, request, now } = question;
  const input: Partial<PolicyInput> = {};
  const wanted = wantedBy(reads);
  if (wanted.subject) input.subject = withStored(request.subject, facts.subject);
  if (wanted.action) input.action = request.action ?? '';
  if (wanted.resource) input.resource = withStored(request.resource, facts.resource);
  if (wanted.context) input.context = contextOf(request, facts);
  if (wanted.tenant) input.tenant = tenant;
  if (wanted.time) input.time = new Date(now).toISOString();
  if (wanted.graph) input.graph = facts.graph;
  if (wanted.consents) input.consents = facts.consents;
  if (facts.invitation !== undefined && wanted.invitation) input.invitation = facts.invitation;
  return input;
}

/** Whether a policy can tell that a request comes upon an invitation. */
export function readsInvitation(reads: Reads): boolean {
  return wantedBy(reads).invitation;
}

/** Whether a policy can tell that a request has a requestToken. */
export function readsRequestToken(reads: Reads): boolean {
  const { context, invitation } = wantedBy(reads);
  return context || invitation;
}

/** A requestToken that became input.invitation leaves the context. */
function contextOf({ context = {} }: AuthorizationRequest, { invitation }: Facts): Record<string, unknown> {
  if (invitation === undefined || !Object.hasOwn(context, 'requestToken')) return context;
  const { requestToken: _, ...rest } = context;
  return rest;
}

/** What is stored wins over what the request says. */
function withStored(
  said: Readonly<Record<string, unknown>> | undefined,
  stored: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> {
  return stored === undefined ? (said ?? {}) : { ...said, ...stored };
}

type Wanted = Readonly<Record<keyof PolicyInput, boolean>>;

const wants = new WeakMap<Reads, Wanted>();

/** The members that a policy reads; worked out once for each policy of a snapshot. */
function wantedBy(reads: Reads): Wanted {
  let wanted = wants.get(reads);
  if (wanted === undefined) {
    const has = (member: keyof PolicyInput) => reads.all || reads.paths.some(([top]) => top === member);
    wanted = {
      ...{ subject: has('subject'), action: has('action'), resource: has('resource'), context: has('context') },
      ...{ tenant: has('tenant'), time: has('time'), graph: has('graph'), consents: has('consents') },
      invitation: has('invitation'),
    };
    wants.set(reads, wanted);
  }
  return wanted;
}
