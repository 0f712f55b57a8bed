/** How Rego values read as text inside strings (sprintf's %v): OPA's own notation, with Go's quoting. */
import type { Meter } from '../budget.ts';
import { sortedKeys, sortedValues } from '../compare.ts';
import { NumberText, RegoSet, type Value } from '../value.ts';

/** A value as OPA prints it: strings quoted, objects and sets in Rego's order. Linear but for sorting. */
export function displayValue(meter: Meter, value: Value): string {
  if (typeof value === 'string') return quoteGo(value);
  if (value instanceof NumberText) return value.text;
  const inner = (item: Value) => displayValue(meter, item);
  if (Array.isArray(value)) return `[${value.map(inner).join(', ')}]`;
  if (value instanceof RegoSet)
    return value.items.length === 0 ? 'set()' : `{${sortedValues(meter, value.items).map(inner).join(', ')}}`;
  if (value instanceof Map) {
    const entries = sortedKeys(meter, value).map((key) => `${inner(key)}: ${inner(value.get(key)!)}`);
    return `{${entries.join(', ')}}`;
  }
  return String(value);
}

const SHORT_ESCAPES: Record<string, string> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  "'": "\\'",
  '\\': '\\\\',
};

/** Everything that Go's strconv.IsPrint refuses, and the characters that quoting escapes. */
const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|[\\"]/gu;
const UNPRINTABLE_OR_NOT_ASCII = /[^ -~]|[\\"]/gu;

/** Go's strconv.Quote, or QuoteToASCII. */
export function quoteGo(text: string, asciiOnly = false): string {
  return `"${text.replace(asciiOnly ? UNPRINTABLE_OR_NOT_ASCII : UNPRINTABLE, escapeGo)}"`;
}

/** Go's strconv.QuoteRune of a code point, with single quotes. */
export function quoteRune(point: number, asciiOnly: boolean): string {
  const valid = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff) ? point : 0xfffd;
  const char = String.fromCodePoint(valid);
  const plain = char === '"' || char.search(asciiOnly ? UNPRINTABLE_OR_NOT_ASCII : UNPRINTABLE) < 0;
  return `'${char === "'" || !plain ? escapeGo(char) : char}'`;
}

function escapeGo(char: string): string {
  const short = SHORT_ESCAPES[char];
  if (short !== undefined) return short;
  const point = char.codePointAt(0)!;
  if (point < 0x80) return `\\x${point.toString(16).padStart(2, '0')}`;
  return point > 0xffff ? `\\U${point.toString(16).padStart(8, '0')}` : `\\u${point.toString(16).padStart(4, '0')}`;
}
