/**
 * The subscriptions room: endpoints of a tenant that its events are sent to, and their secrets. Emits revisions
 * (`event_subscription`).
 */
export { subscriptionsRoom } from './room.ts';
