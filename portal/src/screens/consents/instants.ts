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
