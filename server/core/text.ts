/** Which strings are texts that can be stored and sent. */

/** Whether it holds no half of a surrogate pair, which UTF-8 cannot say (RFC 7493 section 2.1), and no NUL, which Postgres does not hold. */
export function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
