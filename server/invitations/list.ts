/** Reading invitations: back ends see all; users see those that they made, and those of others that the read policies allow. */
import type { Caller } from '../core/auth/schema.ts';
import { problem } from '../core/problems.ts';
import { doing, type InvitationServices, type RequestContext, requireAllowed } from './authorization.ts';
import { contactDigest, emailOf } from './contact.ts';
import { findById } from './found.ts';
import { invitationProblem } from './problems.ts';
import type { InvitationRow, Status } from './schema.ts';
import { type InvitationFilter, listInvitations } from './store.ts';

export type ListQuery = { status?: Status; toType?: string; toId?: string; received?: boolean };

/** `withheld`: the policies that did not allow a user to see some entries of the page. */
type Page = { rows: InvitationRow[]; withheld: string[]; next?: string };

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
  page: { before?: string; limit: number },
): Promise<Page> {
  const { tenant, caller } = context;
  const now = services.clock.now();
  const filter = filterOf(services, tenant, caller, query);
  const window = { ...page, limit: page.limit + 1, now: new Date(now).toISOString() };
  const found = await services.database.read(tenant, (tx) => listInvitations(tx, tenant, filter, window));
  const rows = found.slice(0, page.limit);
  const last = found.length > page.limit ? rows.at(-1) : undefined;
  const next = last === undefined ? {} : { next: last.id };
  if (query.received) return { rows, withheld: [], ...next };
  const seen: InvitationRow[] = [];
  const withheld = new Set<string>();
  for (const row of rows) {
    const refusal = isOpenTo(caller, row) ? undefined : await refusalOf(services, context, row);
    if (refusal === undefined) seen.push(row);
    else withheld.add(refusal);
  }
  return { rows: seen, withheld: [...withheld].sort(), ...next };
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

/** Whether no policy is asked: of a back end, and of whoever made the invitation. */
function isOpenTo(caller: Caller, row: InvitationRow): boolean {
  if (caller.kind !== 'user') return caller.kind === 'backend';
  return caller.actor.type === row.invitor_type && caller.actor.id === row.invitor_id;
}

/** The policy that does not allow the caller to see it. */
async function refusalOf(services: InvitationServices, context: RequestContext, row: InvitationRow) {
  const question = doing(services, context, 'read', row);
  const { answer } = await services.ask(context, question);
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
  const oneEntity = filter.toType !== undefined && filter.toId !== undefined;
  return caller.kind === 'user' && !oneEntity ? { ...filter, invitor: caller.actor } : filter;
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
