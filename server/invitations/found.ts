/** Finding the invitation of a requestToken: the token is signed by a key of the tenant and is the newest one. */

import type { Caller } from '../core/auth/schema.ts';
import type { Transaction } from '../core/db/database.ts';
import { problem } from '../core/problems.ts';
import { readInvitationKeys } from '../keys/index.ts';
import { lockForShare, readTenant } from '../tenants/index.ts';
import type { InvitationServices } from './authorization.ts';
import { emailOf, isContact } from './contact.ts';
import { invitationProblem } from './problems.ts';
import type { InvitationRow } from './schema.ts';
import { readInvitation } from './store.ts';
import { partiesOf, readToken, verifyToken } from './token.ts';

/** `tokenId`: absent where no token named it. */
type Found = { row: InvitationRow; tokenId?: string };

/**
 * The invitation of a token that the tenant signed, in whatever state it is; `tokenId` may be a void one's.
 * @param now ms: keys that have retired by then verify nothing
 * @throws Problem invitation_token_invalid, invitation_not_found
 */
export async function findInvitation(
  services: Pick<InvitationServices, 'baseUrl'>,
  tx: Transaction,
  tenant: string,
  requestToken: string,
  now: number,
): Promise<Found> {
  const said = readToken(requestToken, partiesOf(services.baseUrl, tenant));
  const [key] = await readInvitationKeys(tx, tenant, new Date(now).toISOString(), said.kid);
  await verifyToken(requestToken, key?.public_jwk);
  const row = await readInvitation(tx, tenant, said.id);
  if (row === undefined) throw invitationProblem('invitation_not_found');
  return { row, tokenId: said.tokenId };
}

/**
 * The invitation of an id, for the user who has the invited address: of others it is not told that there is one.
 * @throws Problem forbidden, invitation_address_unverified, invitation_not_found
 */
export async function findReceived(
  { encrypter }: Pick<InvitationServices, 'encrypter'>,
  tx: Transaction,
  caller: Caller,
  id: string,
): Promise<Found> {
  if (caller.kind !== 'user')
    throw problem('forbidden', { detail: 'Only users receive invitations. A back end needs the requestToken.' });
  const email = emailOf(caller);
  if (email === undefined) throw invitationProblem('invitation_address_unverified');
  const row = await readInvitation(tx, caller.tenant, id);
  if (row === undefined || !isContact(encrypter, caller.tenant, row, email))
    throw invitationProblem('invitation_not_found');
  return { row };
}

/** The invitation of an id, not locked. @throws Problem invitation_not_found */
export async function findById(
  { database }: Pick<InvitationServices, 'database'>,
  tenant: string,
  id: string,
): Promise<InvitationRow> {
  const row = await database.tenantSnapshot(tenant, (tx) => readInvitation(tx, tenant, id));
  if (row === undefined) throw invitationProblem('invitation_not_found');
  return row;
}

/** The invitation, locked and as it is now. @throws Problem invitation_not_found */
export async function lockInvitation(tx: Transaction, tenant: string, id: string): Promise<InvitationRow> {
  const row = await readInvitation(tx, tenant, id, true);
  if (row === undefined) throw invitationProblem('invitation_not_found');
  return row;
}

/** A server may not know yet that the tenant was disabled; its invitations do nothing from then on. */
export async function checkActive(tx: Transaction, tenant: string): Promise<void> {
  if ((await readTenant(tx, tenant))?.state !== 'active') throw problem('tenant_not_found');
}

/** The same for a transaction that writes; erasing the tenant waits for it. */
export async function lockActiveTenant(tx: Transaction, tenant: string): Promise<void> {
  if ((await lockForShare(tx, tenant))?.state !== 'active') throw problem('tenant_not_found');
}
