/** When what failed is tried again. Pure. */
import { jittered } from '../backoff.ts';
import { instantMs } from '../instants.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** After the first attempt, the second, and so on, ms: 75 hours in all. */
export const retrySchedule: readonly number[] = [
  ...[5 * SECOND, 5 * MINUTE, 30 * MINUTE],
  ...[2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
];

/** The longest wait, also of what a server may ask for by Retry-After. */
export const retryDelayMsMax = 24 * HOUR;

/**
 * How long to wait after so many failed attempts (at least 1): between half of the schedule's delay and all of it, or what the
 * other side asked for, where that is longer.
 * @param random in [0, 1)
 */
export function retryDelayMs(failed: number, retryAfterMs = 0, random?: number): number {
  const delay = retrySchedule[Math.min(failed, retrySchedule.length) - 1] as number;
  return Math.max(jittered(delay, random), Math.min(retryAfterMs, retryDelayMsMax));
}

/** ms that a Retry-After header asks for: seconds, or an HTTP date. Undefined: there is none, or it is neither. @param now ms */
export function retryAfterMs(header: string | readonly string[] | undefined, now: number): number | undefined {
  const text = (typeof header === 'string' ? header : header?.[0])?.trim();
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND;
  const at = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(text)
    ? Date.parse(text)
    : instantMs(text);
  return at === undefined || Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
