/** Owns reading invitations: what a back end lists, and which of them a user may see. */
import type { Caller } from '../core/auth/schema.ts';
import { problem } from '../core/problems.ts';
import { contactPlace } from './actions.ts';
import { type Asking, doing, type InvitationServices } from './governing.ts';
import { invitationProblem } from './problems.ts';
import { normalContact } from './rules.ts';
import type { InvitationRow, Status } from './schema.ts';
import { type InvitationFilter, listInvitations } from './store.ts';

export type ListQuery = { status?: Status; toType?: string; toId?: string; received?: boolean };

/**
 * A page, newest first. A user sees those it made, or those to the entity that it names, as far as the read policies
 * allow; or with `received` those to its verified address, which is right enough.
 * @returns what may be seen of the page, and the id that the next page goes on before
 * @throws Problem invitation_address_unverified, invalid_request
 */
export async function pageOfInvitations(
  services: InvitationServices,
  asking: Asking,
  query: ListQuery,
  page: { before?: string; limit: number },
): Promise<{ rows: InvitationRow[]; next?: string }> {
  const { tenant, caller } = asking;
  const now = services.clock.now();
  const filter = filterOf(services, tenant, caller, query);
  const window = { ...page, limit: page.limit + 1, now: new Date(now).toISOString() };
  const found = await services.database.read(tenant, (tx) => listInvitations(tx, tenant, filter, window));
  const rows = found.slice(0, page.limit);
  const last = found.length > page.limit ? rows.at(-1) : undefined;
  const next = last === undefined ? {} : { next: last.id };
  if (caller.kind === 'backend' || query.received) return { rows, ...next };
  const seen: InvitationRow[] = [];
  for (const row of rows) {
    const { answer } = await services.ask(asking, doing('read', row, now));
    if (answer.outcome === 'allow') seen.push(row);
  }
  return { rows: seen, ...next };
}

function filterOf(
  { encrypter }: InvitationServices,
  tenant: string,
  caller: Caller,
  { received, ...filter }: ListQuery,
): InvitationFilter {
  if (received) {
    const address = verifiedAddress(caller);
    return { ...filter, contactDigest: encrypter.digest(Buffer.from(normalContact(address)), contactPlace(tenant)) };
  }
  const oneEntity = filter.toType !== undefined && filter.toId !== undefined;
  return caller.kind === 'user' && !oneEntity ? { ...filter, invitor: caller.actor } : filter;
}

/** OpenID Connect Core section 5.1: email, which the issuer has verified when email_verified is true. */
function verifiedAddress(caller: Caller): string {
  if (caller.kind !== 'user') {
    const detail = 'Invitations are received by users: a back end has no address.';
    throw problem('invalid_request', { detail, errors: [{ pointer: '/query/received', detail }] });
  }
  const { email, email_verified: verified } = caller.claims;
  if (typeof email === 'string' && email !== '' && verified === true) return email;
  throw invitationProblem('invitation_address_unverified');
}
