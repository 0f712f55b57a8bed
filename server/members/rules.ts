/** Rules of members, pure. */
import type { Role } from '../core/auth/schema.ts';
import type { MemberInvitationRow } from './schema.ts';

/** Whom `accord token --role` speaks as: an address that no mail reaches. */
export const localMemberEmail = (role: Role): string => `${role}@localhost`;

export function memberInvitationStatus(row: MemberInvitationRow, now: number) {
  if (row.used_at !== null) return 'used' as const;
  // One that had expired when the next was made was closed at the instant of its expiry.
  if (Date.parse(row.expires_at) <= now || row.withdrawn_at === row.expires_at) return 'expired' as const;
  return row.withdrawn_at === null ? ('pending' as const) : ('withdrawn' as const);
}
