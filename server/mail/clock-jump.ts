/**
 * A clock that jumped. What ends for good by the time of day is not ended by a clock that has just jumped forward: it is believed
 * when it has said the same for a while, which a monotonic clock measures. A mistake that is set right in between ends nothing.
 */
import type { Clock } from '../core/clock.ts';
import { limits } from '../core/limits.ts';

export class ClockJumps {
  readonly #clock: Clock;
  #last: { wall: number; monotonic: number } | undefined;
  #heldUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** To be called again and again. @returns `isHeld`: not to be believed now; `jumpedMs`: it jumped since the last call */
  look(): { isHeld: boolean; jumpedMs?: number } {
    const [wall, monotonic] = [this.#clock.now(), this.#clock.monotonic()];
    const last = this.#last ?? { wall, monotonic };
    this.#last = { wall, monotonic };
    const ahead = wall - last.wall - (monotonic - last.monotonic);
    const jumped = Math.abs(ahead) >= limits.clockJumpMsMin;
    if (jumped) this.#heldUntil = ahead > 0 ? monotonic + limits.clockJumpHoldMs : Number.NEGATIVE_INFINITY;
    return { isHeld: monotonic < this.#heldUntil, ...(jumped ? { jumpedMs: Math.round(ahead) } : {}) };
  }
}
