/**
 * A policy's input, pure: what of the request and the facts a policy is given. Parts that the policy does not read are left
 * out, because writing JSON into Wasm memory is half the cost of an evaluation.
 */
import type { Needs } from './needs.ts';
import type { DataSubject, Facts, FactsQuery, InvitationFact } from './schema.ts';

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
  dataSubjects: readonly DataSubject[];
  invitation: InvitationFact;
};

/** The members of the input that a policy reads. */
export function inputFor({ input: wanted }: Needs, query: FactsQuery, facts: Facts): Partial<PolicyInput> {
  const { tenant, request, now } = query;
  const input: Partial<PolicyInput> = {};
  if (wanted.subject) input.subject = withStored(request.subject, facts.subject);
  if (wanted.action) input.action = request.action ?? '';
  if (wanted.resource) input.resource = withStored(request.resource, facts.resource);
  if (wanted.context) input.context = contextOf(query, facts);
  if (wanted.tenant) input.tenant = tenant;
  if (wanted.time) input.time = new Date(now).toISOString();
  if (wanted.graph) input.graph = facts.graph;
  if (wanted.consents) input.consents = facts.consents;
  if (facts.dataSubjects !== undefined && wanted.dataSubjects) input.dataSubjects = facts.dataSubjects;
  if (facts.invitation !== undefined && wanted.invitation) input.invitation = facts.invitation;
  return input;
}

/** A requestToken that became input.invitation leaves the context. */
function contextOf({ request: { context = {} } }: FactsQuery, { invitation }: Facts): Record<string, unknown> {
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
