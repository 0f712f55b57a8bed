/** Owns time zones: offsets and abbreviations of IANA zones at an instant, from the ICU data inside Node. */
import { type BuiltinContext, refuse } from './arguments.ts';

/** A zone; `offsetAt` is seconds east of UTC at milliseconds since the epoch. */
export type Zone = { offsetAt(ms: number): number; abbreviationAt(ms: number): string };

export const UTC: Zone = { offsetAt: () => 0, abbreviationAt: () => 'UTC' };

const ZONES_MAX = 600;
/** Making the formatters of a zone takes 100-300 us. */
const NEW_ZONE_FUEL = 10_000;
const LOOKUP_FUEL = 300;

const known = new Map<string, Zone>();

/** The zone called `name`; refuses one that ICU does not know. Local is UTC: a policy must not learn about the host. */
export function zoneNamed(context: BuiltinContext, name: string): Zone {
  if (name === '' || name === 'UTC' || name === 'Local') return UTC;
  context.charge(LOOKUP_FUEL);
  const cached = known.get(name);
  if (cached !== undefined) return cached;
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(name)) refuse();
  context.charge(NEW_ZONE_FUEL);
  const zone = makeZone(name);
  if (known.size >= ZONES_MAX) known.clear();
  known.set(name, zone);
  return zone;
}

/** en-US abbreviates American zones only; the others each name those of their part of the world. */
const LOCALES = ['en-US', 'en-GB', 'en-AU', 'en-IN', 'en-ZA', 'en-NZ'];

function makeZone(timeZone: string): Zone {
  let offsets: Intl.DateTimeFormat;
  try {
    offsets = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  } catch {
    return refuse();
  }
  let names: Intl.DateTimeFormat[] | undefined;
  const offsetAt = (ms: number) => parseOffset(zonePart(offsets, ms));
  const abbreviationAt = (ms: number) => {
    names ??= LOCALES.map((locale) => new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'short' }));
    const found = names.map((format) => zonePart(format, ms)).find((name) => /^[A-Z]{3,5}$/.test(name));
    return found ?? numericName(offsetAt(ms));
  };
  return { offsetAt, abbreviationAt };
}

function zonePart(format: Intl.DateTimeFormat, ms: number): string {
  return format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? '';
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
