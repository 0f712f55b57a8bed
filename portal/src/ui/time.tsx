/** "3 minutes ago", with the exact instant on hover: in the person's zone and in UTC. */
import { useSyncExternalStore } from 'react';
import { useLanguage } from '../core/texts.ts';

const units = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

export function relative(language: string, at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000);
  const [unit, size] = units.find(([, one]) => Math.abs(seconds) >= one) ?? units[6];
  // What is to come in a moment less than a week comes in 7 days; what was a moment less than a week ago was 6 whole days ago.
  const count = seconds > 0 ? Math.round(seconds / size) : Math.trunc(seconds / size);
  return new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(count, unit);
}

/** All on a page move together. */
let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const one of listeners) one();
  }, 10_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
};
/** The present instant, which moves on each ten seconds. */
export const useNow = () => useSyncExternalStore(subscribe, () => now);

export function RelativeTime({ at }: { at: string | Date }) {
  const { language } = useLanguage();
  // Renders again as time goes on; the instant itself is that of the clock, which is later than the last tick.
  useNow();
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <span>{String(at)}</span>;
  const exact = `${date.toLocaleString(language, { dateStyle: 'full', timeStyle: 'long' })}\n${date.toISOString()}`;
  return (
    <time dateTime={date.toISOString()} title={exact}>
      {relative(language, date.getTime(), Date.now())}
    </time>
  );
}
