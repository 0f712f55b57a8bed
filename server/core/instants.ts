/** Reading instants: RFC 3339 with a zone, of a day that exists, in UTC from year 1 to 9999. */

const RFC3339 = /^\d{4}-\d\d-(\d\d)T([01]\d|2[0-3]):\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i;

/** As Postgres reads every one of them: it knows fewer offsets than RFC 3339. @param instant ms, or a text that is an instant */
export function utc(instant: number | string): string {
  return new Date(instant).toISOString();
}

/** ms of an RFC 3339 instant of a day that exists; digits after the millisecond are cut off. Undefined: it is none. */
export function instantMs(text: string): number | undefined {
  const day = RFC3339.exec(text)?.[1];
  if (day === undefined) return undefined;
  const ms = Date.parse(text);
  // Date.parse reads 30 February as 2 March.
  if (Number.isNaN(ms) || new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDate() !== Number(day)) return undefined;
  const year = new Date(ms).getUTCFullYear();
  return year >= 1 && year <= 9999 ? ms : undefined;
}
