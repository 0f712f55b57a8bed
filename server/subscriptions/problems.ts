import { defineProblems } from '../core/problems.ts';

export const subscriptionProblem = defineProblems({
  subscription_not_found: {
    status: 404,
    title: 'Subscription not found',
    when: 'The tenant has no event subscription with this id.',
  },
  delivery_not_found: {
    status: 404,
    title: 'Delivery not found',
    when: 'No event of this number was sent to the endpoint, or the event is no longer kept.',
  },
  replay_not_found: {
    status: 404,
    title: 'Replay not found',
    when: 'The subscription has no replay with this id, or its record was removed 14 days after its end.',
  },
  replay_running: {
    status: 409,
    title: 'Replay under way',
    when: 'Another replay of the subscription is under way.',
  },
  subscription_quota_reached: {
    status: 409,
    title: 'Too many subscriptions',
    when: 'The tenant has the maximum number of event subscriptions.',
    refusal: { reason: 'Invalid', dependsOnOthers: true },
  },
  event_type_unknown: {
    status: 400,
    title: 'Unknown event type',
    when: 'A subscription names a type of events that there is not. GET /tenants/{tenant}/event-stream/event-types lists the types.',
    refusal: { reason: 'Invalid' },
  },
  endpoint_refused: {
    status: 400,
    title: 'Endpoint refused',
    when: 'Events are sent to public addresses by https, and to those that ACCORD_OUTBOUND_ALLOW names by http too. The URL of an endpoint holds no secret: its subscription shows it.',
    refusal: { reason: 'Invalid' },
  },
  endpoint_secret_missing: {
    status: 400,
    title: 'Secret of the endpoint missing',
    when: 'The authentication to an endpoint needs its secret. It is given again when its type changes, or when the endpoint, the token endpoint or the name that it belongs to does, so that nobody who cannot read it can have it sent elsewhere.',
  },
  endpoint_secret_unsuitable: {
    status: 400,
    title: 'Unsuitable secret',
    when: 'A secret that signs requests is whsec_ and the base64 of 24 to 64 bytes. A token is visible ASCII; a password and the secret of a client are ASCII without control characters.',
    refusal: { reason: 'Invalid', dependsOnOthers: true },
  },
});
