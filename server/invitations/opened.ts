/** An invitation as the page of its link shows it, and what people answer there. */
import type { Caller } from '../core/auth/schema.ts';
import { problem } from '../core/problems.ts';
import type { Entity } from '../relationships/index.ts';
import { acceptInvitation, declineInvitation, requirePending } from './accept.ts';
import type { InvitationServices, RequestContext } from './authorization.ts';
import { isContact } from './contact.ts';
import { nameOfInvitor, provedContact, readCode } from './mailed.ts';
import { invitorOf, targetOf, typeKeyIn } from './rules.ts';

export type OpenedInvitation = {
  invitor: string | undefined;
  /** From:rel:To of the relationship. */
  typeKey: string;
  to: { type: string; id: string };
  expiresAt: string;
  relationshipExpiresAt: string | undefined;
  redirectUri: string | undefined;
  isBound: boolean;
  /** The acceptor has accepted it before. */
  isAccepted: boolean;
  maskedContact: string;
  /** The invited address, where the code proves that its bearer has it. */
  provedContact: string | undefined;
  isContact(email: string | undefined): boolean;
};

/**
 * @param code of the link's fragment
 * @param acceptor the person who is logged in: what it has accepted is open to it still
 * @throws Problem as acceptInvitation
 */
export async function openInvitation(
  services: InvitationServices,
  tenant: string,
  code: string,
  acceptor?: Entity,
): Promise<OpenedInvitation> {
  const { requestToken, proof } = readCode(code);
  const { row, binding, isAccepted } = await requirePending(services, { tenant, requestToken }, acceptor);
  const { encrypter } = services;
  return {
    invitor: await nameOfInvitor(services, tenant, invitorOf(row)),
    ...{ typeKey: typeKeyIn(row), to: targetOf(row), expiresAt: row.expires_at },
    ...{ relationshipExpiresAt: row.relationship_expires_at ?? undefined, redirectUri: row.redirect_uri ?? undefined },
    ...{ isBound: binding === 'contact', isAccepted, maskedContact: row.contact_mask },
    provedContact: provedContact(encrypter, tenant, row, proof),
    isContact: (email) => isContact(encrypter, tenant, row, email),
  };
}

/** Accepts it as the person who is logged in. @throws Problem as acceptInvitation */
export function acceptOpened(
  services: InvitationServices,
  context: RequestContext & { caller: Extract<Caller, { kind: 'user' }> },
  code: string,
) {
  const { requestToken } = readCode(code);
  return acceptInvitation(services, context, { acceptor: context.caller.actor, requestToken });
}

/**
 * Declines it. Nobody needs to log in for that, unless it is bound to an address and the code does not prove it.
 * @param page by which somebody declines who is not logged in
 * @throws Problem forbidden, and as declineInvitation
 */
export async function declineOpened(
  services: InvitationServices,
  context: Omit<RequestContext, 'caller'> & { caller: Caller | undefined; page: string },
  code: string,
) {
  const { tenant, caller, page, ...others } = context;
  const opened = await openInvitation(services, tenant, code);
  const isTheirs = !opened.isBound || (caller?.kind === 'user' && opened.isContact(caller.email));
  if (caller !== undefined && isTheirs)
    return declineInvitation(services, { ...others, tenant, caller }, readCode(code));
  if (opened.isBound && opened.provedContact === undefined)
    throw problem('forbidden', { detail: 'The invitation is bound to the address that it was sent to.' });
  const own: Caller = { kind: 'backend', tenant, clientId: page, scopes: new Set(), issuer: '' };
  return declineInvitation(services, { ...others, tenant, caller: own }, readCode(code));
}
