import { describe, expect, test } from 'vitest';
import { memberInvitationStatus } from '../../server/members/rules.ts';
import type { MemberInvitationRow } from '../../server/members/schema.ts';

const expires_at = '2030-01-08T00:00:00Z';
const expiry = Date.parse(expires_at);
const row = (more: Partial<MemberInvitationRow> = {}) =>
  ({ expires_at, used_at: null, withdrawn_at: null, ...more }) as MemberInvitationRow;

describe('a member invitation is', () => {
  test.each([
    ['pending until it expires', row(), expiry - 1, 'pending'],
    ['expired at its expiry', row(), expiry, 'expired'],
    ['used, also after its expiry', row({ used_at: '2030-01-02T00:00:00Z' }), expiry + 1, 'used'],
    ['withdrawn before its expiry', row({ withdrawn_at: '2030-01-02T00:00:00Z' }), expiry - 1, 'withdrawn'],
    ['expired when the next one closed it at its expiry', row({ withdrawn_at: expires_at }), expiry - 1, 'expired'],
  ])('%s', (_name, invitation, now, status) => {
    expect(memberInvitationStatus(invitation, now)).toBe(status);
  });
});
