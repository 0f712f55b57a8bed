/** The installation's own tenant (core/portal-tenant.ts) and the portal as an application of it, made at the first start. */
import { type ClientServices, putClient } from '../clients/index.ts';
import { apiOwner, type Writer } from '../core/ownership.ts';
import { portalTenant } from '../core/portal-tenant.ts';
import { putTenant, type TenantServices, type TenantSpec } from '../tenants/index.ts';
import type { RelyingParty } from './log-in.ts';

export const portalClient = 'accord-portal';
/** Below {base}. */
export const callbackPath = '/portal/log-in/callback';

/** The portal, as an application of the members' issuer. */
export const portalParty: RelyingParty = { tenant: portalTenant, clientId: portalClient, callbackPath };

const writer: Writer = { owner: apiOwner, actor: 'portal' };

const spec: TenantSpec = {
  displayName: 'Accord',
  // No API takes tokens of this tenant.
  audiences: ['urn:accord:portal'],
  supportDesk: { enabled: false },
  tokenMapping: { actorIdClaimPath: 'sub', defaultActorType: 'user' },
  tokens: { signingAlgorithm: 'ES256', accessTokenTTL: 'PT10M' },
  decisionLog: { mode: 'off' },
  configAuthority: 'Api',
  deletionPolicy: 'Retain',
  managementPolicy: 'Enforce',
  adoptionPolicy: 'Refuse',
};

type PortalTenantServices = { tenants: TenantServices; clients: ClientServices; baseUrl: string };

/** Makes both, or changes them to what this version wants; otherwise it does nothing. */
export async function ensurePortalTenant({ tenants, clients, baseUrl }: PortalTenantServices): Promise<void> {
  await putTenant(tenants, writer, portalTenant, spec);
  await putClient(clients, writer, portalTenant, {
    clientId: portalClient,
    displayName: 'Accord',
    enabled: true,
    applicationType: 'web',
    grantTypes: ['authorization_code'],
    redirectUris: [`${baseUrl}${callbackPath}`],
    postLogoutRedirectUris: [`${baseUrl}/portal`],
    scopes: ['openid', 'email'],
    tokenEndpointAuthMethod: 'none',
    dpopBoundAccessTokens: false,
    requirePushedAuthorizationRequests: false,
    firstParty: true,
  });
}
