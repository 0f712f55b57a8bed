/** Exponential backoff: how long to wait before the next attempt. */

type Bounds = { minMs: number; maxMs: number };

/** Twice as long as before; the smallest delay after none (0). */
export function nextDelayMs(previousMs: number, { minMs, maxMs }: Bounds): number {
  return Math.max(minMs, Math.min(previousMs * 2, maxMs));
}

/** Between half of a delay and all of it, so that those who failed together do not come back together. */
export function jittered(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}
