/** format_int: integers of any size in base 2, 8, 10 or 16; a fraction loses what is behind its point. */
import { NumberText, type Value } from '../value.ts';
import { type BuiltinTable, bigintOf, refuse } from './arguments.ts';

const DIGIT_FUEL = 0.1;

export const formatIntBuiltins: BuiltinTable = {
  format_int: (context, value, base) => {
    if (base !== 2 && base !== 8 && base !== 10 && base !== 16) return refuse();
    const integer = truncated(value);
    const text = integer.toString(base);
    context.charge(text.length * DIGIT_FUEL);
    return text;
  },
};

function truncated(value: Value | undefined): bigint {
  const number = value instanceof NumberText ? Number(value.text) : value;
  const isSmall = typeof number === 'number' && Math.abs(number) < Number.MAX_SAFE_INTEGER;
  return isSmall ? BigInt(Math.trunc(number)) : bigintOf(value);
}
