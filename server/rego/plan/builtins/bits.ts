/** bits.*, for integers from 0 to 2^53; OPA's own way with negative ones is left to it. */
import { PlanBailout } from '../machine.ts';
import { isNumber, type PlanValue } from '../values.ts';
import type { PlanBuiltin, PlanBuiltins } from './table.ts';

export const bitBuiltins: PlanBuiltins = {
  'bits.and': binary((a, b) => a & b),
  'bits.or': binary((a, b) => a | b),
  'bits.xor': binary((a, b) => a ^ b),
  'bits.lsh': binary((a, b) => a << small(b)),
  'bits.rsh': binary((a, b) => a >> small(b)),
  'bits.negate': (_machine, value) => {
    const integer = integerOf(value);
    return integer === undefined ? undefined : exact(-integer - 1n);
  },
};

function binary(compute: (a: bigint, b: bigint) => bigint): PlanBuiltin {
  return (machine, first, second) => {
    machine.charge(5);
    const [a, b] = [integerOf(first), integerOf(second)];
    return a === undefined || b === undefined ? undefined : exact(compute(a, b));
  };
}

function integerOf(value: PlanValue | undefined): bigint | undefined {
  if (!isNumber(value)) return undefined;
  if (typeof value === 'number' && !Number.isInteger(value)) return undefined;
  if (!Number.isSafeInteger(value) || value < 0) throw new PlanBailout('bits of a negative or large number');
  return BigInt(value);
}

function small(shift: bigint): bigint {
  if (shift > 64n) throw new PlanBailout('a large shift');
  return shift;
}

function exact(result: bigint): number {
  const number = Number(result);
  if (!Number.isSafeInteger(number)) throw new PlanBailout('bits past 2^53');
  return number;
}
