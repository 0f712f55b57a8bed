/** Owns hex.*, base64url.encode_no_pad and urlquery.*. Text is UTF-8; bytes that are not read as U+FFFD. */
import type { Value } from '../value.ts';
import { type BuiltinTable, objectOf, refuse, stringOf } from './arguments.ts';

export const encodingBuiltins: BuiltinTable = {
  'hex.encode': (_context, text) => Buffer.from(stringOf(text)).toString('hex'),
  'hex.decode': (_context, text) => {
    const hex = stringOf(text);
    if (hex.length % 2 === 1 || /[^0-9a-fA-F]/.test(hex)) refuse();
    return Buffer.from(hex, 'hex').toString();
  },
  'base64url.encode_no_pad': (_context, text) => Buffer.from(stringOf(text)).toString('base64url'),
  'urlquery.encode': (_context, text) => encodeQuery(stringOf(text)),
  'urlquery.decode': (_context, text) => decodeQuery(stringOf(text)),
  'urlquery.encode_object': (context, object) => {
    const pairs = Array.from(objectOf(object), ([key, value]) => [stringOf(key), valuesOf(value)] as const);
    context.charge(pairs.length * 8);
    return pairs
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([key, values]) => values.map((value) => `${encodeQuery(key)}=${encodeQuery(value)}`))
      .join('&');
  },
  'urlquery.decode_object': (context, text) => {
    const found = new Map<Value, Value[]>();
    for (const pair of stringOf(text).split('&')) {
      context.charge(4);
      if (pair.includes(';')) refuse();
      if (pair === '') continue;
      const equals = pair.indexOf('=');
      const key = decodeQuery(equals < 0 ? pair : pair.slice(0, equals));
      const values = found.get(key) ?? [];
      found.set(key, values);
      values.push(equals < 0 ? '' : decodeQuery(pair.slice(equals + 1)));
    }
    return found;
  },
};

function valuesOf(value: Value): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || value instanceof Map || 'text' in value) return refuse();
  return Array.from('items' in value ? value.items : value, stringOf);
}

/** Go's url.QueryEscape: everything but letters, digits and "-_.~" is escaped, and a space is "+". */
function encodeQuery(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}

function decodeQuery(text: string): string {
  return decodePercent(text.replaceAll('+', ' '));
}

/** Replaces %XX; refuses a "%" that two hexadecimal digits do not follow. */
export function decodePercent(text: string): string {
  if (!text.includes('%')) return text;
  if (/%(?![0-9a-fA-F]{2})/.test(text)) refuse();
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString());
}
