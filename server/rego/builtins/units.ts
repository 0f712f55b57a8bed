/** units.parse and units.parse_bytes, in exact decimal arithmetic. */
import type { Value } from '../value.ts';
import { parseNumber } from '../value.ts';
import { type BuiltinTable, refuse, stringOf } from './arguments.ts';

export const unitBuiltins: BuiltinTable = {
  'units.parse': (_context, text) => {
    const { number, unit } = amountOf(stringOf(text).replaceAll('"', ''));
    const folded = unit.slice(0, 1) + unit.slice(1).toLowerCase(); // only the first letter's case tells m from M
    if (folded === 'm') return asNumber({ digits: number.digits, scale: number.scale - 3 });
    return asNumber(times(number, factor(folded.toLowerCase())));
  },
  'units.parse_bytes': (_context, text) => {
    const { number, unit } = amountOf(stringOf(text).toLowerCase().replaceAll('"', ''));
    const { digits, scale } = times(number, factor(unit.replace(/(?<=.)b$/, '')));
    return narrowed(scale >= 0 ? digits * 10n ** BigInt(scale) : digits / 10n ** BigInt(-scale));
  },
};

/** digits × 10^scale. */
type Exact = { digits: bigint; scale: number };

const POWERS = 'kmgtpe';

/** The bound on digits and exponents keeps the arithmetic short; OPA allows exponents to 10^6. */
const AMOUNT = /^([-+]?)(\d{0,100})(?:\.(\d{0,100}))?(?:[eE]([-+]?\d{1,3})(?!\d))?/;

function amountOf(text: string): { number: Exact; unit: string } {
  const [found, sign, whole = '', fraction = '', exponent = '0'] = AMOUNT.exec(text) ?? refuse();
  if (whole + fraction === '') refuse();
  const unit = text.slice(found.length);
  if (/^[\d.+-]/.test(unit) || /\s/.test(unit)) refuse();
  const digits = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n);
  return { number: { digits, scale: Number(exponent) - fraction.length }, unit };
}

/** "", "k", "ki", … to "ei"; lower case. */
function factor(unit: string): bigint {
  if (unit === '') return 1n;
  const power = POWERS.indexOf(unit[0]!) + 1;
  if (power === 0 || (unit.length > 1 && unit.slice(1) !== 'i')) refuse();
  return (unit.length > 1 ? 1024n : 1000n) ** BigInt(power);
}

function times(number: Exact, by: bigint): Exact {
  return { digits: number.digits * by, scale: number.scale };
}

/** As OPA writes it: an integer, or ten decimal places, rounded half away from zero. */
function asNumber({ digits, scale }: Exact): Value {
  if (scale >= 0) return narrowed(digits * 10n ** BigInt(scale));
  const one = 10n ** BigInt(-scale);
  if (digits % one === 0n) return narrowed(digits / one);
  const size = digits < 0n ? -digits : digits;
  const scaled = (size * 10n ** 10n * 2n + one) / (one * 2n);
  const text = scaled.toString().padStart(11, '0');
  return parseNumber(`${digits < 0n ? '-' : ''}${text.slice(0, -10)}.${text.slice(-10)}`);
}

function narrowed(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
