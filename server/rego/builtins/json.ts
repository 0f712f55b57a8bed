/** json.patch (RFC 6902 as OPA extends it to sets), json.marshal and json.marshal_with_options. */
import type { Meter } from '../budget.ts';
import { sortedKeys, sortedValues } from '../compare.ts';
import { formatValue, type RegoObject, RegoSet, type Value } from '../value.ts';
import {
  arrayOf,
  type BuiltinContext,
  type BuiltinTable,
  booleanOf,
  boundResult,
  objectOf,
  refuse,
  stringOf,
} from './arguments.ts';
import { Patch } from './json-patch.ts';

export const jsonBuiltins: BuiltinTable = {
  'json.patch': (context, target, operations) => {
    const patch = new Patch(context, target!);
    for (const operation of arrayOf(operations)) patch.apply(objectOf(operation));
    return patch.root;
  },
  'json.marshal': (context, value) => jsonText(context, value!),
  'json.marshal_with_options': (context, value, options) => marshal(context, value!, objectOf(options)),
};

function marshal(context: BuiltinContext, value: Value, options: RegoObject): string {
  const text = (name: string, absent: string) => (options.has(name) ? stringOf(options.get(name)) : absent);
  for (const name of options.keys()) if (!['prefix', 'indent', 'pretty'].includes(stringOf(name))) refuse();
  const layout = { prefix: text('prefix', ''), indent: text('indent', '\t') };
  const implied = options.has('prefix') || options.has('indent');
  const pretty = options.has('pretty') ? booleanOf(options.get('pretty')) : implied;
  return pretty ? layout.prefix + jsonText(context, value, layout) : jsonText(context, value);
}

/** A value as Go's encoding/json writes it. */
function jsonText(meter: Meter, value: Value, layout?: Layout): string {
  const writer = new JsonWriter(meter, layout);
  writer.write(value, 0);
  return writer.out.join('');
}

type Layout = { readonly prefix: string; readonly indent: string };

/** Go's encoding/json: keys sorted, sets as arrays, and <, >, & and line separators escaped. */
class JsonWriter {
  readonly out: string[] = [];
  readonly #meter: Meter;
  readonly #layout: Layout | undefined;
  #length = 0;

  constructor(meter: Meter, layout: Layout | undefined) {
    this.#meter = meter;
    this.#layout = layout;
  }

  write(value: Value, depth: number): void {
    const items = value instanceof RegoSet ? sortedValues(this.#meter, value.items) : value;
    if (Array.isArray(items)) {
      const unlabelled = items.map((item): [string, Value] => ['', item]);
      this.#list('[', unlabelled, ']', depth);
    } else if (value instanceof Map) this.#list('{', this.#members(value), '}', depth);
    else this.#emit(typeof value === 'string' ? quoteJson(value) : formatValue(value));
  }

  #members(object: RegoObject): [string, Value][] {
    const colon = this.#layout === undefined ? ':' : ': ';
    return namedMembers(this.#meter, object).map(([name, value]) => [quoteJson(name) + colon, value]);
  }

  #list(open: string, items: [string, Value][], close: string, depth: number): void {
    this.#emit(open);
    items.forEach(([label, item], i) => {
      if (i > 0) this.#emit(',');
      this.#line(depth + 1);
      this.#emit(label);
      this.write(item, depth + 1);
    });
    if (items.length > 0) this.#line(depth);
    this.#emit(close);
  }

  #line(depth: number): void {
    if (this.#layout === undefined) return;
    const { prefix, indent } = this.#layout;
    boundResult(this.#length + prefix.length + indent.length * depth);
    this.#emit(`\n${prefix}${indent.repeat(depth)}`);
  }

  #emit(text: string): void {
    this.#length += text.length;
    boundResult(this.#length);
    this.#meter.charge(1 + text.length / 8);
    this.out.push(text);
  }
}

/** An object key as JSON has it: a string, or the text of another value. */
export function keyText(meter: Meter, key: Value): string {
  return typeof key === 'string' ? key : jsonText(meter, key);
}

/** The members of an object by their names in JSON, in order; of two keys with one name the greater one stays. */
export function namedMembers(meter: Meter, object: RegoObject): [string, Value][] {
  const keys = sortedKeys(meter, object);
  if (keys.every((key) => typeof key === 'string')) return keys.map((key) => [key, object.get(key) as Value]);
  const named = new Map<Value, Value>();
  for (const key of keys) named.set(keyText(meter, key), object.get(key) as Value);
  return sortedKeys(meter, named).map((name) => [name as string, named.get(name) as Value]);
}

function quoteJson(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
