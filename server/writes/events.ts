/** Keeps events in memory: a unit hands over what its actions emitted when its transaction is committed. */
import { limits } from '../core/limits.ts';
import type { EventSink, TenantEvent } from '../room/events.ts';

/** Keeps the newest events until they are taken. */
export class EventBuffer implements EventSink {
  #events: TenantEvent[] = [];

  add(events: readonly TenantEvent[]): void {
    for (const event of events) this.#events.push(event);
    const excess = this.#events.length - limits.eventsBufferedMax;
    if (excess > 0) this.#events.splice(0, excess);
  }

  take(): TenantEvent[] {
    return this.#events.splice(0);
  }
}
