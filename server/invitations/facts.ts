/** input.invitation: the pending invitation whose requestToken came with a request for a decision. */
import type { Database } from '../core/db/database.ts';
import { Problem } from '../core/problems.ts';
import type { InvitationFact } from '../facts/index.ts';
import { findInvitation } from './found.ts';
import { factOf } from './rules.ts';

/**
 * The invitation of a valid token. One that is malformed, forged, replaced, expired or used up is none, so that a policy
 * that forgets to look at the status allows nothing by it.
 * @param now the instant of the request, ms
 */
export async function pendingInvitationOf(
  services: { database: Database; baseUrl: string },
  tenant: string,
  requestToken: string,
  now: number,
): Promise<InvitationFact | undefined> {
  try {
    return await services.database.tenantSnapshot(tenant, async (tx) => {
      const { row, tokenId } = await findInvitation(services, tx, tenant, requestToken, now);
      const fact = factOf(row, now);
      return tokenId === row.token_id && fact.status === 'pending' ? fact : undefined;
    });
  } catch (error) {
    if (error instanceof Problem && (error.status === 400 || error.status === 404)) return undefined;
    throw error;
  }
}
