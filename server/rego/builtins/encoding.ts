/** hex.*, base64url.encode_no_pad and urlquery.*. Text is UTF-8; bytes that are not read as U+FFFD. */
import { sortedKeys } from '../compare.ts';
import type { Value } from '../value.ts';
import { type BuiltinContext, type BuiltinTable, boundResult, objectOf, refuse, stringOf } from './arguments.ts';

export const encodingBuiltins: BuiltinTable = {
  'hex.encode': (_context, text) => Buffer.from(stringOf(text)).toString('hex'),
  'hex.decode': (_context, text) => {
    const hex = stringOf(text);
    if (hex.length % 2 === 1 || /[^0-9a-fA-F]/.test(hex)) refuse();
    return Buffer.from(hex, 'hex').toString();
  },
  'base64url.encode_no_pad': (_context, text) => Buffer.from(stringOf(text)).toString('base64url'),
  'urlquery.encode': (context, text) => encodeQuery(context, stringOf(text)),
  'urlquery.decode': (context, text) => decodeQuery(context, stringOf(text)),
  'urlquery.encode_object': (context, object) => {
    const pairs: string[] = [];
    let length = 0;
    for (const key of sortedKeys(context, objectOf(object))) {
      const name = encodeQuery(context, stringOf(key));
      for (const value of valuesOf(objectOf(object).get(key)!)) {
        const pair = `${name}=${encodeQuery(context, value)}`;
        length += pair.length + 1;
        boundResult(length);
        context.charge(1 + pair.length / 32);
        pairs.push(pair);
      }
    }
    return pairs.join('&');
  },
  'urlquery.decode_object': (context, text) => {
    const found = new Map<Value, Value[]>();
    for (const pair of stringOf(text).split('&')) {
      context.charge(4);
      if (pair.includes(';')) refuse();
      if (pair === '') continue;
      const equals = pair.indexOf('=');
      const key = decodeQuery(context, equals < 0 ? pair : pair.slice(0, equals));
      const values = found.get(key) ?? [];
      found.set(key, values);
      values.push(equals < 0 ? '' : decodeQuery(context, pair.slice(equals + 1)));
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
function encodeQuery(context: BuiltinContext, text: string): string {
  context.charge(text.length / 2);
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}

function decodeQuery(context: BuiltinContext, text: string): string {
  return decodePercent(context, text.replaceAll('+', ' '));
}

/** Replaces %XX; refuses a "%" that two hexadecimal digits do not follow. */
export function decodePercent(context: BuiltinContext, text: string): string {
  if (!text.includes('%')) return text;
  context.charge(text.length * 2); // a run of escapes takes 0.3-0.5 us, and is 4 characters at least
  if (/%(?![0-9a-fA-F]{2})/.test(text)) refuse();
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString());
}
