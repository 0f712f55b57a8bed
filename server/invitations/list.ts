/** Reading invitations: back ends see all; users see those that they made, and those of others that the read policies allow. */
import { nearest } from '../../crds/similar.ts';
import type { Caller } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import type { Entity } from '../relationships/index.ts';
import { loadTypesTouching } from '../types/index.ts';
import { doing, type InvitationServices, type RequestContext, requireAllowed } from './authorization.ts';
import { contactDigest, emailOf } from './contact.ts';
import { findById } from './found.ts';
import { invitationProblem } from './problems.ts';
import { knownEnd, policyOf } from './rules.ts';
import type { InvitationRow, Status } from './schema.ts';
import { type InvitationFilter, listInvitations } from './store.ts';

export type ListQuery = { status?: Status; toType?: string; toId?: string; received?: boolean };

/** `withheld`: the policies that do not let a user see all invitations to the entity. */
type Page = { rows: InvitationRow[]; withheld: string[]; next?: string };
type Window = { before?: string; limit: number };

/**
 * A page, newest first. A user sees those it made; of those to the entity that it names, also those that the read policies
 * allow; or with `received` those to its verified address, which is right enough.
 * @returns what may be seen of the page, and the id that the next page goes on before
 * @throws Problem invitation_address_unverified, invalid_request
 */
export async function pageOfInvitations(
  services: InvitationServices,
  context: RequestContext,
  query: ListQuery,
  page: Window,
): Promise<Page> {
  const { tenant, caller } = context;
  checkType(context, query);
  const filter = filterOf(services, tenant, caller, query);
  const target = caller.kind === 'user' && query.received !== true ? targetIn(query) : undefined;
  if (target !== undefined) return pageOfTarget(services, context, filter, target, page);
  const { rows, next } = await rowsOf(services, tenant, filter, page);
  return { rows, withheld: [], ...next };
}

/**
 * What a user may see of the invitations to one entity. Whoever may see none cannot tell whether there are any: `withheld` goes
 * by the policies, not by what there is, and one page looks at limits.invitationsLookedAtMax of them.
 */
async function pageOfTarget(
  services: InvitationServices,
  context: RequestContext,
  filter: InvitationFilter,
  target: Entity,
  { before, limit }: Window,
): Promise<Page> {
  const closed = await closedPolicies(services, context, target);
  const withheld = new Set(closed.withheld);
  const seen: InvitationRow[] = [];
  let after = before === undefined ? {} : { before };
  for (let lookedAt = 0; ; ) {
    const room = Math.min(limits.pageItemsMax, limits.invitationsLookedAtMax - lookedAt);
    const { rows, next } = await rowsOf(services, context.tenant, filter, { ...after, limit: room });
    for (const [i, row] of rows.entries()) {
      const refusal = isOpenTo(context.caller, row) ? undefined : await refusalOf(services, context, row);
      if (refusal === undefined) seen.push(row);
      else if (closed.all.has(refusal)) withheld.add(refusal);
      if (seen.length < limit) continue;
      const isLast = i === rows.length - 1 && next.next === undefined;
      return { rows: seen, withheld: [...withheld].sort(), ...(isLast ? {} : { next: row.id }) };
    }
    lookedAt += rows.length;
    if (next.next === undefined || lookedAt >= limits.invitationsLookedAtMax) {
      return { rows: seen, withheld: [...withheld].sort(), ...next };
    }
    after = { before: next.next };
  }
}

/** The policies that say who sees the invitations to an entity: all, and those that do not let the caller see each of them. */
async function closedPolicies(services: InvitationServices, context: RequestContext, target: Entity) {
  const { tenant, requestTenant } = context;
  const types = await services.database.read(tenant, (tx) => loadTypesTouching(tx, tenant, { type: target.type }));
  const shared = types.filter(({ spec }) => spec.invitation !== undefined);
  const all = new Set<string>();
  const withheld: string[] = [];
  for (const type of shared) {
    const direction = type.to_type === target.type ? 'acceptor_to_target' : 'target_to_acceptor';
    const terms = { ...type, direction, target_type: target.type, target_id: target.id } as const;
    const action = policyOf(type, 'read');
    all.add(action);
    const question = { action, resource: target, relationship: knownEnd(terms) };
    const isOpen =
      requestTenant.snapshot.policies.has(action) &&
      (await services.checkAccess(context, question)).answer.outcome === 'allow';
    if (!isOpen) withheld.push(action);
  }
  return { all, withheld };
}

async function rowsOf(services: InvitationServices, tenant: string, filter: InvitationFilter, page: Window) {
  const window = { ...page, limit: page.limit + 1, now: new Date(services.clock.now()).toISOString() };
  const found = await services.database.read(tenant, (tx) => listInvitations(tx, tenant, filter, window));
  const rows = found.slice(0, page.limit);
  const last = found.length > page.limit ? rows.at(-1) : undefined;
  return { rows, next: last === undefined ? {} : { next: last.id } };
}

function targetIn({ toType: type, toId: id }: ListQuery): Entity | undefined {
  return type === undefined || id === undefined ? undefined : { type, id };
}

/** @throws Problem invalid_request */
function checkType({ requestTenant }: RequestContext, { toType }: ListQuery): void {
  const { attributes } = requestTenant.snapshot.types;
  if (toType === undefined || attributes.has(toType)) return;
  const alike = nearest(toType, [...attributes.keys()]);
  const detail = `No type has this name.${alike === undefined ? '' : ` Did you mean ${alike}?`}`;
  throw problem('invalid_request', {
    detail: `/query/toType: ${detail}`,
    errors: [{ pointer: '/query/toType', detail }],
  });
}

/** One invitation. @throws Problem invitation_not_found; forbidden, which names the policy */
export async function viewInvitation(
  services: InvitationServices,
  context: RequestContext,
  id: string,
): Promise<InvitationRow> {
  const row = await findById(services, context.tenant, id);
  if (!isOpenTo(context.caller, row)) await requireAllowed(services, context, doing(services, context, 'read', row));
  return row;
}

/** Whether no policy is asked: of a back end, of a member, and of whoever made the invitation. */
function isOpenTo(caller: Caller, row: InvitationRow): boolean {
  if (caller.kind !== 'user') return true;
  return caller.actor.type === row.invitor_type && caller.actor.id === row.invitor_id;
}

/** The policy that does not allow the caller to see it. */
async function refusalOf(services: InvitationServices, context: RequestContext, row: InvitationRow) {
  const question = doing(services, context, 'read', row);
  const { answer } = await services.checkAccess(context, question);
  return answer.outcome === 'allow' ? undefined : question.action;
}

function filterOf(
  { encrypter }: InvitationServices,
  tenant: string,
  caller: Caller,
  { received, ...filter }: ListQuery,
): InvitationFilter {
  if (received) {
    return { ...filter, contactDigest: contactDigest(encrypter, tenant, verifiedAddress(caller)) };
  }
  return caller.kind === 'user' && targetIn(filter) === undefined ? { ...filter, invitor: caller.actor } : filter;
}

function verifiedAddress(caller: Caller): string {
  if (caller.kind !== 'user') {
    const detail = 'Only users can list received invitations; a back end has no address.';
    throw problem('invalid_request', { detail, errors: [{ pointer: '/query/received', detail }] });
  }
  const email = emailOf(caller);
  if (email === undefined) throw invitationProblem('invitation_address_unverified');
  return email;
}
