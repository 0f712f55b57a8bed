/** sprintf: Go's fmt.Sprintf over the arguments that OPA passes (integers, floats, and text for all else). */
import { isNumber } from '../compare.ts';
import { NumberText, type Value } from '../value.ts';
import { arrayOf, type BuiltinContext, type BuiltinTable, boundResult, stringOf } from './arguments.ts';
import { displayValue, quoteGo } from './display.ts';
import { formatFloat, formatInteger, pad, type Spec } from './format-number.ts';

export const sprintfBuiltins: BuiltinTable = {
  sprintf: (context, format, args) => {
    return new Formatter(context, stringOf(format), arrayOf(args)).run();
  },
};

/** One directive takes 0.3-2 us, the most for exact digits of floats. */
const DIRECTIVE_FUEL = 100;

/** Widths and precisions are bounded as the result is: a wider one could not be returned. */
const FLAGS: Record<string, 'plus' | 'minus' | 'sharp' | 'space' | 'zero'> = {
  '+': 'plus',
  '-': 'minus',
  '#': 'sharp',
  ' ': 'space',
  '0': 'zero',
};

/** %v and nothing else. */
const bare: Spec = {
  verb: 'v',
  quoted: false,
  plus: false,
  minus: false,
  sharp: false,
  space: false,
  zero: false,
  width: undefined,
  precision: undefined,
};

/** %v ignores the plus flag, and # makes it quote text, whatever else it does to Go's own types. */
function plainSpec(spec: Spec): Spec {
  return { ...spec, verb: 'v', plus: false, sharp: false, quoted: spec.sharp };
}

class Formatter {
  readonly #context: BuiltinContext;
  readonly #format: string;
  readonly #args: Value[];
  readonly #out: string[] = [];
  #length = 0;
  #at = 0;
  #next = 0;
  #reordered = false;
  #goodIndex = true;

  constructor(context: BuiltinContext, format: string, args: Value[]) {
    this.#context = context;
    this.#format = format;
    this.#args = args;
  }

  run(): string {
    const format = this.#format;
    while (this.#at < format.length) {
      const percent = format.indexOf('%', this.#at);
      this.#emit(format.slice(this.#at, percent < 0 ? format.length : percent));
      if (percent < 0) break;
      this.#at = percent + 1;
      this.#directive();
    }
    if (!this.#reordered && this.#next < this.#args.length) {
      this.#context.charge((this.#args.length - this.#next) * DIRECTIVE_FUEL);
      const extra: string[] = [];
      for (; this.#next < this.#args.length; this.#next++) {
        const arg = this.#argumentAt(this.#next);
        extra.push(`${typeName(arg)}=${formatArgument(arg, bare)}`);
      }
      this.#emit(`%!(EXTRA ${extra.join(', ')})`);
    }
    return this.#out.join('');
  }

  #emit(text: string): void {
    this.#length += text.length;
    boundResult(this.#length);
    this.#context.charge(text.length / 2);
    this.#out.push(text);
  }

  #directive(): void {
    const spec: Spec = { ...bare };
    this.#goodIndex = true;
    for (let flag = FLAGS[this.#char()]; flag !== undefined; flag = FLAGS[this.#char()]) {
      spec[flag] = true;
      this.#at++;
    }
    const indexed = this.#width(spec, this.#argIndex());
    this.#precision(spec, indexed);
    if (this.#at >= this.#format.length) this.#emit('%!(NOVERB)');
    else {
      const verb = String.fromCodePoint(this.#format.codePointAt(this.#at)!);
      this.#at += verb.length;
      this.#emit(this.#argument(verb === 'v' ? plainSpec(spec) : { ...spec, verb }));
    }
  }

  #argument(spec: Spec): string {
    if (spec.verb === '%') return '%';
    if (!this.#goodIndex) return `%!${spec.verb}(BADINDEX)`;
    if (this.#next >= this.#args.length) return `%!${spec.verb}(MISSING)`;
    this.#context.charge(DIRECTIVE_FUEL);
    return formatArgument(this.#argumentAt(this.#next++), spec);
  }

  /** Composites are text to sprintf; made once, because a format can name one argument many times. */
  #argumentAt(index: number): Value {
    const arg = this.#args[index]!;
    if (arg instanceof NumberText) this.#context.charge(arg.text.length / 8); // each directive reads it some times
    if (typeof arg === 'string' || asNumber(arg) !== undefined) return arg;
    const text = displayValue(this.#context, arg);
    this.#context.charge(text.length / 2);
    this.#args[index] = text;
    return text;
  }

  #char(): string {
    return this.#format[this.#at] ?? '';
  }

  /** Reads `*` or digits; returns whether an argument index is pending for the precision or verb. */
  #width(spec: Spec, indexed: boolean): boolean {
    if (this.#char() === '*') {
      this.#at++;
      const width = this.#starArgument();
      if (width === undefined) this.#emit('%!(BADWIDTH)');
      else {
        spec.width = Math.abs(width);
        if (width < 0) {
          spec.minus = true;
          spec.zero = false;
        }
      }
      return false;
    }
    spec.width = this.#digits();
    if (indexed && spec.width !== undefined) this.#goodIndex = false; // "%[3]2d"
    return indexed;
  }

  #precision(spec: Spec, indexed: boolean): void {
    let pending = indexed;
    if (this.#char() === '.') {
      this.#at++;
      if (pending) this.#goodIndex = false; // "%[3].2d"
      pending = this.#argIndex();
      if (this.#char() === '*') {
        this.#at++;
        const precision = this.#starArgument();
        if (precision === undefined || precision < 0) this.#emit('%!(BADPREC)');
        else spec.precision = precision;
        pending = false;
      } else spec.precision = this.#digits() ?? 0;
    }
    if (!pending) this.#argIndex();
  }

  #digits(): number | undefined {
    const from = this.#at;
    while (this.#char() >= '0' && this.#char() <= '9') this.#at++;
    if (this.#at === from) return undefined;
    const value = Number(this.#format.slice(from, this.#at));
    boundResult(value);
    return value;
  }

  #starArgument(): number | undefined {
    const arg = this.#args[this.#next];
    if (arg === undefined) return undefined;
    this.#next++;
    if (typeof arg !== 'number' || !Number.isInteger(arg) || Math.abs(arg) > 1e6) return undefined;
    boundResult(Math.abs(arg));
    return arg;
  }

  /** Reads `[n]`, which picks the next argument; returns whether one was there. */
  #argIndex(): boolean {
    if (this.#char() !== '[') return false;
    this.#reordered = true;
    const close = this.#format.indexOf(']', this.#at);
    this.#context.charge(((close < 0 ? this.#format.length : close) - this.#at) / 512);
    const text = close < 0 ? '' : this.#format.slice(this.#at + 1, close);
    this.#at = close < 0 ? this.#at + 1 : close + 1;
    const index = /^\d{1,6}$/.test(text) ? Number(text) : 0;
    if (index >= 1 && index <= this.#args.length) this.#next = index - 1;
    else this.#goodIndex = false;
    return this.#goodIndex;
  }
}

/** Numbers that no double holds are text to OPA's sprintf. */
function asNumber(arg: Value): number | bigint | undefined {
  if (arg instanceof NumberText) {
    const number = Number(arg.text);
    return Number.isFinite(number) ? number : undefined;
  }
  return isNumber(arg) ? arg : undefined;
}

function isFloat(arg: Value): boolean {
  return arg instanceof NumberText || !Number.isSafeInteger(arg);
}

function typeName(arg: Value): string {
  const number = asNumber(arg);
  if (number === undefined) return 'string';
  if (typeof number === 'number') return isFloat(arg) ? 'float64' : 'int64';
  return BigInt.asIntN(64, number) === number ? 'int64' : '*big.Int';
}

/** `arg` is a string or a number. */
function formatArgument(arg: Value, spec: Spec): string {
  if (spec.verb === 'T') return formatString(typeName(arg), { ...spec, verb: 's' })!;
  const number = asNumber(arg);
  if (number === undefined) {
    const text = arg as string;
    return formatString(text, spec) ?? `%!${spec.verb}(string=${formatString(text, { ...spec, verb: 's' })})`;
  }
  if (typeof number === 'number' && isFloat(arg)) {
    return formatFloat(number, spec) ?? `%!${spec.verb}(float64=${formatFloat(number, { ...spec, verb: 'g' })})`;
  }
  const integer = BigInt(number);
  const beyond64 = typeName(arg) === '*big.Int';
  if (!(beyond64 ? 'cqU' : 's').includes(spec.verb)) {
    const text = formatInteger(integer, spec);
    if (text !== undefined) return text;
  }
  if (beyond64) return `%!${spec.verb}(big.Int=${integer})`;
  return `%!${spec.verb}(int64=${formatInteger(integer, { ...spec, verb: 'd' })})`;
}

function formatString(text: string, spec: Spec): string | undefined {
  switch (spec.verb) {
    case 'v':
    case 's':
      if (spec.quoted) return pad(quoteGo(truncated(text, spec.precision)), spec);
      return pad(truncated(text, spec.precision), spec);
    case 'q': {
      const cut = truncated(text, spec.precision);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what Go's strconv.CanBackquote refuses
      const backquoted = spec.sharp && !/[\x00-\x08\x0a-\x1f\x7f`\ufeff]/.test(cut);
      return pad(backquoted ? `\`${cut}\`` : quoteGo(cut, spec.plus), spec);
    }
    case 'x':
    case 'X':
      return pad(hexBytes(text, spec), spec);
    default:
      return undefined;
  }
}

function truncated(text: string, precision: number | undefined): string {
  if (precision === undefined || text.length <= precision) return text;
  return Array.from(text.slice(0, precision * 2))
    .slice(0, precision)
    .join('');
}

function hexBytes(text: string, spec: Spec): string {
  const bytes = Buffer.from(text.slice(0, spec.precision)).subarray(0, spec.precision);
  const prefix = spec.sharp ? '0x' : '';
  if (bytes.length === 0) return '';
  const hex = spec.space
    ? Array.from(bytes, (byte) => prefix + byte.toString(16).padStart(2, '0')).join(' ')
    : prefix + bytes.toString('hex');
  return spec.verb === 'X' ? hex.toUpperCase() : hex;
}
