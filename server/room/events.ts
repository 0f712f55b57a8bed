/**
 * What an event is. A room makes a type of events for each thing that its actions tell of, beside those actions, and states
 * the types in its descriptor; server/writes emits the events.
 */

declare const carried: unique symbol;

/** A type of events, by the name that receivers know it by, and what its events carry. */
export type EventType<Data = unknown> = { readonly name: string; readonly [carried]?: Data };

/** @param name UPPER_CASE, and no other room's */
export function eventType<Data>(name: string): EventType<Data> {
  return { name };
}

/** `requestor`: who asked for it, as the audit names callers. */
export type Requested = { requestor: string };

/** `time`: ms, of the write. */
export type TenantEvent = { type: string; tenant: string; time: number; data: Requested };

/** Takes the events of a committed write. */
export type EventSink = { add(events: readonly TenantEvent[]): void };
