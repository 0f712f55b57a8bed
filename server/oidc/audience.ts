/**
 * Audiences and scopes of access tokens, pure. A request names an audience as Auth0 does (`audience`) or as RFC 8707
 * does (`resource`), which must be an absolute URI: an audience that is none travels as a URN.
 */
import { identityScopes, scopes } from '../../crds/scopes.ts';
import type { Client } from '../clients/index.ts';
import type { TenantSpec } from '../tenants/index.ts';

const URN = 'urn:accord:aud:';

/**
 * What a person allows a client that is not the tenant's own, at an audience: a token for it acts for the person, whatever its scopes
 * are. It is kept among the scopes of the audience, and is in no token.
 */
export const actingScope = 'urn:accord:act';

/** The resource indicator of an audience. */
export function resourceOf(audience: string): string {
  return URL.canParse(audience) && !audience.includes('#') ? audience : `${URN}${encodeURIComponent(audience)}`;
}

/** The audiences that the client may ask for; the first is what it gets when it asks for none. */
export function audiencesOf(
  client: Pick<Client, 'audiences'>,
  tenant: Pick<TenantSpec, 'audiences'>,
): readonly string[] {
  const { audiences } = client;
  return audiences === undefined ? tenant.audiences : audiences.filter((one) => tenant.audiences.includes(one));
}

/** The audience that a resource indicator names, if the client may ask for it. */
export function audienceOf(
  resource: string,
  client: Pick<Client, 'audiences'>,
  tenant: Pick<TenantSpec, 'audiences'>,
): string | undefined {
  return audiencesOf(client, tenant).find((audience) => audience === resource || resourceOf(audience) === resource);
}

const ofBackEnds = new Set<string>(scopes);
const ofUsers = new Set<string>(identityScopes);

/** Scopes of the Management APIs that the client was granted: they count in tokens that it gets for itself. */
export function backEndScopes({ scopes: granted = [] }: Pick<Client, 'scopes'>): string[] {
  return granted.filter((scope) => ofBackEnds.has(scope));
}

/** Scopes that a user's token for an audience may have. */
export function userScopes({ scopes: granted = [] }: Pick<Client, 'scopes'>): string[] {
  return granted.filter((scope) => ofUsers.has(scope) && scope !== 'openid' && scope !== 'offline_access');
}
