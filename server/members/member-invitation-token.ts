/**
 * The secret in an invitation's link, pure: the tenant's code, a dot, and 256 random bits. The code lets the database
 * be asked as that tenant, so that a request does not search all tenants' rows.
 */
import { createHash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;
const TOKEN = /^([a-z][a-z0-9-]{1,39})\.[A-Za-z0-9_-]{43}$/;

export function createMemberInvitationToken(tenant: string): string {
  return `${tenant}.${randomBytes(SECRET_BYTES).toString('base64url')}`;
}

/** Of which tenant a token says it is; undefined: it is no token. */
export function tenantOfMemberInvitation(token: string): string | undefined {
  return TOKEN.exec(token)?.[1];
}

/** What is stored and looked up: comparing hashes in an index reveals nothing about a secret of this length. */
export function hashOfMemberInvitation(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** The fragment is not sent to servers, so that no log of theirs holds it. */
export function urlOfMemberInvitation(baseUrl: string, token: string): string {
  return `${baseUrl}/portal/invitations#${token}`;
}
