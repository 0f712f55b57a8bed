/** The verbs on members' portal tokens besides making them. */
import { recordAudit } from '../audit/index.ts';
import type { Caller } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import { type RecordWritten, writeRecord } from '../core/db/records.ts';
import { memberProblem } from './problems.ts';
import { lockPortalToken, revokePortalToken } from './store.ts';

type Member = Extract<Caller, { kind: 'member' }>;

/** Whether the member sees and revokes everybody's tokens. */
export function seesAllTokens(member: Member): boolean {
  return member.role === 'security-admin';
}

/**
 * Revokes a portal token: one's own, or as security-admin anybody's. Repeated, it does nothing.
 * @throws Problem portal_token_not_found
 */
export async function revokeToken(
  services: { database: Database; clock: Clock },
  member: Member,
  jti: string,
  requestId: string,
): Promise<RecordWritten<void>> {
  const { tenant } = member;
  return writeRecord(services.database, { tenant }, async (tx) => {
    const row = await lockPortalToken(tx, tenant, jti);
    if (row === undefined || (row.member !== member.id && !seesAllTokens(member))) {
      throw memberProblem('portal_token_not_found');
    }
    if (row.revoked_at !== null) return;
    await revokePortalToken(tx, tenant, jti, new Date(services.clock.now()).toISOString());
    const detail = { member: row.email };
    const actor = `member:${member.email}`;
    await recordAudit(tx, tenant, { actor, action: 'revoke', kind: 'portal_token', name: jti, requestId, detail });
  });
}
