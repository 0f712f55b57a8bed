/**
 * Arithmetic. OPA computes in decimal, without rounding but in a division: 0.1 + 0.2 is 0.3. Integers within 2^53
 * take the short way; the rest is computed as digits and a power of ten, and given up (PlanBailout) where the result's text
 * is not one that a value here can stand for, e.g. 3.0 or thirty digits.
 */
import { type Machine, PlanBailout } from './machine.ts';

/** coefficient × 10^exponent */
type Decimal = { coefficient: bigint; exponent: number };

const INT64_MAX = 2n ** 63n - 1n;
/** Of the division's context. */
const DIVISION_DIGITS = 17;

/** One operation: 2 to 5 us by digits, next to nothing within 2^53. */
export function chargeArithmetic(machine: Machine, a: number | bigint, b: number | bigint): void {
  machine.charge(Number.isSafeInteger(a) && Number.isSafeInteger(b) ? 1 : 40);
}

export function plus(a: number | bigint, b: number | bigint): number | bigint {
  const sum = typeof a === 'number' && typeof b === 'number' ? a + b : Number.NaN;
  if (areSafe(a, b, sum)) return sum;
  const [x, y] = aligned(decimal(a), decimal(b));
  return fromDecimal({ coefficient: x.coefficient + y.coefficient, exponent: x.exponent });
}

export function minus(a: number | bigint, b: number | bigint): number | bigint {
  const difference = typeof a === 'number' && typeof b === 'number' ? a - b : Number.NaN;
  if (areSafe(a, b, difference)) return difference;
  const [x, y] = aligned(decimal(a), decimal(b));
  return fromDecimal({ coefficient: x.coefficient - y.coefficient, exponent: x.exponent });
}

export function times(a: number | bigint, b: number | bigint): number | bigint {
  const product = typeof a === 'number' && typeof b === 'number' ? a * b : Number.NaN;
  if (areSafe(a, b, product)) return product === 0 ? 0 : product;
  const [x, y] = [decimal(a), decimal(b)];
  return fromDecimal({ coefficient: x.coefficient * y.coefficient, exponent: x.exponent + y.exponent });
}

/** Undefined for a division by zero. */
export function dividedBy(a: number | bigint, b: number | bigint): number | undefined {
  if (!Number.isSafeInteger(a) || !Number.isSafeInteger(b)) throw new PlanBailout('a division of other than integers');
  const [x, y] = [a as number, b as number];
  if (y === 0) return undefined;
  if (x % y === 0) return x / y === 0 ? 0 : x / y;
  let [rest, exponent] = [BigInt(x), 0];
  const divisor = BigInt(y);
  while (rest % divisor !== 0n) {
    if (--exponent < -DIVISION_DIGITS) throw new PlanBailout('a quotient of too many digits');
    rest *= 10n;
  }
  const quotient = rest / divisor;
  if (String(quotient).length > DIVISION_DIGITS) throw new PlanBailout('a quotient of too many digits');
  return fromDecimal({ coefficient: quotient, exponent }) as number;
}

/** Undefined for other than integers, and for a zero divisor. */
export function remainder(a: number | bigint, b: number | bigint): number | bigint | undefined {
  if (!isInteger(a) || !isInteger(b)) return undefined;
  if (!Number.isSafeInteger(a) || !Number.isSafeInteger(b)) throw new PlanBailout('a remainder past 2^53');
  if (b === 0) return undefined;
  return ((a as number) % (b as number)) + 0; // -0 + 0 is 0
}

export function isInteger(value: number | bigint): boolean {
  return typeof value === 'bigint' || Number.isInteger(value);
}

/** An integer within 2^53, undefined for a fraction. Throws PlanBailout for a larger one. */
export function integerOf(value: number | bigint): number | undefined {
  if (Number.isSafeInteger(value)) return value as number;
  if (isInteger(value)) throw new PlanBailout('an integer past 2^53');
  return undefined;
}

/** The value that a number's text stands for; undefined when none does so exactly. */
export function numberOf(text: string): number | bigint | undefined {
  const number = Number(text);
  if (String(number) === text && Number.isFinite(number)) return number;
  if (text.length > 20 || !/^-?[1-9]\d*$/.test(text)) return undefined;
  const integer = BigInt(text);
  return integer < INT64_MAX && integer > -INT64_MAX ? integer : undefined;
}

function areSafe(a: number | bigint, b: number | bigint, result: number): boolean {
  return Number.isSafeInteger(result) && Number.isSafeInteger(a) && Number.isSafeInteger(b);
}

function decimal(value: number | bigint): Decimal {
  if (typeof value === 'bigint') return { coefficient: value, exponent: 0 };
  const [digits, power = '0'] = String(value).split('e') as [string, string?];
  const [whole, fraction = ''] = digits.split('.') as [string, string?];
  return { coefficient: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

function aligned(a: Decimal, b: Decimal): [Decimal, Decimal] {
  const exponent = Math.min(a.exponent, b.exponent);
  if (Math.abs(a.exponent - b.exponent) > 400) throw new PlanBailout('numbers far apart');
  const shift = (x: Decimal) => ({ coefficient: x.coefficient * 10n ** BigInt(x.exponent - exponent), exponent });
  return [shift(a), shift(b)];
}

function fromDecimal(value: Decimal): number | bigint {
  const found = value.coefficient === 0n && value.exponent === 0 ? 0 : numberOf(scientific(value));
  if (found === undefined) throw new PlanBailout('a number without a double or 64 bits for it');
  return found;
}

/** The text of the General Decimal Arithmetic specification's to-scientific-string, with JavaScript's letter. */
function scientific({ coefficient, exponent }: Decimal): string {
  const sign = coefficient < 0n ? '-' : '';
  const digits = String(coefficient < 0n ? -coefficient : coefficient);
  const adjusted = exponent + digits.length - 1;
  if (exponent === 0) return sign + digits;
  if (exponent < 0 && adjusted >= -6) {
    const padded = digits.padStart(1 - exponent, '0');
    return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
  }
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
  return `${sign}${digits[0]}${fraction}e${adjusted < 0 ? '-' : '+'}${Math.abs(adjusted)}`;
}
