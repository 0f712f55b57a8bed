/**
 * Which strings are texts that can be stored and sent, and what becomes of the others; and counts in sentences. U+FFFD stands for
 * what is no character.
 */

/** Whether it holds no half of a surrogate pair, which UTF-8 cannot say (RFC 7493 section 2.1), and no NUL, which Postgres does not hold. */
export function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The text, of characters that UTF-8 can say and Postgres holds. */
export function asText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

// As JSON.stringify writes them, or any other escape, which is kept.
const HALVES = /\\(?:ud[89a-f][0-9a-f]{2}|.)/g;
const HALVES_AND_NULS = /\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/g;

/** What JSON.stringify made, without halves of surrogate pairs. */
export function wellFormedJson(json: string): string {
  return withoutEscaped(HALVES, json);
}

/** What JSON.stringify made, as jsonb holds it: without halves of surrogate pairs and U+0000. */
export function storableJson(json: string): string {
  return withoutEscaped(HALVES_AND_NULS, json);
}

function withoutEscaped(escapes: RegExp, json: string): string {
  return json.includes('\\u') ? json.replace(escapes, (found) => (found.length === 6 ? '\ufffd' : found)) : json;
}

/** `1 manifest`, `2 manifests`, `1,000 policies`. @param many its plural, where that is not the noun and an s */
export function counted(count: number, noun: string, many = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : many}`;
}
