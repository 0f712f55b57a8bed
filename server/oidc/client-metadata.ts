/** A client as oidc-provider wants to see it. */
import { randomBytes } from 'node:crypto';
import type { AllClientMetadata } from 'oidc-provider';
import { identityScopes } from '../../crds/scopes.ts';
import type { Client } from '../clients/index.ts';

/** The library wants a secret of a client that has one. It is nobody's: secrets are compared by their digests. */
const nobodys = randomBytes(32).toString('base64url');

export function metadataOf(client: Client): AllClientMetadata {
  const { clientId, grantTypes, tokenEndpointAuthMethod, jwks, jwksUri, backchannelLogoutUri } = client;
  return {
    client_id: clientId,
    client_name: client.displayName ?? clientId,
    application_type: client.applicationType === 'native' ? 'native' : 'web',
    grant_types: [...grantTypes],
    response_types: grantTypes.includes('authorization_code') ? ['code'] : [],
    redirect_uris: [...(client.redirectUris ?? [])],
    post_logout_redirect_uris: [...(client.postLogoutRedirectUris ?? [])],
    token_endpoint_auth_method: tokenEndpointAuthMethod,
    scope: identityScopesOf(client).join(' '),
    ...(tokenEndpointAuthMethod.startsWith('client_secret_') ? { client_secret: nobodys } : {}),
    ...(jwks === undefined ? {} : { jwks: jwks as NonNullable<AllClientMetadata['jwks']> }),
    ...(jwksUri === undefined ? {} : { jwks_uri: jwksUri }),
    // Our own pages ask when the person proved who it is: a session that goes on silently is no proof of now.
    ...(client.firstParty ? { require_auth_time: true } : {}),
    ...(client.dpopBoundAccessTokens ? { dpop_bound_access_tokens: true } : {}),
    ...(client.requirePushedAuthorizationRequests ? { require_pushed_authorization_requests: true } : {}),
    ...(backchannelLogoutUri === undefined
      ? {}
      : { backchannel_logout_uri: backchannelLogoutUri, backchannel_logout_session_required: true }),
  };
}

/** Whoever logs users in needs openid, whatever else it was granted. */
function identityScopesOf({ scopes = [] }: Client): string[] {
  return identityScopes.filter((scope) => scope === 'openid' || scopes.includes(scope));
}
