/** The scopes that a back end's token may have: what each allows is in docs/tokens.md. */
export const scopes = [
  'pg:tenant:admin',
  'authz:evaluate',
  'consents:read',
  'consents:write',
  'relationships:read',
  'relationships:write',
  'mail:send',
  'events:read',
] as const;

/** What a client may ask a user's tokens for: OpenID Connect Core sections 5.4 and 11, and the claims that Accord adds. */
export const identityScopes = [
  'openid',
  'profile',
  'email',
  'address',
  'phone',
  'offline_access',
  'relationships',
  'consents',
] as const;
