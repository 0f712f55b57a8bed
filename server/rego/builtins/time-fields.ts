/** Instants: nanoseconds since the Unix epoch to calendar fields and back, in a zone. */
import { refuse } from './arguments.ts';
import type { Zone } from './time-zone.ts';

/** `month` is 1-12, `weekday` 0 (Sunday)-6, `offset` seconds east of UTC. */
export type Fields = {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  nanosecond: number;
  weekday: number;
  yearDay: number;
  offset: number;
  abbreviation: () => string;
};

const NS_PER_MS = 1_000_000n;
const DAY_MS = 86_400_000;

/** The instant when it fits a signed 64-bit count of nanoseconds, as OPA demands. */
export function checkedInstant(ns: bigint): bigint {
  return BigInt.asIntN(64, ns) === ns ? ns : refuse();
}

export function fieldsAt(ns: bigint, zone: Zone): Fields {
  const utc = floorDivide(ns, NS_PER_MS);
  const offset = zone.offsetAt(Number(utc));
  const local = new Date(Number(utc) + offset * 1000);
  const year = local.getUTCFullYear();
  let name: string | undefined;
  return {
    year,
    month: local.getUTCMonth() + 1,
    day: local.getUTCDate(),
    hour: local.getUTCHours(),
    minute: local.getUTCMinutes(),
    second: local.getUTCSeconds(),
    nanosecond: local.getUTCMilliseconds() * 1_000_000 + Number(ns - utc * NS_PER_MS),
    weekday: local.getUTCDay(),
    yearDay: Math.floor((local.getTime() - daysFrom(year, 1, 1) * DAY_MS) / DAY_MS) + 1,
    offset,
    abbreviation: () => {
      name ??= zone.abbreviationAt(Number(utc));
      return name;
    },
  };
}

/** Days since the epoch of a date whose month and day may lie outside their ranges. Refuses what no Date holds. */
export function daysFrom(year: number, month: number, day: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const days = date.getTime() / DAY_MS;
  return Number.isFinite(days) ? days : refuse();
}

/** Nanoseconds of a wall clock time, `offset` seconds east of UTC. */
export function instantOf(days: number, seconds: number, nanosecond: number, offset: number): bigint {
  return (BigInt(days) * 86_400n + BigInt(seconds - offset)) * 1_000_000_000n + BigInt(nanosecond);
}

/** As Go resolves a wall clock time in a zone: the offset before a gap, and the one first in force in an overlap. */
export function instantIn(zone: Zone, days: number, seconds: number, nanosecond: number): bigint {
  const asUtc = days * DAY_MS + seconds * 1000;
  const guess = zone.offsetAt(asUtc);
  return instantOf(days, seconds, nanosecond, zone.offsetAt(asUtc - guess * 1000));
}

function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a < 0n && quotient * b !== a ? quotient - 1n : quotient;
}
