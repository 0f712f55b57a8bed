/** What a step of a lane comes to: what stays open and until when, and how the endpoint is. Pure. */
import { delayMsAfter, jittered } from '../../core/backoff.ts';
import { utc } from '../../core/instants.ts';
import { retryDelayMs } from '../../core/lanes/schedule.ts';
import { limits } from '../../core/limits.ts';
import type { AttemptRow, LaneStateRow, OpenRow, Step } from '../lane-store.ts';
import type { Result } from './chains.ts';
import type { Attempt } from './endpoint.ts';

/** An event that is open, with its key. */
export type Open = OpenRow & { key: string };

/** Step of a delivery that is tried once by hand: it has no more retries. */
export const ONCE = 1_000_000;

type Health = Pick<LaneStateRow, 'failing_since' | 'failures' | 'trips' | 'blocked_until'>;

/** Why nothing more is to be sent, if so. */
export function disabledFor(health: Health, attempts: readonly Attempt[], now: number): 'gone' | 'failing' | undefined {
  if (attempts.some(({ status }) => status === 410)) return 'gone';
  if (health.failing_since === null || attempts.length === 0) return undefined;
  return now - Date.parse(health.failing_since) >= limits.deliveryFailingMsMax ? 'failing' : undefined;
}

/** How the endpoint is after requests. @param now ms @param random in [0, 1) */
export function healthAfter(before: Health, attempts: readonly Attempt[], now: number, random?: number): Health {
  if (attempts.length === 0) return before;
  const asked = Math.max(0, ...attempts.map(({ retryAfterMs }) => retryAfterMs ?? 0));
  const askedUntil = asked === 0 ? null : utc(now + Math.min(asked, limits.deliveryFailingMsMax));
  if (attempts.some(({ ok }) => ok)) return { failing_since: null, failures: 0, trips: 0, blocked_until: askedUntil };
  const failures = before.failures + attempts.length;
  const failing_since = before.failing_since ?? utc(now);
  if (failures < limits.deliveryFailuresMax && before.trips === 0)
    return { failing_since, failures, trips: 0, blocked_until: askedUntil };
  const trips = before.trips + 1;
  const bounds = { minMs: limits.deliveryBlockedMsMin, maxMs: limits.deliveryBlockedMsMax };
  const until = utc(now + jittered(delayMsAfter(trips, bounds), random));
  return {
    failing_since,
    failures,
    trips,
    blocked_until: askedUntil !== null && askedUntil > until ? askedUntil : until,
  };
}

type Settled = Pick<Step, 'attempts' | 'done' | 'open'> & { opens: Open[] };

/**
 * What results change of what is open.
 * @param opens what was open before, in the order of numbers
 * @param now ms, before the requests were sent
 * @returns `opens`: what is open now
 */
export function settle(
  opens: readonly Open[],
  results: readonly Result[],
  { numberOfRetries, now, random }: { numberOfRetries: number; now: number; random?: number },
): Settled {
  const before = new Map(opens.map((open) => [open.sequence, open]));
  const after = new Map(before);
  const changed = new Set<number>();
  const done: number[] = [];
  const attempts: AttemptRow[] = [];
  for (const { event, attempt } of results) {
    const { sequence, at, key } = event;
    const open = before.get(sequence) ?? { sequence, at, key, attempts: 0, step: 0, next_at: utc(now) };
    if (attempt !== undefined) attempts.push(attemptRow(sequence, open.attempts + 1, 'l', attempt));
    const next =
      attempt === undefined ? open : failedOnce(open, attempt, { now, ...(random === undefined ? {} : { random }) });
    // What was not tried stays: a retry by hand has no retries of its own, and numberOfRetries may be less than before.
    if (attempt !== undefined && (attempt.ok || next.step > numberOfRetries)) {
      if (before.has(sequence)) done.push(sequence);
      after.delete(sequence);
    } else {
      after.set(sequence, next);
      if (next !== before.get(sequence)) changed.add(sequence);
    }
  }
  const sorted = [...after.values()].sort((a, b) => a.sequence - b.sequence);
  const opensAfter = behindTheirHeads(sorted, changed);
  return {
    attempts,
    done,
    open: opensAfter.filter(({ sequence }) => changed.has(sequence)).map(rowOf),
    opens: opensAfter,
  };
}

/** An attempt before its time, to see whether the endpoint is well again, takes nothing of the schedule. */
function failedOnce(open: Open, attempt: Attempt, { now, random }: { now: number; random?: number }): Open {
  const attempts = open.attempts + 1;
  if (attempt.ok || Date.parse(open.next_at) > now) return { ...open, attempts };
  const step = open.step + 1;
  return { ...open, attempts, step, next_at: utc(now + retryDelayMs(step, attempt.retryAfterMs, random)) };
}

/** Those behind another one of their key are not due before it. */
function behindTheirHeads(opens: readonly Open[], changed: Set<number>): Open[] {
  const heads = new Map<string, string>();
  return opens.map((open) => {
    const head = heads.get(open.key);
    if (head === undefined) heads.set(open.key, open.next_at);
    if (head === undefined || open.next_at >= head) return open;
    changed.add(open.sequence);
    return { ...open, next_at: head };
  });
}

const rowOf = ({ key: _key, ...row }: Open): OpenRow => row;

export function attemptRow(sequence: number, number: number, kind: AttemptRow['kind'], attempt: Attempt): AttemptRow {
  const { ms, status, error, answer } = attempt;
  return {
    ...{ sequence, number, kind, ms, status },
    ...(error === undefined ? {} : { error }),
    ...(answer === undefined ? {} : { answer }),
  };
}

/** What is to be sent again: of each key that is due, what is open of it, in order. */
export function dueOf(opens: readonly Open[], now: number): Open[] {
  const heads = new Map<string, boolean>();
  return opens
    .filter(({ key, next_at }) => {
      const isDue = heads.get(key) ?? Date.parse(next_at) <= now;
      heads.set(key, isDue);
      return isDue;
    })
    .slice(0, limits.deliveryEventsMax);
}

/** ms until something of it is due; undefined: nothing is open. */
export function nextDueMs(opens: readonly Open[], now: number): number | undefined {
  const times = opens.map(({ next_at }) => Date.parse(next_at));
  return times.length === 0 ? undefined : Math.max(1, times.reduce((a, b) => Math.min(a, b)) - now);
}
