/**
 * Operations that may change something and emit no event: why. Those that emit are stated by the types of events; each
 * operation but a GET is in one of the two (docs/event-types.ts).
 */
const C = '/tenants/{tenant}';
const members = 'members administer the tenant; the audit names what they and their tokens are';
const again = 'events that there are, or a test, are sent to an endpoint';
const reads = 'it changes nothing';
const mails = 'MAIL_SENT or MAIL_FAILED tells later what became of the mail';

export const silentOperations: Readonly<Record<string, string>> = {
  [`DELETE ${C}/members/{id}`]: members,
  [`POST ${C}/members/invitations`]: members,
  [`DELETE ${C}/members/invitations/{id}`]: members,
  'POST /portal/invitations/redeem': members,
  [`POST ${C}/portal-tokens`]: members,
  [`DELETE ${C}/portal-tokens/{jti}`]: members,
  [`POST ${C}/event-stream/subscriptions/{id}/deliveries/{delivery}/retry`]: again,
  [`POST ${C}/event-stream/subscriptions/{id}/replay`]: again,
  [`POST ${C}/event-stream/subscriptions/{id}/replays/{replay}/cancel`]: again,
  [`POST ${C}/event-stream/subscriptions/{id}/test`]: again,
  [`POST ${C}/accounts/{id}/reset`]: 'it sends a mail; the password changes when the user follows its link',
  [`POST ${C}/mail/test`]: mails,
  'POST /{tenant}/mail/messages': mails,
  [`DELETE ${C}/mail/suppressions/{id}`]: 'it concerns mails to come; the audit names it',
  [`POST ${C}/mail/templates/{name}/{language}/preview`]: reads,
  [`POST ${C}/policy-format`]: reads,
  [`POST ${C}/policies/{policyName}/test`]: reads,
  [`POST ${C}/policies/{policyName}/replay`]: reads,
  [`POST ${C}/decisions/{id}/explain`]: reads,
  [`POST ${C}/graphql`]: reads,
  [`POST ${C}/tokens/check`]: reads,
  'POST /{tenant}/sharing/invitations/preview': reads,
  'POST /{tenant}/access/v1/search/subject': reads,
  'POST /{tenant}/access/v1/search/resource': reads,
  'POST /{tenant}/access/v1/search/action': reads,
  [`POST ${C}/access/v1/search/subject`]: reads,
  [`POST ${C}/access/v1/search/resource`]: reads,
  [`POST ${C}/access/v1/search/action`]: reads,
  [`POST ${C}/actors/{type}/{id}/erase/preview`]: reads,
};
