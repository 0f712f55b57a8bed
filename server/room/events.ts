/**
 * What an event is. A room makes a type of events for each thing that its actions tell of, beside those actions, and states
 * the types in its descriptor; server/writes emits the events.
 */
import { type Static, type TObject, type TProperties, Type } from 'typebox';

/** A type of events, by the name that receivers know it by, and what its events carry. */
export type EventType<Data extends TObject = TObject> = {
  readonly name: string;
  /** When one is emitted, in a sentence. */
  readonly when: string;
  /** Operations that emit it, as the OpenAPI document writes them: `PUT /tenants/{tenant}/policies/{policyName}`. */
  readonly operations: readonly string[];
  /** The schema of an event's data, which is published. */
  readonly data: Data;
  readonly example: Static<Data>;
  /** Events of one key are delivered in order. A person's id stands in it as `TYPE/ID` or `consents/ID`, and nowhere else. */
  keyOf(data: Static<Data>): string;
  /** The data in the legacy form, of types that had one. */
  legacy?(data: Static<Data>): object;
};

/** @param name UPPER_CASE, and no other room's */
export function eventType<Data extends TObject>(
  name: string,
  about: Omit<EventType<Data>, 'name'> & { data: Data },
): EventType<Data> {
  return { name, ...about };
}

/** The schema of an event's data: who asked for it, and what the type adds. */
export function eventData<Properties extends TProperties>(properties: Properties) {
  return Type.Object({
    requestor: Type.String({
      description:
        'The caller that asked for it, as the audit names callers: client:ID, user:TYPE:ID, member:EMAIL, operator:NAME; accord: nobody did, its time came.',
    }),
    ...properties,
  });
}

/** An event that is to be recorded. `time`: ms, of the write. */
export type NewEvent = { tenant: string; type: string; time: number; key: string; data: object };

/** The event of a type, of a write at `time` (ms). */
export function newEvent<Data extends TObject>(
  type: EventType<Data>,
  tenant: string,
  time: number,
  data: Static<Data>,
): NewEvent {
  return { tenant, type: type.name, time, key: type.keyOf(data), data: data as object };
}

/** Tells who numbers events that some were committed. It is a hint: without it they are found a little later. */
export class EventHints {
  #listener: (() => void) | undefined;

  onCommitted(listener: () => void): void {
    this.#listener = listener;
  }

  committed(): void {
    this.#listener?.();
  }
}
