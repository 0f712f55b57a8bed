/** yaml.marshal, yaml.unmarshal and yaml.is_valid: YAML as the JSON that it stands for. */
import { type Document, parseAllDocuments, stringify } from 'yaml';
import { numberOf, sortedKeys, sortedValues } from '../compare.ts';
import { NumberText, parseNumber, RegoSet, type Value } from '../value.ts';
import { attempt, type BuiltinContext, type BuiltinTable, boundResult, refuse, stringOf } from './arguments.ts';
import { keyText } from './json.ts';

/** Reading and writing takes 0.3-1 us a character. */
const CHAR_FUEL = 40;
/** The reader recurses; this many opening brackets or indentations leave the stack alone. */
const DEPTH_MAX = 200;

export const yamlBuiltins: BuiltinTable = {
  'yaml.marshal': (context, value) => {
    const text = stringify(toPlain(value!, context), { lineWidth: 0, singleQuote: true, aliasDuplicateObjects: false });
    boundResult(text.length);
    return text;
  },
  'yaml.unmarshal': (context, text) => parseYaml(context, stringOf(text)),
  'yaml.is_valid': (context, text) => typeof text === 'string' && attempt(() => parseYaml(context, text)) !== undefined,
};

/**
 * The first document of a stream that is well-formed throughout. Of equal keys the last counts; the library's check for
 * them compares each key with all others, which is quadratic.
 */
function parseYaml(context: BuiltinContext, text: string): Value {
  context.charge(text.length * CHAR_FUEL);
  // each alias that is merged copies a map's keys: up to 20 us in a text of 10 kB
  if (text.includes('<<')) context.charge((text.split('*').length - 1) * (text.length / 16));
  if (deepest(text) > DEPTH_MAX) refuse();
  const documents = parseAllDocuments(text, {
    uniqueKeys: false,
    merge: true,
    intAsBigInt: true,
    logLevel: 'silent',
    prettyErrors: false,
  });
  if (documents.some(({ errors }) => errors.length > 0)) refuse();
  return documents[0] === undefined ? null : fromPlain(expand(documents[0]), context);
}

/** With aliases in place. Refuses a document that they make many times larger. */
function expand(document: Document.Parsed): unknown {
  try {
    return document.toJS({ mapAsMap: true, maxAliasCount: 100 });
  } catch (error) {
    if (error instanceof ReferenceError) refuse();
    throw error;
  }
}

/** An upper bound on nesting: flow brackets, leading block markers and indentation. */
function deepest(text: string): number {
  let open = 0;
  let most = 0;
  for (const line of text.split('\n')) {
    let lead = /^[\s\-?:]*/.exec(line)![0].length;
    for (const char of line) {
      if (char === '[' || char === '{') open++;
      else if (char === ']' || char === '}') open = Math.max(0, open - 1);
      most = Math.max(most, open);
    }
    lead = Math.min(lead, DEPTH_MAX * 8);
    most = Math.max(most, lead / 2);
  }
  return most;
}

function toPlain(value: Value, context: BuiltinContext): unknown {
  context.charge(typeof value === 'string' ? 20 + value.length * 4 : 60);
  if (value instanceof NumberText) return numberOf(context, value);
  if (value instanceof RegoSet) return sortedValues(context, value.items).map((item) => toPlain(item, context));
  if (Array.isArray(value)) return value.map((item) => toPlain(item, context));
  if (value instanceof Map)
    return new Map(
      sortedKeys(context, value).map((key) => [
        toPlain(keyText(context, key), context),
        toPlain(value.get(key)!, context),
      ]),
    );
  return value;
}

function fromPlain(value: unknown, context: BuiltinContext): Value {
  context.charge(4);
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return parseNumber(String(value));
  if (typeof value === 'number') return Number.isFinite(value) ? value : refuse();
  if (Array.isArray(value)) return value.map((item) => fromPlain(item, context));
  if (value instanceof Map)
    return new Map(Array.from(value, ([key, item]) => [memberName(key), fromPlain(item, context)]));
  return refuse();
}

/** JSON has only string keys: scalars become their text. */
function memberName(key: unknown): string {
  return typeof key === 'object' && key !== null ? refuse() : String(key);
}
