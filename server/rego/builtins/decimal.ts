/** Exact decimal digits of doubles, rounded half to even as Go's strconv does (JavaScript rounds ties up). */

/** 0.DIGITS × 10^point; digits have no leading zero, and zero has none at all. */
export type Decimal = { digits: string; point: number };

const view = new DataView(new ArrayBuffer(8));

/** mantissa × 2^exponent of a finite double, without its sign. */
export function binaryParts(value: number): { mantissa: bigint; exponent: number } {
  view.setFloat64(0, Math.abs(value));
  const bits = view.getBigUint64(0);
  const biased = Number(bits >> 52n);
  const mantissa = (bits & 0xfffffffffffffn) | (biased === 0 ? 0n : 1n << 52n);
  return { mantissa, exponent: (biased === 0 ? 1 : biased) - 1075 };
}

/** All digits of a finite double; at most 767 of them. */
export function exactDecimal(value: number): Decimal {
  const { mantissa, exponent } = binaryParts(value);
  if (mantissa === 0n) return { digits: '', point: 0 };
  if (exponent >= 0) return trimmed((mantissa << BigInt(exponent)).toString(), 0);
  return trimmed((mantissa * 5n ** BigInt(-exponent)).toString(), exponent);
}

/** The fewest digits that read back as the same double. */
export function shortestDecimal(value: number): Decimal {
  if (value === 0) return { digits: '', point: 0 };
  const [digits, exponent] = Math.abs(value).toExponential().split('e') as [string, string];
  return { digits: digits.replace('.', ''), point: Number(exponent) + 1 };
}

function trimmed(integer: string, exponent: number): Decimal {
  return { digits: integer.replace(/0+$/, ''), point: integer.length + exponent };
}

/** Keeps `count` digits (may be 0 or negative). */
export function roundDecimal({ digits, point }: Decimal, count: number): Decimal {
  if (count >= digits.length) return { digits, point };
  if (count < 0) return { digits: '', point: 0 };
  const kept = digits.slice(0, count);
  if (!roundsUp(digits, count)) return { digits: kept.replace(/0+$/, ''), point };
  const raised = (BigInt(kept === '' ? 0 : kept) + 1n).toString();
  return { digits: raised.replace(/0+$/, ''), point: point + raised.length - count };
}

function roundsUp(digits: string, at: number): boolean {
  const next = digits.charCodeAt(at) - 48;
  if (next !== 5 || at + 1 < digits.length) return next >= 5;
  return at > 0 && (digits.charCodeAt(at - 1) - 48) % 2 === 1;
}
