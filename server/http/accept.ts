/** @returns whether a caller asks for an answer of this media type, by its name */
export function asksFor(accept: string | undefined, type: string): boolean {
  return accept?.split(',').some((one) => one.split(';')[0]?.trim().toLowerCase() === type) === true;
}
