/** Owns ISO 8601 durations as a calendar adds them: in UTC, years and months first, the day clamped to its month's last. */

/** Whole numbers of each unit, none negative. */
export type Period = {
  readonly months: number;
  readonly days: number;
  readonly ms: number;
};

const DURATION =
  /^P(?=.)(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,4})W)?(?:(\d{1,4})D)?(T(?=.)(?:(\d{1,4})H)?(?:(\d{1,4})M)?(?:(\d{1,4})S)?)?$/;

/** Undefined when the text is not PnYnMnWnDTnHnMnS with at least one unit, each a whole number of at most four digits. */
export function parsePeriod(text: string): Period | undefined {
  const match = DURATION.exec(text);
  if (match === null) return undefined;
  const unit = (group: number) => Number(match[group] ?? 0);
  return {
    months: unit(1) * 12 + unit(2),
    days: unit(3) * 7 + unit(4),
    ms: ((unit(6) * 60 + unit(7)) * 60 + unit(8)) * 1000,
  };
}

/** @param instant ms since the epoch; a day of UTC has 86,400 seconds, and 31 January and one month is the last of February */
export function addPeriod(instant: number, { months, days, ms }: Period): number {
  const date = new Date(instant);
  const month = date.getUTCMonth() + months;
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), month + 1, 0)).getUTCDate();
  date.setUTCFullYear(date.getUTCFullYear(), month, Math.min(date.getUTCDate(), lastDay));
  return date.getTime() + days * 86_400_000 + ms;
}
