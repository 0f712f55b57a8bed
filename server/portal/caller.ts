/** Requests of the portal's pages, whose caller is the person of the cookie session. */
import type { IncomingHttpHeaders } from 'node:http';
import { missingToken } from '../core/auth/problems.ts';
import type { Caller } from '../core/auth/schema.ts';
import { portalHeader } from '../http/access.ts';
import { readMemberOfPerson } from '../members/index.ts';
import { sessionOf } from './requests.ts';
import type { Session, SessionServices } from './sessions.ts';

export type CallerServices = SessionServices & { baseUrl: string };

/**
 * The session of a request that only a page of ours can have sent.
 * @throws Problem unauthenticated
 */
export async function requirePortalSession(services: CallerServices, headers: IncomingHttpHeaders): Promise<Session> {
  if (!isFromOwnPage(headers, portalHeader, services.baseUrl))
    throw missingToken('The session of the portal counts for requests of its own pages only.');
  const session = await sessionOf(services, { headers });
  if (session === undefined) throw missingToken('Nobody is logged in at the portal, or the session has ended.');
  return session;
}

/**
 * The member that the person is in the tenant now, with the role of now.
 * @throws Problem unauthenticated
 */
export async function authenticatePortal(
  services: CallerServices,
  headers: IncomingHttpHeaders,
  tenant: string,
): Promise<Caller> {
  const { account, authenticatedAt } = await requirePortalSession(services, headers);
  const { database } = services.accounts;
  const member = await database.read(tenant, (tx) => readMemberOfPerson(tx, tenant, account.id));
  if (member === undefined) throw missingToken('Who is logged in at the portal is not a member of this tenant.');
  return { kind: 'member', tenant, id: member.id, email: member.email, role: member.role, jti: '', authenticatedAt };
}

/**
 * Origin counts for browsers that do not say where a request comes from (Sec-Fetch-Site).
 * @param header that no form and no page of another site can send
 */
export function isFromOwnPage(headers: IncomingHttpHeaders, header: string, baseUrl: string): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  if (headers[header] !== '1') return false;
  if (site !== undefined) return site === 'same-origin';
  return origin === undefined || origin === new URL(baseUrl).origin;
}
