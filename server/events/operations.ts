/**
 * Operations that may change something and emit no event: why. Those that emit are stated by the types of events; each
 * operation but a GET is in one of the two (docs/event-types.ts).
 */
const C = '/tenants/{tenant}';
const members = 'members administer the tenant; the audit names what they and their tokens are';
const reads = 'it changes nothing';

export const silentOperations: Readonly<Record<string, string>> = {
  [`DELETE ${C}/members/{id}`]: members,
  [`POST ${C}/members/invitations`]: members,
  [`DELETE ${C}/members/invitations/{id}`]: members,
  'POST /portal/invitations/redeem': members,
  [`POST ${C}/portal-tokens`]: members,
  [`DELETE ${C}/portal-tokens/{jti}`]: members,
  [`POST ${C}/accounts/{id}/reset`]: 'it sends a mail; the password changes when the user follows its link',
  [`POST ${C}/policies/{policyName}/test`]: reads,
  [`POST ${C}/policies/{policyName}/replay`]: reads,
  [`POST ${C}/decisions/{id}/explain`]: reads,
  [`POST ${C}/graphql`]: reads,
  'POST /{tenant}/sharing/invitations/preview': reads,
  'POST /{tenant}/access/v1/search/subject': reads,
  'POST /{tenant}/access/v1/search/resource': reads,
  'POST /{tenant}/access/v1/search/action': reads,
};
