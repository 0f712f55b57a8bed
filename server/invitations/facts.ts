/** input.invitation: the pending invitation whose requestToken came with a request for a decision. */
import type { Database } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { Problem } from '../core/problems.ts';
import type { InvitationFact } from '../facts/index.ts';
import { isContact } from './contact.ts';
import { findInvitation } from './found.ts';
import { factOf } from './rules.ts';

/**
 * The invitation of a valid token. One that is malformed, forged, replaced, expired or used up is none, so that a policy
 * that forgets to look at the status allows nothing by it.
 * @param now the instant of the request, ms
 * @param email the caller's verified address
 */
export async function pendingInvitationOf(
  services: { database: Database; baseUrl: string; encrypter: Encrypter },
  tenant: string,
  requestToken: string,
  now: number,
  email: string | undefined,
): Promise<InvitationFact | undefined> {
  try {
    return await services.database.tenantSnapshot(tenant, async (tx) => {
      const { row, tokenId } = await findInvitation(services, tx, tenant, requestToken, now);
      const fact = factOf(row, now, isContact(services.encrypter, tenant, row, email));
      return tokenId === row.token_id && fact.status === 'pending' ? fact : undefined;
    });
  } catch (error) {
    if (error instanceof Problem && (error.status === 400 || error.status === 404)) return undefined;
    throw error;
  }
}
