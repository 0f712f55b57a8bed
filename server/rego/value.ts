/**
 * Rego values as host builtins see them, and their text form, which is what OPA's Wasm ABI exchanges
 * (opa_value_dump, opa_value_parse): JSON with set literals, keys of any type and numbers of any precision.
 */

/** A set; `items` are distinct (as the policy's own heap keeps them) and in no particular order. */
export class RegoSet {
  readonly items: readonly Value[];

  constructor(items: readonly Value[]) {
    this.items = items;
  }
}

/** A number that neither a JavaScript number nor a bigint writes back as it came: 1.0, 1e400, 0.10000000000000000001. */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type RegoObject = Map<Value, Value>;
export type Value = null | boolean | number | bigint | NumberText | string | Value[] | RegoSet | RegoObject;

/**
 * Reads the text form. Integers beyond 2^53 become bigint.
 * @throws SyntaxError when the text is not a value; RangeError when it is nested too deeply for the stack
 */
export function parseValue(text: string): Value {
  return new ValueReader(text).read();
}

/** JSON's numbers, and those that Rego's literals allow beside: .5 and 5. */
const NUMBER = /-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/y;

class ValueReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): Value {
    const char = this.#text[this.#at];
    switch (char) {
      case '"':
        return this.#string();
      case '[':
        return this.#list(']');
      case '{':
        return this.#braces();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      case 's':
        return this.#word('set()', new RegoSet([]));
      default:
        return this.#number();
    }
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#unexpected();
    this.#at += word.length;
    return value;
  }

  #string(): string {
    const from = this.#at;
    let at = from + 1;
    let escaped = false;
    for (;;) {
      const code = this.#text.charCodeAt(at);
      if (code === 0x22) break;
      if (Number.isNaN(code)) throw this.#unexpected();
      if (code === 0x5c) {
        escaped = true;
        at++;
      }
      at++;
    }
    this.#at = at + 1;
    return escaped ? (JSON.parse(this.#text.slice(from, at + 1)) as string) : this.#text.slice(from + 1, at);
  }

  #number(): number | bigint | NumberText {
    NUMBER.lastIndex = this.#at;
    const found = NUMBER.exec(this.#text)?.[0];
    if (found === undefined) throw this.#unexpected();
    this.#at += found.length;
    return parseNumber(found);
  }

  #skipSpace(): void {
    while (this.#text.charCodeAt(this.#at) <= 0x20) this.#at++;
  }

  /** True, and steps over it, when the next character is `char`. */
  #take(char: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  #expect(char: string): void {
    if (!this.#take(char)) throw this.#unexpected();
  }

  #list(close: string): Value[] {
    this.#at++;
    if (this.#take(close)) return [];
    const items = [this.#item()];
    while (!this.#take(close)) {
      this.#expect(',');
      items.push(this.#item());
    }
    return items;
  }

  #item(): Value {
    this.#skipSpace();
    return this.read();
  }

  #braces(): RegoSet | RegoObject {
    this.#at++;
    if (this.#take('}')) return new Map();
    const first = this.#item();
    if (this.#take(':')) return this.#object(first);
    const items = [first];
    while (!this.#take('}')) {
      this.#expect(',');
      items.push(this.#item());
    }
    return new RegoSet(items);
  }

  #object(first: Value): RegoObject {
    const object: RegoObject = new Map([[first, this.#item()]]);
    while (!this.#take('}')) {
      this.#expect(',');
      const key = this.#item();
      this.#expect(':');
      object.set(key, this.#item());
    }
    return object;
  }

  #unexpected(): SyntaxError {
    return new SyntaxError(`not a value at character ${this.#at}`);
  }
}

/** Longer integers stay text: BigInt's arithmetic is not linear. */
const DIGITS_MAX = 1000;

/** The exact representation of a JSON number token. */
export function parseNumber(text: string): number | bigint | NumberText {
  const number = Number(text);
  if (Number.isSafeInteger(number) && text.length < 17 && String(number) === text) return number;
  if (text.length <= DIGITS_MAX && /^-?\d+$/.test(text)) return text === '-0' ? 0 : BigInt(text);
  return String(number) === text ? number : new NumberText(jsonNumber(text));
}

function jsonNumber(text: string): string {
  return text.replace(/^(-?)\./, '$10.').replace(/\.(?!\d)/, '.0');
}

/** Writes the text form. Linear. `spend` is told of each piece's characters before it is kept, and may throw. */
export function formatValue(value: Value, spend?: (chars: number) => void): string {
  const out: string[] = [];
  writeValue(value, (text) => {
    spend?.(text.length);
    out.push(text);
  });
  return out.join('');
}

function writeValue(value: Value, emit: (text: string) => void): void {
  if (value instanceof RegoSet) {
    if (value.items.length === 0) emit('set()');
    else writeItems('{', value.items, '}', emit);
  } else if (Array.isArray(value)) writeItems('[', value, ']', emit);
  else if (value instanceof Map) {
    let before = '{';
    for (const [key, item] of value) {
      emit(before);
      writeValue(key, emit);
      emit(':');
      writeValue(item, emit);
      before = ',';
    }
    emit(value.size === 0 ? '{}' : '}');
  } else emit(scalarText(value));
}

function writeItems(open: string, items: readonly Value[], close: string, emit: (text: string) => void): void {
  emit(open);
  items.forEach((item, i) => {
    if (i > 0) emit(',');
    writeValue(item, emit);
  });
  emit(close);
}

function scalarText(value: null | boolean | number | bigint | NumberText | string): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value.isWellFormed() ? value : value.toWellFormed());
    case 'number':
      if (!Number.isFinite(value)) throw new RangeError('not a finite number');
      return Object.is(value, -0) ? '0' : String(value);
    case 'boolean':
    case 'bigint':
      return String(value);
  }
  return value === null ? 'null' : value.text;
}
