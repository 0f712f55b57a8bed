/** What entries of the audit are about, as `kind` of a search takes it. An entry of another kind does not compile. */
export const auditKinds = [
  'account',
  'actor',
  'actor_type',
  'client_consent',
  'consent',
  'consent_definition',
  'denied_token',
  'event_subscription',
  'identity',
  'invitation',
  'key',
  'mail_settings',
  'mail_suppression',
  'mail_template',
  'member',
  'member_invitation',
  'oauth_client',
  'passkey',
  'policy',
  'policy_data',
  'policy_library',
  'portal_token',
  'relationship',
  'relationship_type',
  'relationships',
  'resource',
  'resource_type',
  'route',
  'tenant',
  'tenant_secret',
  'trusted_issuer',
] as const;
/** The kinds of rooms that are not in the product's list. */
// biome-ignore lint/suspicious/noEmptyInterface: rooms add to it
export interface RoomAuditKinds {}

export type AuditKind = (typeof auditKinds)[number] | keyof RoomAuditKinds;
