/**
 * Instants and wall clocks as a drawn policy writes and compares them: RFC 3339 with a zone and at most milliseconds,
 * and the local time in an IANA zone.
 */

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,3}))?(?:Z|[+-]([01]\d|2[0-3]):([0-5]\d))$/;

/** Milliseconds since the epoch of an RFC 3339 instant, undefined when it is not one or names a day that does not exist. */
export function parseInstant(text: string): number | undefined {
  const [, year, month, day, hour, minute, second] = (rfc3339.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  if (hour! > 23 || minute! > 59 || second! > 59) return undefined;
  // Date.parse reads 30 February as 2 March.
  const local = new Date(Date.UTC(year, month - 1, day));
  if (local.getUTCMonth() !== month - 1 || local.getUTCDate() !== day) return undefined;
  return Date.parse(text);
}

/** The English names of the days, as Rego's time.weekday gives them; by the number of the day, from 0. */
export const weekdayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** What a clock on the wall shows: the number of the day (Sunday is 0), and the seconds since midnight. */
interface WallClock {
  weekday: number;
  secondOfDay: number;
}

/** The wall clock of `timezone` (an IANA name, checked) at `instantMs`. */
export function wallClock(instantMs: number, timezone: string): WallClock {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    weekday: 'long',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const part = new Map(format.formatToParts(instantMs).map(({ type, value }) => [type, value]));
  const number = (type: 'hour' | 'minute' | 'second') => Number(part.get(type));
  return {
    weekday: weekdayNames.indexOf(part.get('weekday')!),
    secondOfDay: number('hour') * 3600 + number('minute') * 60 + number('second'),
  };
}

/** What is wrong with an IANA zone name, undefined when nothing is. */
export function timezoneProblem(timezone: string): string | undefined {
  let known: string;
  try {
    known = new Intl.DateTimeFormat('en-US', { timeZone: timezone }).resolvedOptions().timeZone;
  } catch {
    return `${JSON.stringify(timezone)} is not an IANA time zone; write one such as Europe/Amsterdam or UTC`;
  }
  if (!/^[A-Za-z]/.test(timezone)) return `${timezone} is an offset; name a time zone such as Europe/Amsterdam or UTC`;
  // Other implementations of Rego take a zone only in its own spelling.
  if (known !== timezone && known.toLowerCase() === timezone.toLowerCase()) return `write ${known}, not ${timezone}`;
  return undefined;
}
