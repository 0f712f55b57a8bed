/** Exponential backoff: how long to wait before the next attempt. */

type Bounds = { minMs: number; maxMs: number };

/** Twice as long as before; the smallest delay after none (0). */
export function nextDelayMs(previousMs: number, { minMs, maxMs }: Bounds): number {
  return Math.max(minMs, Math.min(previousMs * 2, maxMs));
}

/** The delay after so many failures in a row (at least 1): the smallest one after the first, twice as long after each. */
export function delayMsAfter(failures: number, { minMs, maxMs }: Bounds): number {
  return Math.min(minMs * 2 ** Math.min(failures - 1, 30), maxMs);
}

/**
 * Between half of a delay and all of it, so that those who failed together do not come back together.
 * @param random in [0, 1)
 */
export function jittered(ms: number, random: number = Math.random()): number {
  return ms * (0.5 + random / 2);
}
