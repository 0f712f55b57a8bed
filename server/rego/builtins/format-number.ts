/** Numbers under Go's fmt verbs. */
import { binaryParts, type Decimal, exactDecimal, roundDecimal, shortestDecimal } from './decimal.ts';
import { quoteRune } from './display.ts';

/** The flags, width and precision of one verb. */
export type Spec = {
  verb: string;
  /** %#v of text. */
  quoted: boolean;
  plus: boolean;
  minus: boolean;
  sharp: boolean;
  space: boolean;
  zero: boolean;
  width: number | undefined;
  precision: number | undefined;
};

/** `s` is for integers beyond 64 bits, which Go prints as text too. */
const BASES: Record<string, number> = { d: 10, v: 10, s: 10, b: 2, o: 8, O: 8, x: 16, X: 16 };
const SHARP_PREFIXES: Record<string, string> = { b: '0b', o: '0', O: '0', x: '0x', X: '0X' };

/** An integer under a verb, padded; undefined when the verb does not fit integers. */
export function formatInteger(value: bigint, spec: Spec): string | undefined {
  const { verb } = spec;
  if (verb === 'c') return pad(codePoint(value), spec);
  if (verb === 'q') return pad(quoteRune(asPoint(value), spec.plus), spec);
  if (verb === 'U') return pad(unicode(value, spec), { ...spec, zero: false });
  const base = BASES[verb];
  if (base === undefined) return undefined;
  const negative = value < 0n;
  let digits = (negative ? -value : value).toString(base);
  if (verb === 'X') digits = digits.toUpperCase();
  if (spec.precision !== undefined) {
    if (spec.precision === 0 && value === 0n) return pad('', { ...spec, zero: false });
    digits = digits.padStart(spec.precision, '0');
  }
  let prefix = spec.sharp ? (SHARP_PREFIXES[verb] ?? '') : '';
  if (prefix === '0' && digits.startsWith('0')) prefix = '';
  if (verb === 'O') prefix = `0o${prefix}`;
  const sign = signOf(negative, spec);
  if (spec.zero && !spec.minus && spec.precision === undefined && spec.width !== undefined)
    digits = digits.padStart(spec.width - sign.length, '0'); // Go counts the sign, not the prefix, to the zero padding
  return pad(sign + prefix + digits, { ...spec, zero: false });
}

/** A double under a verb, padded; undefined when the verb does not fit floats. */
export function formatFloat(value: number, spec: Spec): string | undefined {
  const body = floatBody(Math.abs(value), spec);
  if (body === undefined) return undefined;
  const sign = signOf(value < 0 || Object.is(value, -0), spec);
  const zeros = spec.zero && !spec.minus && spec.width !== undefined ? spec.width - sign.length : 0;
  return pad(sign + body.padStart(zeros, '0'), { ...spec, zero: false });
}

/** Text padded to the width, which counts characters. */
export function pad(text: string, spec: Spec): string {
  if (spec.width === undefined) return text;
  const missing = spec.width - codePoints(text);
  if (missing <= 0) return text;
  if (spec.minus) return text + ' '.repeat(missing);
  return (spec.zero ? '0' : ' ').repeat(missing) + text;
}

function codePoints(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0xdc00 || unit > 0xdfff) count++;
  }
  return count;
}

function signOf(negative: boolean, spec: Spec): string {
  if (negative) return '-';
  if (spec.plus) return '+';
  return spec.space ? ' ' : '';
}

function asPoint(value: bigint): number {
  return value >= 0n && value <= 0x10ffffn ? Number(value) : 0xfffd;
}

function codePoint(value: bigint): string {
  return String.fromCodePoint(asPoint(value)).toWellFormed();
}

function unicode(value: bigint, spec: Spec): string {
  const hex = BigInt.asUintN(64, value).toString(16).toUpperCase();
  const text = `U+${hex.padStart(Math.max(4, spec.precision ?? 0), '0')}`;
  return spec.sharp && value >= 0n && value <= 0x10ffffn ? `${text} '${codePoint(value)}'` : text;
}

function floatBody(value: number, { verb, precision, sharp }: Spec): string | undefined {
  switch (verb) {
    case 'f':
    case 'F':
      return fixed(roundAt(value, precision ?? 6), precision ?? 6, sharp);
    case 'e':
    case 'E': {
      const places = precision ?? 6;
      return cased(exponential(roundDecimal(exactDecimal(value), places + 1), places, sharp), verb === 'E');
    }
    case 'v':
    case 'g':
    case 'G':
      return cased(general(value, precision, sharp), verb === 'G');
    case 'x':
    case 'X':
      return cased(hexadecimal(value, precision, sharp), verb === 'X');
    case 'b': {
      const { mantissa, exponent } = binaryParts(value);
      return `${mantissa}p${exponent < 0 ? '-' : '+'}${Math.abs(exponent)}`;
    }
    default:
      return undefined;
  }
}

/** Go's %x: one digit before the point, and a power of two in at least two decimal digits. */
function hexadecimal(value: number, precision: number | undefined, sharp: boolean): string {
  let { mantissa, exponent } = binaryParts(value);
  if (mantissa === 0n) exponent = -52;
  for (; mantissa !== 0n && mantissa < 1n << 52n; exponent--) mantissa <<= 1n;
  if (precision !== undefined && precision < 13) {
    const drop = BigInt(52 - 4 * precision);
    const odd = (mantissa >> drop) & 1n;
    mantissa = ((mantissa + (1n << (drop - 1n)) - 1n + odd) >> drop) << drop;
    if (mantissa >> 53n) {
      mantissa >>= 1n;
      exponent++;
    }
  }
  const digits = mantissa.toString(16).padStart(14, '0').slice(1);
  const fraction =
    precision === undefined ? digits.replace(/0+$/, '') : digits.padEnd(precision, '0').slice(0, precision);
  const power = exponent + 52;
  const dot = fraction !== '' || sharp ? '.' : '';
  return `0x${mantissa >> 52n}${dot}${fraction}p${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

function roundAt(value: number, places: number): Decimal {
  const decimal = exactDecimal(value);
  return roundDecimal(decimal, decimal.point + places);
}

function fixed({ digits, point }: Decimal, places: number, sharp: boolean): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  const fraction = ('0'.repeat(Math.max(0, Math.min(-point, places))) + digits.slice(Math.max(0, point)))
    .slice(0, places)
    .padEnd(places, '0');
  return places > 0 ? `${whole}.${fraction}` : sharp ? `${whole}.` : whole;
}

function exponential({ digits, point }: Decimal, places: number, sharp: boolean): string {
  const exponent = digits === '' ? 0 : point - 1;
  const fraction = digits.slice(1).padEnd(places, '0');
  const dot = places > 0 || sharp ? '.' : '';
  const sign = exponent < 0 ? '-' : '+';
  return `${digits[0] ?? '0'}${dot}${fraction}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** Go's %g: an exponent below -4 or from the precision on (6 when the shortest digits are asked for) is written as such. */
function general(value: number, precision: number | undefined, sharp: boolean): string {
  const shortest = precision === undefined;
  const wanted = precision === 0 ? 1 : (precision ?? 6);
  const decimal = shortest ? shortestDecimal(value) : roundDecimal(exactDecimal(value), wanted);
  const exponent = decimal.digits === '' ? 0 : decimal.point - 1;
  const count = decimal.digits.length;
  let threshold = wanted;
  if (!shortest && threshold > count && count >= decimal.point) threshold = count;
  const places = sharp ? Math.max(wanted, count) : count;
  if (exponent < -4 || exponent >= threshold) return exponential(decimal, Math.max(0, places - 1), sharp);
  return fixed(decimal, Math.max(0, places - decimal.point), sharp);
}

function cased(text: string, upper: boolean): string {
  return upper ? text.toUpperCase() : text;
}
