/** A clock that stands still until it is told to go on. */
import type { Clock } from '../../../server/core/clock.ts';

export class TestClock implements Clock {
  #ms = Date.UTC(2026, 0, 15, 12);
  now = () => this.#ms;
  monotonic = () => this.#ms;
  advance(ms: number): void {
    this.#ms += ms;
  }
  /** Seconds, as claims have them. */
  seconds(): number {
    return Math.floor(this.#ms / 1000);
  }
}
