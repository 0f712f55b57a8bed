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
