/** The query of those who read a log: which time range. */
import { Type } from 'typebox';
import { patterns } from '../../crds/index.ts';
import type { Clock } from '../core/clock.ts';
import { parsePeriod, subtractPeriod } from '../core/periods.ts';
import { problem } from '../core/problems.ts';

const instant = (description: string) =>
  Type.Optional(Type.String({ format: 'date-time', maxLength: 64, description }));

export const rangeQuery = {
  start: instant('Start of the range, inclusive.'),
  end: instant('End of the range, exclusive.'),
  last: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 40,
      description: 'Instead of start: an ISO 8601 duration up to now, such as P7D.',
    }),
  ),
};

export type RangeQuery = { start?: string; end?: string; last?: string };

/** Instants as Date.toISOString writes them. */
type TimeRange = { start?: string; end?: string };

/** @throws Problem invalid_request */
export function rangeOf({ start, end, last }: RangeQuery, clock: Clock): TimeRange {
  if (last !== undefined && (start !== undefined || end !== undefined)) {
    throw wrong('last', 'last cannot be combined with start and end.');
  }
  const from = last === undefined ? instantOf('start', start) : before(clock.now(), last);
  const to = instantOf('end', end);
  if (from !== undefined && to !== undefined && to < from) throw wrong('end', 'end must not be before start.');
  return { ...(from === undefined ? {} : { start: from }), ...(to === undefined ? {} : { end: to }) };
}

/** The format allows what no clock shows (a leap second), and days whose instant in UTC Postgres does not hold. */
function instantOf(field: string, given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const ms = Date.parse(given);
  if (Number.isNaN(ms) || ms < YEAR_1 || ms >= YEAR_10000)
    throw wrong(field, 'Must be an instant in the years 1 to 9999.');
  return new Date(ms).toISOString();
}

const YEAR_1 = Date.parse('0001-01-01T00:00:00Z');
const YEAR_10000 = Date.parse('9999-12-31T23:59:59.999Z') + 1;

function before(now: number, duration: string): string {
  const period = parsePeriod(duration);
  if (period === undefined) throw wrong('last', `Must be ${patterns.period.words}.`);
  return new Date(Math.max(subtractPeriod(now, period), YEAR_1)).toISOString();
}

function wrong(field: string, detail: string) {
  return problem('invalid_request', { detail, errors: [{ pointer: `/query/${field}`, detail }] });
}
