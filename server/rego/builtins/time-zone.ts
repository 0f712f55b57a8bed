/** Time zones: offsets and abbreviations of IANA zones at an instant, from the ICU data inside Node. */
import { LRUCache } from 'lru-cache';
import { type BuiltinContext, refuse } from './arguments.ts';

/** A zone; `offsetAt` is seconds east of UTC at milliseconds since the epoch. */
export type Zone = { offsetAt(ms: number): number; abbreviationAt(ms: number): string };

export const UTC: Zone = { offsetAt: () => 0, abbreviationAt: () => 'UTC' };

/** Making a formatter takes 20-100 us and 30 kB outside the heap; asking it takes 2-5 us. */
const NEW_FORMATTER_FUEL = 1500;
const LOOKUP_FUEL = 100;

const formatters = new LRUCache<string, Intl.DateTimeFormat>({ max: 48 });

/** The zone called `name`; refuses one that ICU does not know. Local is UTC: a policy must not learn about the host. */
export function zoneNamed(context: BuiltinContext, name: string): Zone {
  if (name === '' || name === 'UTC' || name === 'Local') return UTC;
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(name)) refuse();
  const offsetAt = (ms: number) => parseOffset(zonePart(context, 'en-US', name, 'longOffset', ms));
  offsetAt(0); // refuses here, not when it is first asked
  const abbreviationAt = (ms: number) => {
    for (const locale of LOCALES) {
      const found = zonePart(context, locale, name, 'short', ms);
      if (/^[A-Z]{3,5}$/.test(found)) return found;
    }
    return numericName(offsetAt(ms));
  };
  return { offsetAt, abbreviationAt };
}

/** en-US abbreviates American zones only; the others each name those of their part of the world. */
const LOCALES = ['en-US', 'en-GB', 'en-AU', 'en-IN', 'en-ZA', 'en-NZ'];

function zonePart(
  context: BuiltinContext,
  locale: string,
  timeZone: string,
  timeZoneName: 'longOffset' | 'short',
  ms: number,
): string {
  context.charge(LOOKUP_FUEL);
  const key = `${locale} ${timeZoneName} ${timeZone}`;
  let format = formatters.get(key);
  if (format === undefined) {
    context.charge(NEW_FORMATTER_FUEL);
    format = newFormatter(locale, { timeZone, timeZoneName });
    formatters.set(key, format);
  }
  return format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

function newFormatter(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(locale, options);
  } catch {
    return refuse();
  }
}

/** "GMT", "GMT+05:30" or "GMT-00:01:15" in seconds. */
function parseOffset(text: string): number {
  const [, sign, hours, minutes, seconds] = /^GMT(?:([-+])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text) ?? [];
  if (sign === undefined) return 0;
  const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds ?? 0);
  return sign === '-' ? -size : size;
}

/** What tzdata, and so Go, calls a zone without letters: "+03", "+0530". */
function numericName(offset: number): string {
  const minutes = Math.abs(offset) / 60;
  const digits =
    String(Math.floor(minutes / 60)).padStart(2, '0') +
    (minutes % 60 ? String(Math.floor(minutes % 60)).padStart(2, '0') : '');
  return (offset < 0 ? '-' : '+') + digits;
}
