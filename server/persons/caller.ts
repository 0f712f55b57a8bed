/** Who is logged in at the account pages as the APIs know it, and requests of the sharing page, whose caller that is. */
import type { IncomingHttpHeaders } from 'node:http';
import { missingToken } from '../core/auth/problems.ts';
import type { Caller } from '../core/auth/schema.ts';
import { accountHeader } from '../http/access.ts';
import type { RequestTenant } from '../http/fastify.ts';
import { ownIssuer } from '../keys/index.ts';
import { ownPagesClient, ownPagesCookie } from '../oidc/index.ts';
import { cookieOf } from '../pages/index.ts';
import { findSession, isFromOwnPage, type Session } from '../portal/index.ts';
import type { PersonServices } from './requests.ts';

type User = Extract<Caller, { kind: 'user' }>;

/** What a token of the tenant's own issuer would make of the person. */
export function callerOf(
  baseUrl: string,
  { code, snapshot }: RequestTenant,
  { account }: Pick<Session, 'account'>,
): User {
  const { id, email, emailVerified } = account;
  const { defaultActorType: type } = snapshot.spec.tokenMapping;
  const issuer = ownIssuer(baseUrl, code);
  const address = emailVerified ? { email, email_verified: true } : {};
  const claims = { iss: issuer, sub: id, client_id: ownPagesClient, ...address };
  return {
    ...{ kind: 'user', tenant: code, actor: { type, id }, issuer, claims },
    ...(emailVerified ? { email } : {}),
  };
}

/** Whether the tenant wants the page. */
export const hasSharing = ({ snapshot }: RequestTenant): boolean => snapshot.spec.login?.sharingPage === true;

/**
 * The session of a request that only the sharing page can have sent.
 * @throws Problem unauthenticated
 */
export async function requireAccountSession(
  services: PersonServices,
  headers: IncomingHttpHeaders,
  tenant: RequestTenant,
): Promise<Session> {
  const { baseUrl } = services;
  if (!hasSharing(tenant)) throw missingToken('The tenant has no sharing page.');
  if (!isFromOwnPage(headers, accountHeader, baseUrl))
    throw missingToken('The session of the account counts for requests of its own pages only.');
  const value = cookieOf(headers.cookie, ownPagesCookie(baseUrl, 'session'));
  const session = await findSession(services, tenant.code, value);
  if (session === undefined) throw missingToken('Nobody is logged in at the account, or the session has ended.');
  return session;
}

/**
 * The user whom the session speaks for, with the rights that a token of the tenant's own issuer gives.
 * @throws Problem unauthenticated
 */
export async function authenticateAccount(
  services: PersonServices,
  headers: IncomingHttpHeaders,
  tenant: RequestTenant,
): Promise<Caller> {
  return callerOf(services.baseUrl, tenant, await requireAccountSession(services, headers, tenant));
}
