/** The order of resource versions. They are decimal numbers that grow, for objects of one resource (KEP-5504). */

const DECIMAL = /^[1-9]\d*$/;

/** Whether `a` is later than `b`. Where they cannot be compared, what is different counts as later. */
export function isLater(a: string, b: string): boolean {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return a !== b;
  return a.length === b.length ? a > b : a.length > b.length;
}
