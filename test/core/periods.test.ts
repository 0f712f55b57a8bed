/** Durations as the calendar adds them, and instants. */
import { describe, expect, test } from 'vitest';
import { instantMs } from '../../server/core/instants.ts';
import { addPeriod, type Period, parsePeriod } from '../../server/core/periods.ts';

const plus = (from: string, duration: string) =>
  new Date(addPeriod(Date.parse(from), parsePeriod(duration) as Period)).toISOString();

describe('periods', () => {
  test.each([
    ['2026-01-31T10:00:00.000Z', 'P1M', '2026-02-28T10:00:00.000Z'],
    ['2028-01-31T10:00:00.000Z', 'P1M', '2028-02-29T10:00:00.000Z'],
    ['2028-02-29T00:00:00.000Z', 'P1Y', '2029-02-28T00:00:00.000Z'],
    ['2028-02-29T00:00:00.000Z', 'P4Y', '2032-02-29T00:00:00.000Z'],
    ['2026-12-31T23:59:59.999Z', 'P2M', '2027-02-28T23:59:59.999Z'],
    ['2026-01-31T00:00:00.000Z', 'P1M1D', '2026-03-01T00:00:00.000Z'],
    ['2026-03-28T12:00:00.000Z', 'P1D', '2026-03-29T12:00:00.000Z'],
    ['2026-01-01T00:00:00.000Z', 'P1Y2M3W4DT5H6M7S', '2027-03-26T05:06:07.000Z'],
    ['2026-01-01T00:00:00.000Z', 'PT36H', '2026-01-02T12:00:00.000Z'],
    ['2026-01-01T00:00:00.000Z', 'P0D', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00:00.000Z', 'PT1.5H', '2026-01-01T01:30:00.000Z'],
    ['2026-01-01T00:00:00.000Z', 'PT1,5H', '2026-01-01T01:30:00.000Z'],
    ['2026-01-01T00:00:00.000Z', 'P0.5W', '2026-01-04T12:00:00.000Z'],
    ['2026-01-31T00:00:00.000Z', 'P1M1.5D', '2026-03-01T12:00:00.000Z'],
    ['2026-01-01T00:00:00.000Z', 'P1DT1H0.25M', '2026-01-02T01:00:15.000Z'],
    ['2026-01-01T00:00:00.000Z', 'PT0.0014S', '2026-01-01T00:00:00.001Z'],
    ['2026-01-01T00:00:00.000Z', 'PT0.000000001S', '2026-01-01T00:00:00.000Z'],
  ])('%s + %s', (from, duration, sum) => expect(plus(from, duration)).toBe(sum));

  test.each([
    '',
    'P',
    'PT',
    'P1',
    '1M',
    'P-1D',
    '-P1D',
    'P1S',
    'PT1D',
    'P1DT',
    'P1.5DT1H',
    'PT1.5H30M',
    'P1.5Y',
    'P0,5M',
    'PT1.H',
    'PT.5H',
    'PT1.1234567890S',
    'PT1.5.5H',
    'P1D1W',
    'p1d',
    'P12345D',
    ' P1D',
  ])('%j is none', (text) => expect(parsePeriod(text)).toBeUndefined());
});

describe('instants', () => {
  test.each([
    ['2026-05-01T00:00:00Z', '2026-05-01T00:00:00.000Z'],
    ['2026-05-01T02:00:00.1239+02:00', '2026-05-01T00:00:00.123Z'],
    ['2028-02-29T00:00:00z', '2028-02-29T00:00:00.000Z'],
  ])('%s', (text, instant) => expect(instantMs(text)).toBe(Date.parse(instant)));

  test.each([
    '2026-05-01T00:00:00',
    '2026-05-01',
    '2026-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-05-01T24:00:01Z',
    '2026-05-01T00:00:60Z',
    '0000-01-01T00:00:00Z',
    '20260501T000000Z',
  ])('%s is none', (text) => expect(instantMs(text)).toBeUndefined());
});
