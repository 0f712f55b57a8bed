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
  const reads1 = reads.all ? undefined : topLevel(reads);
  const wants = (member: keyof PolicyInput) => reads1 === undefined || reads1.has(member);
  if (wants('subject')) input.subject = withStored(request.subject, facts.subject);
  if (wants('action')) input.action = request.action ?? '';
  if (wants('resource')) input.resource = withStored(request.resource, facts.resource);
  if (wants('context')) input.context = contextOf(request, facts);
  if (wants('tenant')) input.tenant = tenant;
  if (wants('time')) input.time = new Date(now).toISOString();
  if (wants('graph')) input.graph = facts.graph;
  if (wants('consents')) input.consents = facts.consents;
  if (facts.invitation !== undefined && wants('invitation')) input.invitation = facts.invitation;
  return input;
}

/** Whether a policy can tell that a request comes upon an invitation. */
export function readsInvitation(reads: Reads): boolean {
  return reads.all || topLevel(reads).has('invitation');
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

const tops = new WeakMap<object, ReadonlySet<string>>();

function topLevel(reads: Extract<Reads, { all: false }>): ReadonlySet<string> {
  let top = tops.get(reads);
  if (top === undefined) {
    top = new Set(reads.paths.map((path) => path[0] as string));
    tops.set(reads, top);
  }
  return top;
}
