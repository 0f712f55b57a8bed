/** Owns json.patch (RFC 6902 as OPA extends it to sets) and json.marshal_with_options. */
import type { Meter } from '../budget.ts';
import { identity, sortedKeys, sortedValues } from '../compare.ts';
import { formatValue, NumberText, type RegoObject, RegoSet, type Value } from '../value.ts';
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
  'json.marshal_with_options': (context, value, options) => marshal(context, value!, objectOf(options)),
};

function marshal(context: BuiltinContext, value: Value, options: RegoObject): string {
  const text = (name: string, absent: string) => (options.has(name) ? stringOf(options.get(name)) : absent);
  for (const name of options.keys()) if (!['prefix', 'indent', 'pretty'].includes(stringOf(name))) refuse();
  const layout = { prefix: text('prefix', ''), indent: text('indent', '\t') };
  const implied = options.has('prefix') || options.has('indent');
  const pretty = options.has('pretty') ? booleanOf(options.get('pretty')) : implied;
  const writer = new JsonWriter(context, pretty ? layout : undefined);
  writer.write(value, 0);
  return (pretty ? layout.prefix : '') + writer.out.join('');
}

/** Go's encoding/json: keys sorted, sets as arrays, and <, >, & and line separators escaped. */
class JsonWriter {
  readonly out: string[] = [];
  readonly #context: BuiltinContext;
  readonly #layout: { prefix: string; indent: string } | undefined;
  #length = 0;

  constructor(context: BuiltinContext, layout: { prefix: string; indent: string } | undefined) {
    this.#context = context;
    this.#layout = layout;
  }

  write(value: Value, depth: number): void {
    if (value instanceof RegoSet)
      this.#list(
        '[',
        sortedValues(this.#context, value.items).map((item) => ['', item]),
        ']',
        depth,
      );
    else if (Array.isArray(value))
      this.#list(
        '[',
        value.map((item) => ['', item]),
        ']',
        depth,
      );
    else if (value instanceof Map) this.#list('{', this.#members(value), '}', depth);
    else this.#emit(typeof value === 'string' ? quoteJson(value) : formatValue(value));
  }

  #members(object: RegoObject): [string, Value][] {
    const colon = this.#layout === undefined ? ':' : ': ';
    return sortedKeys(this.#context, object).map((key) => [
      quoteJson(keyText(this.#context, key)) + colon,
      object.get(key)!,
    ]);
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
    this.#context.charge(1 + text.length / 8);
    this.out.push(text);
  }
}

/** An object key as JSON has it: a string, or the text of another value. */
export function keyText(meter: Meter, key: Value): string {
  if (typeof key === 'string') return key;
  if (key instanceof NumberText || typeof key !== 'object') return formatValue(key);
  return identity(meter, key);
}

function quoteJson(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
