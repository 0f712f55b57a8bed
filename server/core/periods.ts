/** ISO 8601 durations as a calendar adds them: in UTC, years and months first, the day clamped to its month's last. */

/** Whole numbers, none negative. */
export type Period = {
  readonly months: number;
  readonly days: number;
  readonly ms: number;
};

const NUMBER = '(\\d{1,4}(?:[.,]\\d{1,9})?)';
const DURATION = new RegExp(
  `^P(?=.)(?:(\\d{1,4})Y)?(?:(\\d{1,4})M)?(?:${NUMBER}W)?(?:${NUMBER}D)?(?:T(?=.)(?:${NUMBER}H)?(?:${NUMBER}M)?(?:${NUMBER}S)?)?$`,
);
const FRACTION_BEFORE_THE_END = /[.,]\d+[A-Z]./;
const DAY_MS = 86_400_000;

/**
 * Undefined when the text is not PnYnMnWnDTnHnMnS with at least one unit, each a number of at most four digits. The last unit
 * may have a fraction of at most nine digits (ISO 8601-1:2019, 5.5.2.3); years and months may not, because they have no
 * fixed length. What is finer than a millisecond is rounded.
 */
export function parsePeriod(text: string): Period | undefined {
  const match = DURATION.exec(text);
  if (match === null || FRACTION_BEFORE_THE_END.test(text)) return undefined;
  const unit = (group: number) => Number((match[group] ?? '0').replace(',', '.'));
  const days = unit(3) * 7 + unit(4);
  const wholeDays = Math.floor(days);
  const seconds = (unit(5) * 60 + unit(6)) * 60 + unit(7);
  return {
    months: unit(1) * 12 + unit(2),
    days: wholeDays,
    ms: Math.round((days - wholeDays) * DAY_MS + seconds * 1000),
  };
}

/** @param instant ms since the epoch; a day of UTC has 86,400 seconds, and 31 January and one month is the last of February */
export function addPeriod(instant: number, { months, days, ms }: Period): number {
  const date = new Date(instant);
  const month = date.getUTCMonth() + months;
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), month + 1, 0)).getUTCDate();
  date.setUTCFullYear(date.getUTCFullYear(), month, Math.min(date.getUTCDate(), lastDay));
  return date.getTime() + days * DAY_MS + ms;
}

export const subtractPeriod = (instant: number, { months, days, ms }: Period): number =>
  addPeriod(instant, { months: -months, days: -days, ms: -ms });
