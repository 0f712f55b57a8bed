/**
 * The pages of a tenant's persons (the persons room) as an application of its issuer. Every tenant has this client: it is written
 * nowhere, and no client can be registered with its id.
 */
import type { Client } from '../clients/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';

export const ownPagesClient = 'accord-account';

/** Below {base}. */
export const ownPagesCallback = (tenant: string): string => `/${tenant}/account/log-in/callback`;
export const ownPagesHome = (tenant: string): string => `/${tenant}/account`;

/** The names of their cookies, whose path is the tenant: `accord_own_session`, for example. */
export function ownPagesCookie(baseUrl: string, name: 'session' | 'log_in' | 'invitation' | 'under_way'): string {
  return `${baseUrl.startsWith('https:') ? '__Secure-' : ''}accord_own_${name}`;
}

const known = new WeakMap<TenantSnapshot, TenantSnapshot>();

/** The tenant as its authorization server sees it. */
export function withOwnPages(snapshot: TenantSnapshot, baseUrl: string): TenantSnapshot {
  const before = known.get(snapshot);
  if (before !== undefined) return before;
  const { tenant, spec } = snapshot;
  const client: Client = {
    clientId: ownPagesClient,
    displayName: spec.displayName,
    enabled: true,
    applicationType: 'web',
    grantTypes: ['authorization_code'],
    redirectUris: [baseUrl + ownPagesCallback(tenant)],
    postLogoutRedirectUris: [baseUrl + ownPagesHome(tenant)],
    scopes: ['openid'],
    audiences: [],
    tokenEndpointAuthMethod: 'none',
    dpopBoundAccessTokens: false,
    requirePushedAuthorizationRequests: false,
    firstParty: true,
    secrets: [],
    createdAtMs: 0,
    revision: 0,
  };
  const made = { ...snapshot, clients: new Map([...snapshot.clients, [ownPagesClient, client]]) };
  known.set(snapshot, made);
  return made;
}
