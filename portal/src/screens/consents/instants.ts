/** Dates of forms: what a person types is in the zone of the browser. */
const two = (n: number) => String(n).padStart(2, '0');

/** For an input of the type datetime-local, to the minute. */
export function localOf(instant: number): string {
  const d = new Date(instant);
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}T${two(d.getHours())}:${two(d.getMinutes())}`;
}

/** Undefined: it is no date. */
export function instantOf(local: string): number | undefined {
  const ms = new Date(local).getTime();
  return local === '' || Number.isNaN(ms) ? undefined : ms;
}

const HOUR_MS = 3_600_000;
/** The next full hour after a time from now. */
export const hourFrom = (now: number, ms: number) => Math.ceil((now + ms) / HOUR_MS) * HOUR_MS;

const unitsOf = { Y: 'year', M: 'month', W: 'week', D: 'day', TH: 'hour', TM: 'minute', TS: 'second' } as const;

/** P30D in words: 30 days. */
export function durationText(language: string, duration: string): string {
  const [days = '', times = ''] = duration.slice(1).split('T');
  const parts = [...days.matchAll(/(\d+)([YMWD])/g), ...times.replaceAll(/[HMS]/g, 'T$&').matchAll(/(\d+)(T[HMS])/g)];
  const words = parts.map(([, count, unit]) =>
    new Intl.NumberFormat(language, {
      ...{ style: 'unit', unit: unitsOf[unit as keyof typeof unitsOf], unitDisplay: 'long' },
    }).format(Number(count)),
  );
  return words.length === 0 ? duration : words.join(' ');
}
